import { visible } from '../../../base/visible.ts';
import type { ChecklistItem } from '../../../lib/client/client.ts';
import { Do } from './do.tsx';

interface ChecklistProps {
  /** Of the Work item. */
  id: string;
  items: readonly ChecklistItem[];
}

/** What has to be proven, to be ticked and added to. */
export const Checklist = ({ id, items }: ChecklistProps) => (
  <>
    <h2>Checklist</h2>
    {items.length === 0 ? (
      <p class="quiet">Nothing is asked for yet: any verified proof is enough.</p>
    ) : (
      <ul class="rows checklist">
        {items.map((item) => (
          <Entry key={item.id} id={id} item={item} />
        ))}
      </ul>
    )}
    <details class="in-place">
      <summary data-key="l">Add to the checklist</summary>
      <Do
        call={`POST /cases/${id}/proof/checklist`}
        body={{ required: false }}
        class="fields below"
      >
        <label>
          What has to be shown
          <input name="description" required maxLength={1000} />
        </label>
        <label>
          Type of the proof
          <input
            name="type"
            required
            maxLength={64}
            pattern="[a-z][a-z0-9_\-]*"
            title="Lower-case, such as tests or screenshot"
            placeholder="tests"
          />
        </label>
        <label class="check">
          <input type="checkbox" name="required:json" value="true" defaultChecked /> Required
        </label>
        <button type="submit">Add it</button>
      </Do>
    </details>
  </>
);

const Entry = ({ id, item }: { id: string; item: ChecklistItem }) => {
  const { task, done, satisfied, required, type } = item;
  const description = visible(item.description);
  return (
    <li class="row" data-row={item.id} tabIndex={-1}>
      <div class="head">
        <Mark satisfied={satisfied} />
        <span class="title">{description}</span>
        {!required && <span class="quiet">optional</span>}
        {task ? (
          <Do call={`PATCH /cases/${id}/proof/checklist/${item.id}`} body={{ done: !done }}>
            <button type="submit" data-key="x" aria-label={nameOf(done, description)}>
              {done ? 'Untick' : 'Tick'}
            </button>
          </Do>
        ) : (
          <span class="quiet">
            by a proof of type <code>{type}</code>
          </span>
        )}
      </div>
    </li>
  );
};

const nameOf = (done: boolean, description: string): string =>
  `${done ? 'Untick' : 'Tick'}: ${description}`;

const Mark = ({ satisfied }: Pick<ChecklistItem, 'satisfied'>) => (
  <span class={satisfied ? 'mark good' : 'mark'}>
    <span aria-hidden="true">{satisfied ? '✓' : '○'}</span>
    <span class="unseen">{satisfied ? 'Proven' : 'Open'}</span>
  </span>
);
