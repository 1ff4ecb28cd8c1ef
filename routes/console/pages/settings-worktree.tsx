import type { Data, Recovery } from '../../../lib/client/client.ts';
import { orTold } from '../common/load.ts';
import { type Api, page, type Told } from '../common/page.ts';
import { Do } from '../parts/form.tsx';
import { Settings } from '../parts/frames.tsx';
import { Path } from '../parts/links.tsx';
import { Recoveries } from '../parts/settings/recoveries.tsx';
import { Written } from '../parts/written.tsx';

type Status = Data<'GET /api/worktrees/{case_id}/status'>;

interface Shown {
  case_id: string;
  /** Of the Work item; undefined where that is gone. */
  title: string | undefined;
  worktree: Status | undefined;
  /** Why it is not known how the worktree is. */
  unknown: Told | undefined;
  recoveries: Recovery[];
  /** Why it is not known what is kept. */
  unread: Told | undefined;
}

const View = ({ case_id, title, worktree, unknown, recoveries, unread }: Shown) => (
  <Settings tab="Worktrees">
    <p>
      <a href="/dashboard/settings/worktrees" data-key="u">
        All worktrees
      </a>
    </p>
    <h2>
      {title === undefined ? (
        `Work item ${case_id}, which is gone`
      ) : (
        <a href={`/dashboard/cases/${case_id}`} data-key="o">
          <Written text={title} />
        </a>
      )}
    </h2>
    {worktree === undefined ? (
      <p class={unknown === undefined ? 'quiet' : 'box warn'}>
        {unknown === undefined ? 'It has no worktree now.' : <Written text={unknown.detail} />}
      </p>
    ) : (
      <Standing of={worktree} />
    )}
    {unread === undefined ? (
      <Recoveries of={recoveries} hasWorktree={worktree !== undefined} />
    ) : (
      <p class="box warn">
        What is kept of it cannot be listed. <Written text={unread.detail} />
      </p>
    )}
  </Settings>
);

const Standing = ({ of }: { of: NonNullable<Shown['worktree']> }) => {
  const { case_id, branch, path, attached, status, detail, files = [] } = of;
  return (
    <section aria-label="Worktree">
      <dl class="facts">
        <dt>Branch</dt>
        <dd>
          <code>
            <Written text={branch} />
          </code>
        </dd>
        <dt>Directory</dt>
        <dd>
          <Path name="the path of the worktree" path={path} />
        </dd>
      </dl>
      <p class="quiet">
        {attached && 'A directory of yours. '}
        {files.length === 0 ? 'Nothing in it is uncommitted.' : `${files.length} not committed.`}
      </p>
      {status !== 'ok' && (
        <p class="box warn">
          <Written text={detail ?? `The worktree is ${status}.`} />
        </p>
      )}
      <RemoveWorktree case_id={case_id} attached={attached} />
    </section>
  );
};

// Where there is none, that is no error; nor is it one that the Work item is gone.
const statusOf = async ({ call }: Api, case_id: string): Promise<Status | undefined> => {
  const all = await call('GET /api/worktrees');
  const isThere = all.some(
    (one) => one.case_id === case_id && (one.path ?? one.problem) !== undefined,
  );
  return isThere ? call('GET /api/worktrees/{case_id}/status', { case_id }) : undefined;
};

/** The worktree of one Work item, and what was kept of it. */
export const settingsWorktree = page<Shown>({
  title: ({ title }) => (title === undefined ? 'Worktree' : `Worktree: ${title}`),
  load: async (api, { params }) => {
    const { call } = api;
    const { id: case_id = '' } = params;
    const query = { ids: case_id, fields: 'title' };
    const [[item], state, kept] = await Promise.all([
      call('GET /cases', { query }),
      orTold(statusOf(api, case_id)),
      orTold(call('GET /api/worktrees/{case_id}/recoveries', { case_id })),
    ]);
    return {
      case_id,
      title: item?.title,
      ...{ worktree: state.value, unknown: state.told },
      ...{ recoveries: kept.value ?? [], unread: kept.told },
    };
  },
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});

/** Takes a worktree away where nothing is lost by it, or keeps first what would be. */
const RemoveWorktree = ({ case_id, attached }: { case_id: string; attached: boolean }) => {
  const call = `DELETE /api/cases/${case_id}/worktree`;
  return (
    <details>
      <summary data-key="x">{attached ? 'Let go…' : 'Remove…'}</summary>
      {attached ? (
        <Do call={call}>
          <p class="quiet">The directory stays as it is. The Work item has no worktree then.</p>
          <button type="submit">Let go of it</button>
        </Do>
      ) : (
        <div class="answers">
          <Do call={call}>
            <p class="quiet">
              Its branch stays. Refused while somebody is at work in it, and while it holds work
              that is nowhere else.
            </p>
            <button type="submit">Remove if nothing is lost</button>
          </Do>
          <Do call={`${call}?force=true`}>
            <p class="quiet">
              Uncommitted files and commits are kept first, and can be restored here. Ignored files,
              such as <code>.env</code> and what was built, are gone for good.
            </p>
            <button type="submit" class="danger">
              Keep its work, then remove
            </button>
          </Do>
        </div>
      )}
    </details>
  );
};
