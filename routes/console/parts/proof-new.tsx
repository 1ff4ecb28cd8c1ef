import { useContext, useState } from 'preact/hooks';
import type { Api } from '../common/page.ts';
import { Do, InReach } from './do.tsx';
import { Refused } from './refused.tsx';

interface NewProps {
  /** Of the Work item. */
  id: string;
  /** Types to choose from; others can be written. */
  types: readonly string[];
}

/** A proof to be added: a text, or where scripts run a file. */
export const NewProof = ({ id, types }: NewProps) => {
  const api = useContext(InReach);
  return (
    <>
      <h2>Add a proof</h2>
      <datalist id="proof-types">
        {types.map((type) => (
          <option key={type} value={type} />
        ))}
      </datalist>
      <div class="new-proof">
        <Do call={`POST /cases/${id}/proof`} class="fields">
          <Type first={types[0]} />
          <label>
            What it shows, as Markdown
            <textarea name="content" required data-key="n" />
          </label>
          <button type="submit">Add this text</button>
        </Do>
        {api !== undefined && <NewFile api={api} id={id} first={types[0]} />}
      </div>
    </>
  );
};

const Type = ({ first }: { first: string | undefined }) => (
  <label>
    Type
    <input
      name="type"
      list="proof-types"
      required
      maxLength={64}
      pattern="[a-z][a-z0-9_\-]*"
      title="Lower-case, such as tests or screenshot"
      defaultValue={first ?? ''}
    />
  </label>
);

interface FormOf {
  elements: { namedItem(name: string): unknown };
  reset(): void;
}

const NewFile = ({ api, id, first }: { api: Api; id: string; first: string | undefined }) => {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string | undefined>();
  const send = async (form: FormOf): Promise<void> => {
    setBusy(true);
    setError(undefined);
    try {
      await upload(api, id, form);
      form.reset();
    } catch (refused) {
      setError((refused as Error).message);
    }
    setBusy(false);
  };
  return (
    <form
      class="fields"
      aria-busy={isBusy}
      onSubmit={(event: { preventDefault(): void; currentTarget: unknown }) => {
        event.preventDefault();
        if (!isBusy) void send(event.currentTarget as FormOf);
      }}
    >
      <Type first={first} />
      <label>
        A file: a picture, a recording, a report (25 MB at most)
        <input type="file" name="file" required />
      </label>
      <button type="submit">{isBusy ? 'Sending…' : 'Add this file'}</button>
      <Refused error={error} />
    </form>
  );
};

const upload = async ({ call }: Api, id: string, { elements }: FormOf): Promise<void> => {
  const { value: type } = elements.namedItem('type') as { value: string };
  const { files } = elements.namedItem('file') as { files: ArrayLike<Blob & { name: string }> };
  const [file] = Array.from(files);
  if (file === undefined) return;
  const query = { type, name: file.name.slice(-255) };
  await call('POST /cases/{id}/proof/files', { id, query, body: file as never });
};
