import type { SessionLock } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { Since } from '../since.tsx';

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
