import { useMemo, useRef, useState } from 'preact/hooks';
import { useVirtual } from '../virtual-rows.ts';
import { type ListedFile, NAMED_RULE, type TreeRow, treeOf } from './files.ts';
import { Name } from './name.tsx';
import { oneLine } from './rows.ts';

/** The marks of a file in the list, and its actions. */
interface Marks {
  viewed: (at: number) => boolean;
  /** The patch changed since this browser last showed it. */
  isNew: (at: number) => boolean;
  onView: (at: number) => void;
  onOpen: (at: number) => void;
}

interface AsideProps {
  files: readonly ListedFile[];
  viewed: number;
  hasLooked: boolean;
  marks: Marks;
}

/** The files of a diff as a tree. Closed on a small screen, so that the changes come first. */
export const Aside = ({ files, viewed, hasLooked, marks }: AsideProps) => {
  const [isOpen] = useState(innerWidth >= NARROW);
  const [isSince, setSince] = useState(false);
  const [words, setWords] = useState('');
  const news = [...files.keys()].filter(marks.isNew).length;
  const wanted = words.trim().toLowerCase();
  const only = (at: number): boolean =>
    (!isSince || marks.isNew(at)) && (files[at]?.path.toLowerCase().includes(wanted) ?? false);
  return (
    <details class="diff-aside" open={isOpen}>
      <summary>{`Files: ${viewed} of ${files.length} viewed`}</summary>
      <input
        type="search"
        aria-label="Filter files"
        placeholder="Filter files"
        data-key="/"
        value={words}
        onInput={({ currentTarget }) => setWords(currentTarget.value)}
      />
      {hasLooked && (
        <label>
          <input type="checkbox" checked={isSince} onClick={() => setSince(!isSince)} />
          {` Changed since your last visit (${news})`}
        </label>
      )}
      <Tree files={files} marks={marks} only={only} />
    </details>
  );
};

const NARROW = 640;

/** The height of a row of the tree, in pixels. */
const ROW = 26;

type TreeProps = Pick<AsideProps, 'files' | 'marks'> & { only: (at: number) => boolean };

const Tree = ({ files, marks, only }: TreeProps) => {
  const box = useRef<HTMLDivElement>(null);
  const [folded, setFolded] = useState<ReadonlySet<string>>(new Set());
  const rows = useMemo(() => treeOf(files, only, folded), [files, only, folded]);
  const virtual = useVirtual({ count: rows.length, height: ROW, box });
  const fold = (key: string, isFolded: boolean): void => {
    const others = [...folded].filter((one) => one !== key);
    setFolded(new Set(isFolded ? [...others, key] : others));
  };
  const seen = virtual.getVirtualItems().filter(({ index }) => index < rows.length);
  if (rows.length === 0) return <p class="quiet">No files match.</p>;
  return (
    <div class="diff-tree" style={{ '--row': `${ROW}px` }} ref={box}>
      <div style={{ height: `${virtual.getTotalSize()}px` }}>
        <ul
          class="bare"
          style={{ transform: `translateY(${seen[0]?.start ?? 0}px)` }}
          aria-label="Files"
        >
          {seen.map(({ index }) => {
            const row = rows[index] as TreeRow;
            if (row.kind === 'group') return <Group key={row.key} of={row} />;
            if (row.kind === 'folder') return <Folder key={row.key} of={row} fold={fold} />;
            return <File key={row.key} of={row} file={files[row.at] as ListedFile} marks={marks} />;
          })}
        </ul>
      </div>
    </div>
  );
};

type RowOf<K extends TreeRow['kind']> = Extract<TreeRow, { kind: K }>;

const Group = ({ of: { name, count } }: { of: RowOf<'group'> }) => (
  <li>
    <h2 title={name === 'Files' ? undefined : NAMED_RULE}>{`${name} (${count})`}</h2>
  </li>
);

interface FolderProps {
  of: RowOf<'folder'>;
  fold: (key: string, isFolded: boolean) => void;
}

const Folder = ({ of: { key, name, depth, count, isOpen }, fold }: FolderProps) => (
  <li
    class="diff-folder"
    data-row={key}
    tabIndex={-1}
    style={{ '--depth': depth }}
    onKeyDown={(event) => {
      if (event.key === 'ArrowLeft') fold(key, true);
      if (event.key === 'ArrowRight') fold(key, false);
    }}
  >
    <button
      type="button"
      class="name"
      data-key="f"
      title={`Fold or unfold ${oneLine(name)}`}
      aria-label={oneLine(name)}
      aria-expanded={isOpen}
      onClick={() => fold(key, isOpen)}
    >
      <span aria-hidden="true">{isOpen ? '▾ ' : '▸ '}</span>
      <Name of={oneLine(name)} />
    </button>
    <span class="quiet">{count}</span>
  </li>
);

interface FileProps {
  of: RowOf<'file'>;
  file: ListedFile;
  marks: Marks;
}

const File = ({ of: { at, name, depth }, file, marks }: FileProps) => {
  const { path, kind, added, removed } = file;
  const isViewed = marks.viewed(at);
  return (
    <li
      class={`diff-file${isViewed ? ' viewed' : ''}`}
      data-row={at}
      tabIndex={-1}
      style={{ '--depth': depth }}
      onFocus={() => marks.onOpen(at)}
    >
      <input
        type="checkbox"
        data-key="v"
        title="Viewed"
        aria-label={`Viewed: ${oneLine(path)}`}
        checked={isViewed}
        onClick={() => marks.onView(at)}
      />
      <button
        type="button"
        class="name"
        title={oneLine(path)}
        aria-label={oneLine(name)}
        onClick={() => marks.onOpen(at)}
      >
        <Name of={oneLine(name)} />
      </button>
      {marks.isNew(at) && (
        <span class="tag plan" title="Changed since your last visit">
          Changed
        </span>
      )}
      {kind !== 'changed' && <span class="tag">{kind}</span>}
      <span class="quiet">{`+${added} −${removed}`}</span>
    </li>
  );
};
