import type { ListedKey } from '../../../lib/guard/api-keys/keys.ts';
import { utcOf } from '../../../lib/text/wording.ts';
import { Section } from '../parts/facts.tsx';
import { Settings } from '../parts/frames.tsx';
import { ShownOnce } from '../parts/links.tsx';
import { OneField } from '../parts/one-field.tsx';
import { FormError } from '../parts/problems.tsx';

const KEYS = '/dashboard/keys';

export interface KeysShown {
  keys: readonly ListedKey[];
  form_key: string;
  /** The key that was just created. Its text is shown once. */
  made?: { key: ListedKey; text: string };
  error?: string;
}

export const Keys = ({ keys, form_key, made, error }: KeysShown) => (
  <Settings tab="API keys">
    <p>
      Programs on this machine may call the API without a key. A program with a key sends it as{' '}
      <code>Authorization: Bearer …</code>. Calls with a revoked key are refused.
    </p>
    <FormError error={error} />
    {made !== undefined && (
      <ShownOnce name="the new key" text={made.text}>
        <strong>{made.key.name}</strong> was created.
      </ShownOnce>
    )}
    <Section id="new" title="New key">
      <OneField
        action={KEYS}
        form_key={form_key}
        label="Name"
        button="Create key"
        name="name"
        maxLength={100}
        placeholder="For example: editor plug-in"
      />
    </Section>
    <Section id="keys" title="Keys">
      {keys.length === 0 ? (
        <p class="quiet">No keys. Create one to identify a program's calls.</p>
      ) : (
        <Table keys={keys} form_key={form_key} />
      )}
    </Section>
  </Settings>
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

// The disclosure asks and the button confirms, without a script.
const Row = ({ of, form_key }: { of: ListedKey; form_key: string }) => (
  <tr>
    <th scope="row">{of.name}</th>
    <td>
      <Time at={of.created_at} />
    </td>
    <td>{of.last_used_at === null ? 'Never' : <Time at={of.last_used_at} />}</td>
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

const Time = ({ at }: { at: string }) => <time dateTime={at}>{utcOf(at)}</time>;
