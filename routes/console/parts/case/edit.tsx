import { useEffect, useRef, useState } from 'preact/hooks';
import type { Case } from '../../../../lib/client/client.ts';
import { Do } from '../form.tsx';
import { MarkdownField } from './markdown-field.tsx';
import { ITEM_TYPES, TypeField } from './start.tsx';

interface Version {
  item: Pick<Case, 'id' | 'title' | 'type' | 'description'>;
  etag: string | undefined;
}

/** Title, type and text of a Work item, changed in place. What is saved goes over nothing that was not seen. */
export const EditItem = (now: Version) => {
  // What one began with, as long as one writes.
  const [begun, setBegun] = useState<Version>();
  const fold = useRef<HTMLDetailsElement>(null);
  const seen = begun ?? now;
  useEffect(() => {
    const form = fold.current?.querySelector('form');
    // A form is emptied once its call was made.
    const done = () => {
      if (fold.current !== null) fold.current.open = false;
    };
    form?.addEventListener('reset', done);
    return () => form?.removeEventListener('reset', done);
  }, []);
  const onToggle = () => setBegun(fold.current?.open === true ? now : undefined);
  const { id, title, type, description } = seen.item;
  return (
    <details ref={fold} class="edit" onToggle={onToggle}>
      <summary data-key="e">Edit</summary>
      <Do call={`PUT /cases/${id}`} if_match={seen.etag} was={wasOf(seen.item)} keep class="fields">
        {begun !== undefined && begun.etag !== now.etag && (
          <Changed take={() => setBegun({ ...begun, etag: now.etag })} />
        )}
        <div>
          <label for="title">Title</label>
          <input {...{ id: 'title', name: 'title', required: true }} defaultValue={title} />
        </div>
        <TypeField id="type" known={ITEM_TYPES} value={type} />
        <MarkdownField name="description" label="Description" value={description} />
        <button type="submit" class="primary">
          Save
        </button>
      </Do>
    </details>
  );
};

// What is as it was is not sent. A field has no other ends of lines.
const wasOf = ({ title, type, description }: Version['item']) => ({
  ...{ title, type, description: description.replaceAll(/\r\n?/g, '\n') },
});

const Changed = ({ take }: { take: () => void }) => (
  <div class="box warn" role="status">
    <p>
      It was changed meanwhile. Look below at what it says now, then take it over or save yours.
    </p>
    <button type="button" onClick={take}>
      Let mine go over it
    </button>
  </div>
);
