import type { Data, Recovery } from '../../../lib/client/client.ts';
import { counted } from '../../../lib/text/wording.ts';
import { visible } from '../../../store/base/visible.ts';
import { orProblem } from '../common/load.ts';
import { type Api, definePage, followsItem, type ProblemSummary } from '../common/page.ts';
import { CodeFact, Fact, Section } from '../parts/facts.tsx';
import { ApiForm, CallButton } from '../parts/form.tsx';
import { Settings } from '../parts/frames.tsx';
import { Path } from '../parts/links.tsx';
import { RelativeTime } from '../parts/relative-time.tsx';

type Status = Data<'GET /api/worktrees/{case_id}/status'>;

interface Shown {
  case_id: string;
  /** The Work item's title; undefined if it was deleted. */
  title: string | undefined;
  worktree: Status | undefined;
  /** Why the state of the worktree is unknown. */
  unknown: ProblemSummary | undefined;
  recoveries: Recovery[];
  /** Why the recoveries cannot be listed. */
  unread: ProblemSummary | undefined;
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
        `Work item ${case_id} (deleted)`
      ) : (
        <a href={`/dashboard/cases/${case_id}`} data-key="o">
          {visible(title)}
        </a>
      )}
    </h2>
    {worktree === undefined ? (
      <p class={unknown === undefined ? 'quiet' : 'box warn'}>
        {unknown === undefined ? 'The Work item has no worktree.' : visible(unknown.detail)}
      </p>
    ) : (
      <WorktreeDetails of={worktree} />
    )}
    {unread === undefined ? (
      <Recoveries of={recoveries} hasWorktree={worktree !== undefined} />
    ) : (
      <p class="box warn">The recoveries cannot be listed. {visible(unread.detail)}</p>
    )}
  </Settings>
);

const WorktreeDetails = ({ of }: { of: NonNullable<Shown['worktree']> }) => {
  const { case_id, branch, path, attached, status, detail, files = [] } = of;
  return (
    <section aria-label="Worktree">
      <dl class="facts">
        <CodeFact name="Branch" text={branch} />
        <Fact name="Directory">
          <Path name="the path of the worktree" path={path} />
        </Fact>
      </dl>
      <p class="quiet">
        {attached && 'An attached directory. '}
        {files.length === 0
          ? 'No uncommitted files.'
          : `${counted(files.length, 'uncommitted file')}.`}
      </p>
      {status !== 'ok' && <p class="box warn">{visible(detail ?? `The worktree is ${status}.`)}</p>}
      <RemoveWorktree case_id={case_id} attached={attached} />
    </section>
  );
};

// A missing worktree or Work item is no error here.
const statusOf = async ({ call }: Api, case_id: string): Promise<Status | undefined> => {
  const all = await call('GET /api/worktrees');
  const isThere = all.some(
    (one) => one.case_id === case_id && (one.path ?? one.problem) !== undefined,
  );
  return isThere ? call('GET /api/worktrees/{case_id}/status', { case_id }) : undefined;
};

/** The worktree of a Work item, and its recoveries. */
export const page = definePage<Shown>({
  title: ({ title }) => (title === undefined ? 'Worktree' : `Worktree: ${title}`),
  load: async (api, { params }) => {
    const { call } = api;
    const { id: case_id = '' } = params;
    const query = { ids: case_id, fields: 'title' };
    const [[item], state, kept] = await Promise.all([
      call('GET /cases', { query }),
      orProblem(statusOf(api, case_id)),
      orProblem(call('GET /api/worktrees/{case_id}/recoveries', { case_id })),
    ]);
    return {
      case_id,
      title: item?.title,
      worktree: state.value,
      unknown: state.problem,
      recoveries: kept.value ?? [],
      unread: kept.problem,
    };
  },
  View,
  follows: followsItem,
});

