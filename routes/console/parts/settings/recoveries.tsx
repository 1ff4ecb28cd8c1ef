import type { Recovery } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Fact } from '../facts.tsx';
import { ApiForm, CallButton } from '../form.tsx';
import { RelativeTime } from '../relative-time.tsx';

interface RecoveriesProps {
  of: readonly Recovery[];
  /** Nothing can be restored while a worktree exists. */
  hasWorktree: boolean;
}

/** The recoveries of a Work item's worktrees, newest first. */
export const Recoveries = ({ of, hasWorktree }: RecoveriesProps) => (
  <section aria-labelledby="kept">
    <h2 id="kept">Saved work</h2>
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
  </section>
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
        <TextFact name="Branch" text={branch} />
        <TextFact name="Commit" text={head} />
        <TextFact name="Ref" text={ref} />
        <TextFact name="Patch" text={patch} />
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

const TextFact = ({ name, text }: { name: string; text: string | null }) =>
  text === null ? null : (
    <Fact name={name}>
      <code>{visible(text)}</code>
    </Fact>
  );
