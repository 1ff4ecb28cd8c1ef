import type { ListedKey } from '../../../lib/guard/api-keys/keys.ts';
import { Refused } from '../parts/refused.tsx';

const KEYS = '/dashboard/keys';

export interface KeysShown {
  keys: readonly ListedKey[];
  form_key: string;
  /** The one that was made just now: its text is shown this once. */
  made?: { key: ListedKey; text: string };
  error?: string;
}

export const Keys = ({ keys, form_key, made, error }: KeysShown) => (
  <>
    <h1>API keys</h1>
    <p>
      Programs on this machine may call the API without a key. A program that is given one sends it
      as <code>Authorization: Bearer …</code>; from the moment you revoke it, its calls are refused.
    </p>
    <Refused error={error} />
    {made !== undefined && <ShownOnce {...made} />}
    <section aria-labelledby="new">
      <h2 id="new">New key</h2>
      <form method="post" action={KEYS} class="line">
        <input type="hidden" name="form_key" value={form_key} />
        <label for="name">Name</label>
        <input
          {...{ id: 'name', name: 'name', maxLength: 100, required: true }}
          autocomplete="off"
          placeholder="What it is for, such as editor plug-in"
        />
        <button type="submit" class="primary">
          Create key
        </button>
      </form>
    </section>
    <section aria-labelledby="keys">
      <h2 id="keys">Keys</h2>
      {keys.length === 0 ? <p class="quiet">There are none.</p> : <Table {...{ keys, form_key }} />}
    </section>
  </>
);

const ShownOnce = ({ key: { name }, text }: NonNullable<KeysShown['made']>) => (
  <div class="box" role="status">
    <p>
      <strong>{name}</strong> was made. Copy the key now: it is not kept, and not shown again.
    </p>
    <input class="mono" readOnly value={text} aria-label="The new key" size={text.length} />
  </div>
);

const Table = ({ keys, form_key }: Pick<KeysShown, 'keys' | 'form_key'>) => (
  <table>
    <thead>
      <tr>
        <th scope="col">Name</th>
        <th scope="col">Created</th>
        <th scope="col">Last used</th>
        <th scope="col">
          <span class="unseen">Revoke</span>
        </th>
      </tr>
    </thead>
    <tbody>
      {keys.map((key) => (
        <Row key={key.id} of={key} form_key={form_key} />
      ))}
    </tbody>
  </table>
);

// To open it is the question, to press the button the answer: that needs no script.
const Row = ({ of, form_key }: { of: ListedKey; form_key: string }) => (
  <tr>
    <th scope="row">{of.name}</th>
    <td>
      <Time at={of.created_at} />
    </td>
    <td>{of.last_used_at === null ? 'never' : <Time at={of.last_used_at} />}</td>
    <td>
      <details>
        <summary>
          Revoke…<span class="unseen"> {of.name}</span>
        </summary>
        <form method="post" action={`${KEYS}/${of.id}/revoke`}>
          <input type="hidden" name="form_key" value={form_key} />
          <button type="submit" class="danger">
            Revoke<span class="unseen"> {of.name}</span> now
          </button>
        </form>
      </details>
    </td>
  </tr>
);

const Time = ({ at }: { at: string }) => (
  <time dateTime={at}>{`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`}</time>
);
