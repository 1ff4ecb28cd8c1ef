import type { Case, ChecklistItem, ProofGate } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { PROOF_TYPE } from '../fields.tsx';
import { ApiForm, AskedCall, CallButton } from '../form.tsx';

interface ChecklistProps {
  /** The Work item's id. */
  id: string;
  items: readonly ChecklistItem[];
  /** The ETag of the list. */
  etag: string | undefined;
}

/** The checklist of a Work item. */
export const Checklist = ({ id, items, etag }: ChecklistProps) => (
  <>
    <h2>Checklist</h2>
    {items.length === 0 ? (
      <p class="quiet">The checklist is empty: any verified proof satisfies the gate.</p>
    ) : (
      <ul class="rows checklist">
        {items.map((item) => (
          <Entry key={item.id} id={id} item={item} etag={etag} isAlone={isAlone(item, items)} />
        ))}
      </ul>
    )}
    <details class="in-place">
      <summary data-key="l">Add item</summary>
      <ApiForm
        call={`POST /cases/${id}/proof/checklist`}
        body={{ required: false }}
        keep
        class="fields below"
      >
        <label>
          What to prove
          <input name="description" required />
        </label>
        <label>
          Type of proof
          <input {...PROOF_TYPE} placeholder="tests" />
        </label>
        <label class="check">
          <input type="checkbox" name="required:json" value="true" defaultChecked /> Required
        </label>
        <button type="submit">Add</button>
      </ApiForm>
    </details>
  </>
);

// Items are identified by their text; of duplicates the ETag tells which is meant.
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
  const mark = done ? 'Mark as open' : 'Mark as done';
  const at = `/cases/${id}/proof/checklist/${item.id}`;
  return (
    <li class="row" data-row={item.id} tabIndex={-1}>
      <div class="head">
        <Mark satisfied={satisfied} />
        <span class="title">{description}</span>
        {!required && <span class="quiet">optional</span>}
        {task ? (
          <CallButton
            call={`PATCH ${at}`}
            body={{ done: !done }}
            if_match={isAlone ? undefined : etag}
            keys="x"
            label={`${mark}: ${description}`}
          >
            {mark}
          </CallButton>
        ) : (
          <AsksFor {...item} />
        )}
        {command !== undefined && !satisfied && (
          <CallButton
            call={`POST /cases/${id}/proof/run`}
            body={{ command }}
            label={`Run ${visible(command)}`}
          >
            Run <code>{visible(command)}</code>
          </CallButton>
        )}
        <AskedCall
          ask="Remove…"
          about={`Remove: ${description}`}
          call={`DELETE ${at}`}
          if_match={etag}
          label={`Remove from checklist: ${description}`}
        >
          Remove from checklist
        </AskedCall>
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
      proof of type <code>{type}</code>
    </span>
  ) : (
    <span class="quiet">a passing run of the command</span>
  );

const Waive = ({ at, etag }: { at: string; etag: string | undefined }) => (
  <details class="in-place">
    <summary>Waive…</summary>
    <ApiForm call={`PUT ${at}/waiver`} if_match={etag} keep class="fields below">
      <label>
        Your name
        <input name="by" required maxLength={200} />
      </label>
      <label>
        Why it is not needed
        <input name="reason" required maxLength={1000} />
      </label>
      <button type="submit">Waive</button>
    </ApiForm>
  </details>
);

const Mark = ({ satisfied }: Pick<ChecklistItem, 'satisfied'>) => (
  <span class={satisfied ? 'mark good' : 'mark'}>
    <span aria-hidden="true">{satisfied ? '✓' : '○'}</span>
    <span class="unseen">{satisfied ? 'Proven' : 'Open'}</span>
  </span>
);

interface GateProps {
  gate: ProofGate;
  state: Case['state'];
  /** The number of proofs. */
  count: number;
}

/** The state of the proof gate. */
export const ProofGateLine = ({ gate: { satisfied, missing, stale }, state, count }: GateProps) => (
  <div class={satisfied ? 'box good' : 'box warn'}>
    <strong>{satisfied ? 'Proven.' : 'Not proven.'}</strong>{' '}
    {satisfied ? provenOf(state) : explainMissing(missing, count)}
    {!satisfied && missing.length > 1 && (
      <ul class="missing">
        {missing.map(({ checklist_id, description }) => (
          <li key={checklist_id}>{visible(description)}</li>
        ))}
      </ul>
    )}
    {stale.length > 0 && (
      <p>
        {stale.length === 1 ? 'One verified proof is' : `${stale.length} verified proofs are`} of an
        earlier state of the worktree, but still count.
      </p>
    )}
  </div>
);

const provenOf = (state: Case['state']): string => {
  if (state === 'RESOLVED') return 'The Work item is resolved.';
  if (state === 'VERIFYING')
    return 'The proof was verified before the last session ended. To resolve the Work item, verify a proof, or tick or waive an item.';
  return 'All required proof is verified. The Work item can be resolved.';
};

const explainMissing = (missing: ProofGate['missing'], count: number): string => {
  const [first] = missing;
  if (missing.length > 1) return `${missing.length} items are missing:`;
  if (first?.checklist_id == null)
    return count === 0
      ? 'The checklist is empty. Add a proof and verify it.'
      : 'The checklist is empty. Verify one of the proofs.';
  return `Missing: ${visible(first.description)}`;
};
