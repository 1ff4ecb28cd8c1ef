import type { TargetedEvent } from 'preact';
import type { Machine } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { PROOF_TYPE, Suggestions } from '../fields.tsx';
import { ApiForm } from '../form.tsx';

interface NewProps {
  /** The Work item's id. */
  id: string;
  /** Suggested types. */
  types: readonly string[];
  /** Undefined if it cannot be read. */
  machine: Machine | undefined;
}

/** Adds a proof: a text, a file, or the run of a command. */
export const NewProof = ({ id, types, machine }: NewProps) => (
  <>
    <h2>Add a proof</h2>
    <Suggestions id="proof-types" of={types} />
    <div class="new-proof">
      <ApiForm call={`POST /cases/${id}/proof`} keep class="fields">
        <Type first={types[0]} />
        <label>
          Description, as Markdown
          <textarea name="content" required data-key="n" />
        </label>
        <button type="submit">Add text</button>
      </ApiForm>
      <ApiForm call={`POST /cases/${id}/proof/files`} encType="multipart/form-data" class="fields">
        <Type first={types[0]} />
        <label>
          File, such as an image, a recording or a report (up to 25 MB; 1 MB without scripts)
          <input type="file" name="_file" required onChange={proposeType} />
        </label>
        <button type="submit">Add file</button>
      </ApiForm>
      <Check id={id} machine={machine} />
    </div>
  </>
);

/** Runs a command, and says where. */
const Check = ({ id, machine }: Omit<NewProps, 'types'>) => {
  const open = machine?.unheld.find(({ about }) => about === 'bubblewrap')?.sentence;
  const isShut = machine !== undefined && open === undefined;
  return (
    <ApiForm call={`POST /cases/${id}/proof/run`} keep class="fields">
      <label>
        {`Command, run in the worktree${isShut ? ' and in the sandbox' : ''}`}
        <input name="command" required maxLength={2000} placeholder="npm test" data-key="r" />
      </label>
      {open !== undefined && (
        <div class="box error" role="note">
          <strong>Not isolated.</strong> {visible(open)}
        </div>
      )}
      <button type="submit">Run check</button>
    </ApiForm>
  );
};

/** Proposes the type `screenshot` for an image, unless a type was typed. */
const proposeType = ({ currentTarget: { files, form } }: TargetedEvent<HTMLInputElement>): void => {
  const type = form?.elements.namedItem('type');
  if (!(type instanceof HTMLInputElement)) return;
  if (type.value !== type.defaultValue && type.value !== PICTURE) return;
  type.value = files?.[0]?.type.startsWith('image/') === true ? PICTURE : type.defaultValue;
};

const PICTURE = 'screenshot';

const Type = ({ first }: { first: string | undefined }) => (
  <label>
    Type
    <input {...PROOF_TYPE} list="proof-types" defaultValue={first ?? ''} />
  </label>
);
