import { useState } from 'preact/hooks';
import type { ConflictFile } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';
import { PullDiff } from '../pull/diff.tsx';

interface FilesProps {
  /** Of the Work item. */
  id: string;
  files: readonly ConflictFile[];
  diff: string;
  /** The path of the one that is looked at. */
  chosen: string | undefined;
}

/** The files in conflict. */
export const ConflictFiles = ({ id, files, diff, chosen }: FilesProps) => (
  <>
    <h2>{files.length === 1 ? 'One file in conflict' : `${files.length} files in conflict`}</h2>
    {files.length === 0 && <p class="quiet">All are staged. Go on with the rebase.</p>}
    <ul class="rows">
      {files.map(({ path, kind }) => (
        <li key={path} class="row" data-row={path} tabIndex={-1}>
          <div class="head">
            <a
              class="title"
              href={`/dashboard/cases/${id}/conflicts?file=${encodeURIComponent(path)}`}
              data-key="o"
              {...(path === chosen && { 'aria-current': 'true' as const })}
            >
              <code>{visible(path)}</code>
            </a>
            <span class="tag conflict">{KINDS[kind]}</span>
          </div>
        </li>
      ))}
    </ul>
    {diff !== '' && (
      <details class="in-place">
        <summary data-key="f">The difference of all of them, as git tells it</summary>
        <PullDiff diff={diff} />
      </details>
    )}
  </>
);

const KINDS: Readonly<Record<ConflictFile['kind'], string>> = {
  both_modified: 'changed on both sides',
  both_added: 'added on both sides',
  deleted_in_base: 'deleted in the base',
  deleted_in_branch: 'deleted in the branch',
  renamed: 'renamed',
  binary: 'no text',
  mode: 'other mode',
  submodule: 'submodule',
};

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

/** One place where the sides differ, as the marks in a file have it. */
interface Hunk {
  /** Of the first mark, from 1. */
  line: number;
  /** Of what the branch is put onto. */
  ours: string;
  /** Before both; undefined where git was not told to write it. */
  base: string | undefined;
  /** Of the branch. */
  theirs: string;
}

type SideName = 'ours' | 'base' | 'theirs';

const MARKS: readonly (readonly [RegExp, SideName | 'end'])[] = [
  [/^<{7}(?: |$)/, 'ours'],
  [/^\|{7}(?: |$)/, 'base'],
  [/^={7}$/, 'theirs'],
  [/^>{7}(?: |$)/, 'end'],
];

/** The places of a text that have marks. What only looks like one, out of order, is text. */
const hunksOf = (text: string): Hunk[] => {
  const hunks: Hunk[] = [];
  let open: (Pick<Hunk, 'line'> & Record<SideName, string[]>) | undefined;
  let side: SideName = 'ours';
  for (const [at, line] of text.split('\n').entries()) {
    const mark = MARKS.find(([pattern]) => pattern.test(line))?.[1];
    if (mark === 'ours') {
      open = { line: at + 1, ours: [], base: [], theirs: [] };
      side = 'ours';
    } else if (open !== undefined && mark === 'end') {
      hunks.push(closed(open));
      open = undefined;
    } else if (open !== undefined && mark !== undefined && side !== 'theirs')
      side = mark as SideName;
    else open?.[side].push(line);
  }
  return hunks;
};

const closed = ({ line, ours, base, theirs }: Pick<Hunk, 'line'> & Record<SideName, string[]>) => ({
  ...{ line, ours: ours.join('\n'), theirs: theirs.join('\n') },
  base: base.length === 0 ? undefined : base.join('\n'),
});
