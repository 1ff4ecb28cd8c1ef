import type { Conflict } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';

interface StartProps {
  /** Of the Work item. */
  id: string;
  /** The rebase before. */
  last: Conflict | undefined;
}

/** Where no rebase is under way: to begin one, and to push what the last one made. */
export const NewRebase = ({ id, last }: StartProps) => (
  <>
    {last !== undefined && isToPush(last) && (
      <div class="box">
        <strong>The branch was rebased onto {visible(last.onto)}</strong> and has not been pushed
        since.
        <Do call={`POST /api/cases/${id}/conflicts/push-rebased`} class="answers">
          <button type="submit" class="primary" data-key="p">
            Push the rebased branch
          </button>
        </Do>
      </div>
    )}
    <h2>Rebase the branch</h2>
    <p class="quiet">
      How everything was before is kept first. Where a conflict is met, it waits here until you
      apply a resolution or abort.
    </p>
    <Do call={`POST /api/cases/${id}/pr/rebase`} class="fields">
      <label>
        Onto
        <input name="onto?" maxLength={200} placeholder="the base of the worktree" data-key="n" />
      </label>
      <label class="check">
        <input type="checkbox" name="keep_changes:json" value="true" /> Set changes that are not
        committed aside, and bring them back
      </label>
      <button type="submit" data-key="a">
        Rebase
      </button>
    </Do>
  </>
);

const isToPush = ({ outcome, pushed_at }: Conflict): boolean =>
  (outcome === 'clean' || outcome === 'resolved') && pushed_at === null;
