import type { Recovery } from '../../../../lib/client/client.ts';
import { Do } from '../form.tsx';
import { Since } from '../relative-time.tsx';
import { Written } from '../written.tsx';

interface RecoveriesProps {
  of: readonly Recovery[];
  /** Where there is one, none is made again. */
  hasWorktree: boolean;
}

/** What was kept of a Work item's worktrees, newest first. */
export const Recoveries = ({ of, hasWorktree }: RecoveriesProps) => (
  <section aria-labelledby="kept">
    <h2 id="kept">Kept work</h2>
    {of.length === 0 ? (
      <p class="quiet">
        Nothing. Work is kept here when a worktree is removed with work in it, before a rebase, by
        an abort, and at the end of a Plan turn that changed something.
      </p>
    ) : (
      <>
        {hasWorktree && of.some(({ restorable }) => restorable) && (
          <p class="quiet">To restore one, remove the worktree that is there first.</p>
        )}
        <ol class="rows" aria-label="Kept work">
          {of.toReversed().map((one) => (
            <Row key={one.id} one={one} canRestore={one.restorable && !hasWorktree} />
          ))}
        </ol>
      </>
    )}
  </section>
);

const KINDS: Readonly<Record<Recovery['kind'], string>> = {
  removed: 'A worktree that was removed',
  snapshot: 'Before a rebase',
  undone: 'Undone by an abort or a Plan turn',
  refs: 'Branches and tags before they were put back',
  set_aside: 'Changes that did not fit after a rebase',
};

const Row = ({ one, canRestore }: { one: Recovery; canRestore: boolean }) => {
  const { id, case_id, kind, created_at, branch, head, ref, patch, detail } = one;
  const at = `/api/worktrees/${case_id}/recoveries/${encodeURIComponent(id)}`;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <h3 class="title">{KINDS[kind]}</h3>
        <Since at={created_at} />
      </div>
      <dl class="facts">
        <Fact name="Branch" text={branch} />
        <Fact name="On commit" text={head} />
        <Fact name="Kept at" text={ref} />
        <Fact name="Patch" text={patch} />
      </dl>
      {detail !== undefined && (
        <p class="message">
          <Written text={detail} />
        </p>
      )}
      <div class="answers">
        {canRestore && (
          <Do call={`POST ${at}/restore`}>
            <button type="submit" data-key="R">
              Restore
            </button>
          </Do>
        )}
        <details>
          <summary>
            Delete…<span class="unseen"> {id}</span>
          </summary>
          <Do call={`DELETE ${at}`}>
            <p>
              <strong>It cannot be restored after that.</strong>{' '}
              <span class="quiet">
                {ref !== null &&
                  'The ref goes, and what only it holds with the next clean-up of git. '}
                {patch !== null &&
                  'The patch goes too; for some days a copy stays in .dossier/undo.'}
              </span>
            </p>
            <button type="submit" class="danger">
              Delete this kept work now
            </button>
          </Do>
        </details>
      </div>
    </li>
  );
};

const Fact = ({ name, text }: { name: string; text: string | null }) =>
  text === null ? null : (
    <>
      <dt>{name}</dt>
      <dd>
        <code>
          <Written text={text} />
        </code>
      </dd>
    </>
  );
