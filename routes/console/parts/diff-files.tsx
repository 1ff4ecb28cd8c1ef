import { useState } from 'preact/hooks';
import { Copy, OpenInEditor } from './copy.tsx';
import { NAMED_RULE } from './diff-named.ts';
import { oneLine } from './diff-rows.ts';

/** A file of a diff, as it stands in the list. */
export interface ListedFile {
  path: string;
  kind: string;
  added: number;
  removed: number;
  /** The approved plan names it; undefined where no plan was approved. */
  isNamed: boolean | undefined;
}

/** What a list of files is shown with, once a browser knows it. */
export interface Marks {
  viewed: (at: number) => boolean;
  /** Its patch is another one than when this browser looked last. */
  isNew: (at: number) => boolean;
  onView: (at: number) => void;
  onOpen: (at: number) => void;
}

interface FilesProps {
  files: readonly ListedFile[];
  /** The worktree, where it is there. */
  root: string | undefined;
  marks?: Marks;
  /** Which of them; default: all. */
  only?: (at: number) => boolean;
}

/** As many as a page is still quick with. */
const SOME = 150;

/** The files of a diff: those that the plan does not name stand first. */
export const DiffFiles = ({ files, only, ...rest }: FilesProps) => {
  const [isWhole, setWhole] = useState(false);
  const all = [...files.keys()].filter((at) => only?.(at) ?? true);
  const shown = isWhole ? all : all.slice(0, SOME);
  const groups = [
    { name: 'Not in the plan', of: shown.filter((at) => files[at]?.isNamed === false) },
    { name: 'In the plan', of: shown.filter((at) => files[at]?.isNamed === true) },
    { name: 'Files', of: shown.filter((at) => files[at]?.isNamed === undefined) },
  ];
  return (
    <div class="diff-files">
      {groups.map(
        ({ name, of }) =>
          of.length > 0 && (
            <section key={name}>
              <h2 title={name === 'Files' ? undefined : NAMED_RULE}>{`${name} (${of.length})`}</h2>
              <ul>
                {of.map((at, place) => (
                  <File
                    key={at}
                    {...{ ...rest, at, file: files[at] as ListedFile }}
                    folder={folderAt(files, of, place)}
                  />
                ))}
              </ul>
            </section>
          ),
      )}
      {all.length === 0 && <p class="quiet">None of the files.</p>}
      {shown.length < all.length && (
        <button type="button" onClick={() => setWhole(true)}>
          {`Show all ${all.length} files`}
        </button>
      )}
    </div>
  );
};

// A folder is said once, above the first of its files.
const folderAt = (files: readonly ListedFile[], of: readonly number[], place: number) => {
  const folder = folderOf(files[of[place] ?? 0]);
  return place > 0 && folderOf(files[of[place - 1] ?? 0]) === folder ? '' : folder;
};

const folderOf = (file: ListedFile | undefined): string =>
  file === undefined ? '' : file.path.slice(0, file.path.lastIndexOf('/') + 1);

interface FileProps extends Pick<FilesProps, 'root' | 'marks'> {
  at: number;
  file: ListedFile;
  folder: string;
}

const File = ({ at, file, folder, root, marks }: FileProps) => {
  const { path, kind, added, removed } = file;
  const name = oneLine(path.slice(path.lastIndexOf('/') + 1));
  const isViewed = marks?.viewed(at) === true;
  return (
    <li
      {...(marks && { 'data-row': `${at}`, tabIndex: -1, onFocus: () => marks.onOpen(at) })}
      class={`diff-file${isViewed ? ' viewed' : ''}`}
    >
      {folder !== '' && <span class="folder">{oneLine(folder)}</span>}
      <span class="line">
        {marks === undefined ? (
          <span title={oneLine(path)}>{name}</span>
        ) : (
          <button type="button" class="name" title={oneLine(path)} onClick={() => marks.onOpen(at)}>
            {name}
          </button>
        )}
        {kind !== 'changed' && <span class="tag">{kind}</span>}
        {marks?.isNew(at) && <span class="tag plan">since my last look</span>}
        <span class="quiet">{`+${added} −${removed}`}</span>
      </span>
      {marks && <Acts {...{ at, path, kind, name, root, marks, isViewed }} />}
    </li>
  );
};

interface ActsProps extends Pick<FileProps, 'at' | 'root'> {
  path: string;
  kind: string;
  name: string;
  marks: Marks;
  isViewed: boolean;
}

const Acts = ({ at, path, kind, name, root, marks, isViewed }: ActsProps) => {
  return (
    <span class="line acts">
      <label>
        <input
          type="checkbox"
          data-key="v"
          title="Viewed"
          checked={isViewed}
          onClick={() => marks.onView(at)}
        />{' '}
        Viewed<span class="unseen"> {name}</span>
      </label>
      {root !== undefined && kind !== 'deleted' && (
        <OpenInEditor root={root} path={path} name={name} />
      )}
      <Copy class="name" text={path} label="Copy path" name={name} />
    </span>
  );
};
