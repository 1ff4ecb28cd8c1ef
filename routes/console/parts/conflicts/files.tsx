import { useEffect, useRef, useState } from 'preact/hooks';
import type { ConflictFile } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { ApiForm, CallButton, hasUnsent, storeAgain } from '../form.tsx';
import { Patch, TextDiff } from '../text-diff.tsx';

interface FilesProps {
  /** The Work item's id. */
  id: string;
  files: readonly ConflictFile[];
  diff: string;
  /** The path of the selected file. */
  chosen: string | undefined;
}

/** The files in conflict. */
export const ConflictFiles = ({ id, files, diff, chosen }: FilesProps) => (
  <>
    <h2>{files.length === 1 ? 'One file in conflict' : `${files.length} files in conflict`}</h2>
    {files.length === 0 && <p class="quiet">All files are staged. Continue the rebase.</p>}
    <ul class="rows">
      {files.map(({ path, kind }) => (
        <li key={path} class="row" data-row={path} tabIndex={-1}>
          <div class="head">
            <a
              class="title"
              href={pageOf(id, path)}
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
        <summary data-key="f">Diff of all files</summary>
        <Patch diff={diff} />
      </details>
    )}
  </>
);

/** The page with this file selected. */
export const pageOf = (id: string, path: string): string =>
  `/dashboard/cases/${id}/conflicts?file=${encodeURIComponent(path)}`;

export const KINDS: Readonly<Record<ConflictFile['kind'], string>> = {
  both_modified: 'Changed on both sides',
  both_added: 'Added on both sides',
  deleted_in_base: 'Deleted in the base',
  deleted_in_branch: 'Deleted in the branch',
  renamed: 'Renamed',
  binary: 'Binary',
  mode: 'Mode changed',
  submodule: 'Submodule',
};

/** A file in conflict, as it is in the worktree. */
export interface ConflictedText extends ConflictFile {
  etag?: string | undefined;
  content?: string;
  /** Why it has no text. */
  missing?: string | undefined;
}

/** The sides of each conflict in a file, and an editor. */
export const ConflictFileShown = ({
  id,
  path,
  kind,
  etag,
  content,
  missing,
}: ConflictedText & { id: string }) => {
  const call = callOf(id, path);
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
        <CallButton call={`DELETE ${call}`} if_match={etag}>
          Delete file
        </CallButton>
      )}
    </section>
  );
};

const leftOf = (count: number): string => {
  if (count === 0) return 'No conflict markers left.';
  return count === 1 ? 'One conflict left.' : `${count} conflicts left.`;
};

const Sides = ({ line, ours, base, theirs }: Hunk) => (
  <div class="sides">
    <p class="quiet">Line {line}</p>
    <Side name="New base" text={ours} />
    {base !== undefined && <Side name="Common ancestor" text={base} />}
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

// A textarea normalizes line endings and drops a leading newline.
const isKept = (content: string): boolean => !content.includes('\r') && !content.startsWith('\n');

/**
 * Edits a file. The unsaved text stays over the version that it was typed over: if that changed since, the operator sees
 * the difference and decides before a save.
 */
const Edit = ({ call, etag, content, path }: EditProps) => {
  const box = useRef<HTMLDivElement>(null);
  const [typed, setTyped] = useState<{ text: string; over: string }>();
  const { text, over } = typed ?? { text: content, over: content };
  const isOther = over !== content;
  useEffect(() => {
    const field = box.current?.querySelector('textarea');
    if (typed !== undefined && field != null) storeAgain(field);
  }, [over]);
  if (!isKept(content))
    return (
      <p class="quiet">This page cannot keep the file's line endings. Edit it in the worktree.</p>
    );
  return (
    <div ref={box} onReset={() => setTyped(undefined)}>
      <ApiForm
        call={`PUT ${call}`}
        if_match={etag}
        keep
        onRestore={({ content: back }) => back && setTyped({ text: back.typed, over: back.over })}
        class="edit"
      >
        {isOther && (
          <Changed
            path={path}
            before={content}
            after={text}
            take={() => setTyped({ text, over: content })}
          />
        )}
        <label>
          {`${visible(path)}: resolved text`}
          <textarea
            name="content"
            class="code"
            rows={16}
            spellcheck={false}
            defaultValue={over}
            onInput={({ currentTarget: { value } }) =>
              setTyped(value === over ? undefined : { text: value, over })
            }
            data-key="e"
          />
        </label>
        {!isOther && <button type="submit">Save file</button>}
      </ApiForm>
    </div>
  );
};

interface ChangedProps {
  path: string;
  before: string;
  after: string;
  /** Bases the text on the current version. */
  take: () => void;
}

const Changed = ({ path, before, after, take }: ChangedProps) => (
  <div class="box warn" role="status">
    <p>
      <code>{visible(path)}</code> changed since you began editing. Your text would change it as
      follows:
    </p>
    <TextDiff before={before} after={after} />
    <div class="line">
      <button type="button" onClick={take}>
        Keep my version
      </button>
      <button type="reset">Discard my version</button>
    </div>
  </div>
);

/** The files with unsaved text in this browser. */
export const unsavedOf = (id: string, files: readonly ConflictFile[]): readonly ConflictFile[] =>
  files.filter(({ path }) => hasUnsent(`PUT ${callOf(id, path)}`));

const callOf = (id: string, path: string): string =>
  `/cases/${id}/editor/files?path=${encodeURIComponent(path)}`;

/** A conflict between the markers of a file. */
interface Hunk {
  /** The line of the first marker, from 1. */
  line: number;
  /** The text of the new base. */
  ours: string;
  /** The text of the common ancestor; undefined without diff3 markers. */
  base: string | undefined;
  /** The text of the branch. */
  theirs: string;
}

type SideName = 'ours' | 'base' | 'theirs';

const MARKS: readonly (readonly [RegExp, SideName | 'end'])[] = [
  [/^<{7}(?: |$)/, 'ours'],
  [/^\|{7}(?: |$)/, 'base'],
  [/^={7}$/, 'theirs'],
  [/^>{7}(?: |$)/, 'end'],
];

/** Parses the conflicts of a file. Markers out of order are text. */
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
  line,
  ours: ours.join('\n'),
  theirs: theirs.join('\n'),
  base: base.length === 0 ? undefined : base.join('\n'),
});
