import type { Data, SessionLock } from '../../../../lib/client/client.ts';
import { baseHasMoved, counted, undiffedText } from '../../../../lib/text/wording.ts';
import { visible } from '../../../../store/base/visible.ts';
import { CodeFact, Fact } from '../facts.tsx';
import { ApiForm, CallButton } from '../form.tsx';
import { Copy, OpenInEditor } from '../links.tsx';
import { RelativeTime } from '../relative-time.tsx';

/** A worktree as recorded, and its current state. */
export interface WorktreeShown extends Data<'GET /api/cases/{id}/worktree'> {
  health: Data<'GET /api/worktrees/{case_id}/health'>;
}

/** The worktree of a Work item. */
export const WorktreeFacts = ({ of }: { of: WorktreeShown }) => {
  const { path, branch, base, base_commit, base_notes = [] } = of;
  const { status, detail, uncommitted = 0, submodules, new_in_base } = of.health;
  const undiffed = undiffedText(submodules);
  return (
    <section aria-label="Worktree">
      <h2>Worktree</h2>
      <dl class="facts">
        <CodeFact name="Branch" text={branch} />
        <Fact name="Based on">
          {visible([`${base} (${base_commit.slice(0, 7)}).`, ...base_notes].join(' '))}
          {new_in_base != null && new_in_base > 0 && (
            <>
              {' '}
              <span class="tag">{baseHasMoved(new_in_base)}</span>
            </>
          )}
        </Fact>
        <CodeFact name="Path" text={path} />
        {uncommitted > 0 && <Fact name="Uncommitted">{counted(uncommitted, 'file')}</Fact>}
      </dl>
      {undiffed !== '' && <p class="box warn">{visible(undiffed)}</p>}
      {status !== 'ok' && <p class="box warn">{detail ?? `The worktree is ${status}.`}</p>}
      <p class="line">
        <Copy text={path} label="Copy path" keys="y" />
        <OpenInEditor root={path} class="button" />
      </p>
    </section>
  );
};

interface ActionsProps {
  lock: SessionLock;
  isThere: boolean;
  saved: number;
}

/** The lock of the worktree, actions on it, and the way to its saved work. */
export const WorktreeActions = ({ lock, isThere, saved }: ActionsProps) => {
  const { case_id } = lock;
  const at = `/api/cases/${case_id}/worktree`;
  return (
    <section aria-label="Worktree lock">
      <WorktreeLock {...lock} />
      {!isThere && (
        <CallButton call="POST /api/worktrees" body={{ case_id }}>
          Create worktree
        </CallButton>
      )}
      {saved > 0 && (
        <p>
          <a href={`/dashboard/settings/worktrees/${case_id}`}>Saved work ({saved})</a>
        </p>
      )}
      {isThere && (
        <details class="edit">
          <summary>Set up again or remove…</summary>
          <div class="fields">
            <CallButton call={`POST /api/worktrees/${case_id}/setup`}>
              Copy files and run setup again
            </CallButton>
            <CallButton call={`DELETE ${at}`}>Remove worktree</CallButton>
            <p class="quiet">
              The branch stays. Refused if the worktree has work that exists nowhere else.
            </p>
            <CallButton call={`DELETE ${at}?force=true`}>
              Save that work under a recovery ref and remove
            </CallButton>
          </div>
        </details>
      )}
    </section>
  );
};

const WorktreeLock = ({ case_id, locked, holder, acquired_at }: SessionLock) => {
  const call = `/api/worktrees/${case_id}/lock`;
  if (!locked)
    return (
      <ApiForm call={`POST ${call}`} body={{ name: 'operator' }}>
        <button type="submit" title="No session of this Work item starts while you hold the lock">
          Lock worktree
        </button>
      </ApiForm>
    );
  const { session_id, name, operation } = holder ?? {};
  return (
    <>
      <p>
        {session_id === undefined ? visible(operation ?? name ?? 'Another process') : 'A session'}{' '}
        holds the lock {acquired_at !== null && <RelativeTime at={acquired_at} />}
      </p>
      {session_id === undefined && <CallButton call={`DELETE ${call}`}>Release lock</CallButton>}
    </>
  );
};
