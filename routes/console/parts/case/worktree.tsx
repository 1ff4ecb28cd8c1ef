import type { Data, SessionLock } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';
import { Copy, OpenInEditor } from '../links.tsx';
import { Since } from '../relative-time.tsx';

export type WorktreeStatus = Data<'GET /api/worktrees/{case_id}/status'>;

/** Where a Work item's files are worked on, for a hand to go there. */
export const WorktreePlace = ({ of }: { of: WorktreeStatus }) => {
  const { path, branch, base, base_commit, base_notes = [], status, detail, files = [] } = of;
  return (
    <section aria-label="Worktree">
      <h2>Worktree</h2>
      <dl class="facts">
        <dt>Branch</dt>
        <dd>
          <code>{visible(branch)}</code>
        </dd>
        <dt>Based on</dt>
        <dd>{visible([`${base} (${base_commit.slice(0, 7)}).`, ...base_notes].join(' '))}</dd>
        <dt>Path</dt>
        <dd>
          <code>{visible(path)}</code>
        </dd>
        {files.length > 0 && (
          <>
            <dt>Not committed</dt>
            <dd>{files.length === 1 ? '1 file' : `${files.length} files`}</dd>
          </>
        )}
      </dl>
      {status !== 'ok' && <p class="box warn">{detail ?? `The worktree is ${status}.`}</p>}
      <p class="line">
        <Copy text={path} label="Copy path" keys="y" />
        <OpenInEditor root={path} class="button" />
      </p>
    </section>
  );
};

/** Who works in the worktree now, and what an operator does with the place itself. */
export const Place = ({ lock, isThere }: { lock: SessionLock; isThere: boolean }) => {
  const { case_id } = lock;
  const at = `/api/cases/${case_id}/worktree`;
  return (
    <section aria-label="Who works in it">
      <Held {...lock} />
      {!isThere && (
        <Do call="POST /api/worktrees" body={{ case_id }}>
          <button type="submit">Make its worktree</button>
        </Do>
      )}
      {isThere && (
        <details class="edit">
          <summary>Set up again, or remove…</summary>
          <div class="fields">
            <Do call={`POST /api/worktrees/${case_id}/setup`}>
              <button type="submit">Copy files and run the set-up again</button>
            </Do>
            <Do call={`DELETE ${at}`}>
              <button type="submit">Remove the worktree</button>
            </Do>
            <p class="quiet">
              Its branch stays. Where it holds work that is nowhere else, that is refused.
            </p>
            <Do call={`DELETE ${at}?force=true`}>
              <button type="submit">Remove it, and keep that work under a recovery ref</button>
            </Do>
          </div>
        </details>
      )}
    </section>
  );
};

const Held = ({ case_id, locked, holder, acquired_at }: SessionLock) => {
  const call = `/api/worktrees/${case_id}/lock`;
  if (!locked)
    return (
      <Do call={`POST ${call}`} body={{ name: 'operator' }}>
        <button type="submit" title="No session of it starts while you work there by hand">
          Hold the worktree for myself
        </button>
      </Do>
    );
  const { session_id, name, operation } = holder ?? {};
  return (
    <>
      <p>
        {session_id === undefined ? visible(operation ?? name ?? 'Somebody') : 'A session'} holds it{' '}
        {acquired_at !== null && <Since at={acquired_at} />}
      </p>
      {session_id === undefined && (
        <Do call={`DELETE ${call}`}>
          <button type="submit">Release it</button>
        </Do>
      )}
    </>
  );
};
