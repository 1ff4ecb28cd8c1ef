import type { Case, ChecklistItem, ProofGate } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';

interface ChecklistProps {
  /** Of the Work item. */
  id: string;
  items: readonly ChecklistItem[];
  /** Of the list as it was read. */
  etag: string | undefined;
}

/** What has to be proven, to be ticked and added to. */
export const Checklist = ({ id, items, etag }: ChecklistProps) => (
  <>
    <h2>Checklist</h2>
    {items.length === 0 ? (
      <p class="quiet">Nothing is asked for yet: any verified proof is enough.</p>
    ) : (
      <ul class="rows checklist">
        {items.map((item) => (
          <Entry key={item.id} {...{ id, item, etag }} isAlone={isAlone(item, items)} />
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
          <input name="description" required />
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

// A line is known by its words: of two with the same ones the list that was read says which is meant.
const isAlone = ({ description }: ChecklistItem, items: readonly ChecklistItem[]): boolean =>
  items.filter((other) => other.description === description).length === 1;

interface EntryProps {
  id: string;
  item: ChecklistItem;
  etag: string | undefined;
  isAlone: boolean;
}

const Entry = ({ id, item, etag, isAlone }: EntryProps) => {
  const { task, done, satisfied, required, command } = item;
  const description = visible(item.description);
  const at = `/cases/${id}/proof/checklist/${item.id}`;
  return (
    <li class="row" data-row={item.id} tabIndex={-1}>
      <div class="head">
        <Mark satisfied={satisfied} />
        <span class="title">{description}</span>
        {!required && <span class="quiet">optional</span>}
        {task ? (
          <Do call={`PATCH ${at}`} body={{ done: !done }} if_match={isAlone ? undefined : etag}>
            <button type="submit" data-key="x" aria-label={nameOf(done, description)}>
              {done ? 'Untick' : 'Tick'}
            </button>
          </Do>
        ) : (
          <AsksFor {...item} />
        )}
        {command !== undefined && !satisfied && (
          <Do call={`POST /cases/${id}/proof/run`} body={{ command }}>
            <button type="submit" aria-label={`Run ${visible(command)}`}>
              Run <code>{visible(command)}</code>
            </button>
          </Do>
        )}
        <details class="ask">
          <summary class="button" data-key="d" aria-label={`Remove: ${description}`}>
            Remove…
          </summary>
          <Do call={`DELETE ${at}`} if_match={etag}>
            <button type="submit" class="danger" aria-label={`Ask no more for: ${description}`}>
              Ask no more for this
            </button>
          </Do>
        </details>
      </div>
      {item.waived !== undefined && (
        <p class="quiet">{`Waived by ${visible(item.waived.by)}: ${visible(item.waived.reason)}`}</p>
      )}
      {!satisfied && <Waive at={at} etag={isAlone ? undefined : etag} />}
    </li>
  );
};

const AsksFor = ({ type, command }: ChecklistItem) =>
  command === undefined ? (
    <span class="quiet">
      by a proof of type <code>{type}</code>
    </span>
  ) : (
    <span class="quiet">by a run of the command that passed</span>
  );

const Waive = ({ at, etag }: { at: string; etag: string | undefined }) => (
  <details class="in-place">
    <summary>Waive…</summary>
    <Do call={`PUT ${at}/waiver`} if_match={etag} class="fields below">
      <label>
        Your name
        <input name="by" required maxLength={200} />
      </label>
      <label>
        Why it is not needed
        <input name="reason" required maxLength={1000} />
      </label>
      <button type="submit">Waive it</button>
    </Do>
  </details>
);

const nameOf = (done: boolean, description: string): string =>
  `${done ? 'Untick' : 'Tick'}: ${description}`;

const Mark = ({ satisfied }: Pick<ChecklistItem, 'satisfied'>) => (
  <span class={satisfied ? 'mark good' : 'mark'}>
    <span aria-hidden="true">{satisfied ? '✓' : '○'}</span>
    <span class="unseen">{satisfied ? 'Proven' : 'Open'}</span>
  </span>
);

interface GateProps {
  gate: ProofGate;
  state: Case['state'];
  /** How many proofs there are. */
  count: number;
}

/** The proof gate in a sentence. */
export const ProofGateLine = ({ gate: { satisfied, missing, stale }, state, count }: GateProps) => (
  <div class={satisfied ? 'box good' : 'box warn'}>
    <strong>{satisfied ? 'Proven.' : 'Not proven yet.'}</strong>{' '}
    {satisfied ? provenOf(state) : missingOf(missing, count)}
    {!satisfied && missing.length > 1 && (
      <ul class="missing">
        {missing.map(({ checklist_id, description }) => (
          <li key={checklist_id}>{visible(description)}</li>
        ))}
      </ul>
    )}
    {stale.length > 0 && (
      <p>
        {stale.length === 1 ? 'One verified proof is' : `${stale.length} verified proofs are`} of
        other work than what the worktree holds now. They still count.
      </p>
    )}
  </div>
);

const provenOf = (state: Case['state']): string =>
  state === 'RESOLVED'
    ? 'The Work item is resolved.'
    : 'All that is required has been verified: the Work item may be resolved.';

const missingOf = (missing: ProofGate['missing'], count: number): string => {
  const [first] = missing;
  if (missing.length > 1) return `${missing.length} things are missing:`;
  if (first?.checklist_id == null)
    return count === 0
      ? 'Nothing is asked for by a checklist: one verified proof is enough, and there is none.'
      : 'Nothing is asked for by a checklist: verify one of the proofs.';
  return `Missing: ${visible(first.description)}`;
};
