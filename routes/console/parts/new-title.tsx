import { useEffect, useRef } from 'preact/hooks';

/** What a Work item is called; one begins to write at once. */
export const TitleField = () => {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  return (
    <div>
      <label for="title">Title</label>
      <input {...{ id: 'title', name: 'title', ref: field, required: true }} />
    </div>
  );
};
