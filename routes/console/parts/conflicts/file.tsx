import { useState } from 'preact/hooks';
import type { ConflictFile } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { type Hunk, hunksOf } from './marks.ts';

/** A file in conflict, as it is in the worktree now. */
export interface ConflictedText extends ConflictFile {
  etag?: string | undefined;
  content?: string;
  /** Why there is no text. */
  missing?: string | undefined;
}

/** A file in conflict: both sides of each place, and the whole to be edited. */
export const ConflictFileShown = ({
  id,
  path,
  kind,
  etag,
  content,
  missing,
}: ConflictedText & { id: string }) => {
  const call = `/cases/${id}/editor/files?path=${encodeURIComponent(path)}`;
  const hunks = content === undefined ? [] : hunksOf(content);
  return (
    <section class="conflicted">
      <h2>
        <code>{visible(path)}</code>
      </h2>
      {missing !== undefined && <p class="quiet">{visible(missing)}</p>}
      {content !== undefined && <p class="quiet">{leftOf(hunks.length)}</p>}
      {hunks.slice(0, 50).map((hunk) => (
        <Sides key={hunk.line} {...hunk} />
      ))}
      {content !== undefined && <Edit call={call} etag={etag} content={content} path={path} />}
      {kind.startsWith('deleted') && etag !== undefined && (
        <Do call={`DELETE ${call}`} if_match={etag}>
          <button type="submit">Delete this file</button>
        </Do>
      )}
    </section>
  );
};

const leftOf = (count: number): string => {
  if (count === 0) return 'No marks are left in it.';
  return count === 1 ? 'One place is left to resolve.' : `${count} places are left to resolve.`;
};

const Sides = ({ line, ours, base, theirs }: Hunk) => (
  <div class="sides">
    <p class="quiet">Line {line}</p>
    <Side name="The base now" text={ours} />
    {base !== undefined && <Side name="Before both" text={base} />}
    <Side name="This branch" text={theirs} />
  </div>
);

const Side = ({ name, text }: { name: string; text: string }) => (
  <div class="side">
    <h3>{name}</h3>
    <pre class="as-written">
      <code>{text === '' ? ' ' : visible(text)}</code>
    </pre>
  </div>
);

interface EditProps {
  call: string;
  etag: string | undefined;
  content: string;
  path: string;
}

// A browser's field has one kind of line end, and swallows the first: such a file would not stay as it is.
const isKept = (content: string): boolean => !content.includes('\r') && !content.startsWith('\n');

const Edit = ({ call, etag, content, path }: EditProps) => {
  // Who has begun to write answers to the file as it was then, whatever became of it since.
  const [begun, setBegun] = useState<{ etag: string | undefined } | undefined>();
  if (!isKept(content))
    return <p class="quiet">Its line ends would not survive a page: edit it in the worktree.</p>;
  return (
    <div onReset={() => setBegun(undefined)}>
      <Do call={`PUT ${call}`} if_match={(begun ?? { etag }).etag} class="edit">
        <label>
          {`${visible(path)} as it is to be`}
          <textarea
            name="content"
            class="code"
            rows={16}
            spellcheck={false}
            defaultValue={content}
            onInput={() => setBegun((before) => before ?? { etag })}
            data-key="e"
          />
        </label>
        <button type="submit">Save the file</button>
      </Do>
    </div>
  );
};