/** Removes a worktree, either only if no work is lost or after its work is saved. */
const RemoveWorktree = ({ case_id, attached }: { case_id: string; attached: boolean }) => {
  const call = `DELETE /api/cases/${case_id}/worktree`;
  return (
    <details>
      <summary data-key="x">{attached ? 'Detach…' : 'Remove…'}</summary>
      {attached ? (
        <ApiForm call={call}>
          <p class="quiet">The directory is not changed. The Work item will have no worktree.</p>
          <button type="submit">Detach</button>
        </ApiForm>
      ) : (
        <div class="answers">
          <ApiForm call={call}>
            <p class="quiet">
              The branch stays. Refused while the worktree is in use or has work that exists nowhere
              else.
            </p>
            <button type="submit">Remove</button>
          </ApiForm>
          <ApiForm call={`${call}?force=true`}>
            <p class="quiet">
              Uncommitted files and commits are saved first and can be restored here. Ignored files,
              such as <code>.env</code> and build output, are deleted for good.
            </p>
            <button type="submit" class="danger">
              Save work and remove
            </button>
          </ApiForm>
        </div>
      )}
    </details>
  );
};

interface RecoveriesProps {
  of: readonly Recovery[];
  /** Nothing can be restored while a worktree exists. */
  hasWorktree: boolean;
}

/** The recoveries of a Work item's worktrees, newest first. */
const Recoveries = ({ of, hasWorktree }: RecoveriesProps) => (
  <Section id="kept" title="Saved work">
    {of.length === 0 ? (
      <p class="quiet">
        No saved work. Work is saved when a worktree with work is removed, before a rebase, on an
        abort, and after a Plan turn that changed files.
      </p>
    ) : (
      <>
        {hasWorktree && of.some(({ restorable }) => restorable) && (
          <p class="quiet">Remove the worktree to restore saved work.</p>
        )}
        <ol class="rows" aria-label="Saved work">
          {of.toReversed().map((one) => (
            <Row key={one.id} one={one} canRestore={one.restorable && !hasWorktree} />
          ))}
        </ol>
      </>
    )}
  </Section>
);

const KINDS: Readonly<Record<Recovery['kind'], string>> = {
  removed: 'Removed worktree',
  snapshot: 'Before a rebase',
  undone: 'Undone by an abort or after a Plan turn',
  refs: 'Branches and tags before they were restored',
  set_aside: 'Changes that did not apply after a rebase',
};

const Row = ({ one, canRestore }: { one: Recovery; canRestore: boolean }) => {
  const { id, case_id, kind, created_at, branch, head, ref, patch, detail } = one;
  const at = `/api/worktrees/${case_id}/recoveries/${encodeURIComponent(id)}`;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <h3 class="title">{KINDS[kind]}</h3>
        <RelativeTime at={created_at} />
      </div>
      <dl class="facts">
        {branch !== null && <CodeFact name="Branch" text={branch} />}
        {head !== null && <CodeFact name="Commit" text={head} />}
        {ref !== null && <CodeFact name="Ref" text={ref} />}
        {patch !== null && <CodeFact name="Patch" text={patch} />}
      </dl>
      {detail !== undefined && <p class="message">{visible(detail)}</p>}
      <div class="answers">
        {canRestore && (
          <CallButton call={`POST ${at}/restore`} keys="R">
            Restore
          </CallButton>
        )}
        <details>
          <summary>
            Delete…<span class="unseen"> {id}</span>
          </summary>
          <ApiForm call={`DELETE ${at}`}>
            <p>
              <strong>This cannot be undone.</strong>{' '}
              <span class="quiet">
                {ref !== null &&
                  'The ref is deleted, and its commits at the next garbage collection of git. '}
                {patch !== null &&
                  'The patch is deleted. A copy stays in .dossier/undo for some days.'}
              </span>
            </p>
            <button type="submit" class="danger">
              Delete saved work
            </button>
          </ApiForm>
        </details>
      </div>
    </li>
  );
};
