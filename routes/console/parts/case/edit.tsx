import { useRef, useState } from 'preact/hooks';
import type { Case } from '../../../../lib/client/client.ts';
import { ITEM_TYPES, TypeField } from '../fields.tsx';
import { ApiForm, hasUnsent } from '../form.tsx';
import { MarkdownField } from './markdown-field.tsx';

interface Version {
  item: Pick<Case, 'id' | 'title' | 'type' | 'description'>;
  etag: string | undefined;
}

/** Edits title, type and description. The ETag keeps a save from replacing an unseen version. */
export const EditItem = (now: Version) => {
  // The version that was shown when something was typed. Until then the fields follow the page.
  const [editBase, setEditBase] = useState<Version>();
  const fold = useRef<HTMLDetailsElement>(null);
  const seen = editBase ?? now;
  // A form is reset after its call succeeded.
  const onReset = () => {
    if (fold.current !== null) fold.current.open = false;
    setEditBase(undefined);
  };
  const begin = () => setEditBase(editBase ?? now);
  const { id, title, type, description } = seen.item;
  const call = `PUT /cases/${id}`;
  // A browser that fills in what was typed before a reload tells no input.
  const onToggle = () => {
    if (hasUnsent(call)) begin();
  };
  return (
    <details ref={fold} class="edit" onInput={begin} onToggle={onToggle} onReset={onReset}>
      <summary data-key="e">Edit</summary>
      <ApiForm
        call={call}
        if_match={seen.etag}
        was={wasOf(seen.item)}
        keep
        onRestore={begin}
        class="fields"
      >
        {editBase !== undefined && editBase.etag !== now.etag && (
          <Changed take={() => setEditBase({ ...editBase, etag: now.etag })} />
        )}
        <div>
          <label for="title">Title</label>
          <input id="title" name="title" required defaultValue={title} />
        </div>
        <TypeField id="type" known={ITEM_TYPES} value={type} />
        <MarkdownField name="description" label="Description" value={description} />
        <button type="submit" class="primary">
          Save
        </button>
      </ApiForm>
    </details>
  );
};

// Unchanged members are not sent. A textarea has \n as its only line ending.
const wasOf = ({ title, type, description }: Version['item']) => ({
  title,
  type,
  description: description.replaceAll(/\r\n?/g, '\n'),
});

const Changed = ({ take }: { take: () => void }) => (
  <div class="box warn" role="status">
    <p>
      The Work item changed since you began editing. Compare your text with the version on this
      page, then overwrite it or discard yours.
    </p>
    <div class="line">
      <button type="button" onClick={take}>
        Overwrite it
      </button>
      <button type="reset">Discard yours</button>
    </div>
  </div>
);
