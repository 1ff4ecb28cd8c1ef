import type { Case } from '../../../../lib/client/client.ts';
import { Do } from '../do.tsx';
import { STATES } from '../item.tsx';

const OUTCOMES = ['resolved', 'non_issue', 'duplicate', 'wont_fix'];

/** The state of a Work item, to be set to another. */
export const StateForm = ({
  of: { id, state, outcome },
  etag,
}: {
  of: Case;
  etag: string | undefined;
}) => (
  <Do call={`PUT /cases/${id}/state`} if_match={etag} class="fields">
    <div>
      <label for="state">State</label>
      <select id="state" name="state" data-key="s">
        {Object.entries(STATES).map(([value, name]) => (
          <option key={value} value={value} selected={value === state}>
            {name}
          </option>
        ))}
      </select>
    </div>
    <div>
      <label for="outcome">Outcome, when it closes</label>
      <input
        {...{
          id: 'outcome',
          name: 'outcome?',
          list: 'outcomes',
          maxLength: 64,
          autocomplete: 'off',
        }}
        {...{ pattern: '[a-z][a-z0-9_\\-]*', title: 'Lower-case letters, digits, - and _' }}
        placeholder="resolved"
        defaultValue={outcome ?? ''}
      />
      <datalist id="outcomes">
        {OUTCOMES.map((word) => (
          <option key={word} value={word} />
        ))}
      </datalist>
    </div>
    <button type="submit">Set the state</button>
  </Do>
);
