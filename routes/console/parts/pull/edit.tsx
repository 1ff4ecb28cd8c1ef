import type { PullRequest } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';

interface EditProps {
  pull: PullRequest;
  etag: string | undefined;
}

/** What an operator may change of a pull request: title and labels there, notes here alone. */
export const PullEdit = ({ pull: { case_id, title, labels, notes, state }, etag }: EditProps) => {
  const call = `PATCH /api/cases/${case_id}/pr`;
  return (
    <details class="in-place">
      <summary data-key="n">Title, labels and notes</summary>
      {(state === 'draft' || state === 'open') && (
        <Do call={call} if_match={etag} body={{ labels: [] }} class="fields below">
          <label>
            Title on the host
            <input name="title" required defaultValue={title} />
          </label>
          <fieldset class="labels line">
            <legend>Labels on the host</legend>
            {labels.map((label) => (
              <label key={label} class="check">
                <input type="checkbox" name="labels[]" value={label} defaultChecked />{' '}
                {visible(label)}
              </label>
            ))}
            <input name="labels[]" maxLength={100} aria-label="A further label" size={12} />
          </fieldset>
          <button type="submit">Change it on the host</button>
        </Do>
      )}
      <Do call={call} if_match={etag} keep class="fields below">
        <label>
          Notes of your own, which stay here
          <textarea name="notes" defaultValue={notes} />
        </label>
        <button type="submit">Keep the notes</button>
      </Do>
    </details>
  );
};
