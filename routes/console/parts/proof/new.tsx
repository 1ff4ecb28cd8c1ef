import { Do } from '../form.tsx';

interface NewProps {
  /** Of the Work item. */
  id: string;
  /** Types to choose from; others can be written. */
  types: readonly string[];
}

/** A proof to be added: a text, or a file. */
export const NewProof = ({ id, types }: NewProps) => (
  <>
    <h2>Add a proof</h2>
    <datalist id="proof-types">
      {types.map((type) => (
        <option key={type} value={type} />
      ))}
    </datalist>
    <div class="new-proof">
      <Do call={`POST /cases/${id}/proof`} keep class="fields">
        <Type first={types[0]} />
        <label>
          What it shows, as Markdown
          <textarea name="content" required data-key="n" />
        </label>
        <button type="submit">Add this text</button>
      </Do>
      <Do call={`POST /cases/${id}/proof/files`} encType="multipart/form-data" class="fields">
        <Type first={types[0]} />
        <label>
          A file: a picture, a recording, a report (25 MB at most, 1 MB where no scripts run)
          <input type="file" name="_file" required onChange={proposeType} />
        </label>
        <button type="submit">Add this file</button>
      </Do>
      <Do call={`POST /cases/${id}/proof/run`} class="fields">
        <label>
          A command to run in the worktree, in the sandbox
          <input name="command" required maxLength={2000} placeholder="npm test" data-key="r" />
        </label>
        <button type="submit">Run this check</button>
      </Do>
    </div>
  </>
);

interface Chosen {
  currentTarget: HTMLInputElement;
}

/** A picture is a screenshot, until one says what else it is. */
const proposeType = ({ currentTarget: { files, form } }: Chosen): void => {
  const type = form?.elements.namedItem('type');
  if (!(type instanceof HTMLInputElement)) return;
  if (type.value !== type.defaultValue && type.value !== PICTURE) return;
  type.value = files?.[0]?.type.startsWith('image/') === true ? PICTURE : type.defaultValue;
};

const PICTURE = 'screenshot';

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
