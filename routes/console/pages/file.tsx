import { Fragment } from 'preact';
import { useRef } from 'preact/hooks';
import type { Case, Data, Session } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { orProblem } from '../common/load.ts';
import { type Api, definePage, followsItem, type ProblemSummary } from '../common/page.ts';
import type { DiskFile } from '../editor/disk.ts';
import type { EditorProps } from '../editor/editor.tsx';
import { oneLine } from '../parts/diff/rows.ts';
import { isBrowser } from '../parts/form.tsx';
import { Item } from '../parts/frames.tsx';
import { Copy, OpenInEditor } from '../parts/links.tsx';
import { LoadFailed } from '../parts/problems.tsx';
import { useLoaded } from '../parts/use-loaded.ts';

type Entry = Data<'GET /cases/{id}/editor/directories'>[number];

interface TextFile extends DiskFile {
  size: number;
  binary: boolean;
  /** Only the beginning is in the document; the browser loads the whole file. */
  isCut: boolean;
}

interface FileShown {
  item: Case;
  root: string | undefined;
  /** The file; undefined for a directory. */
  path: string | undefined;
  folder: string;
  entries: Entry[];
  file: TextFile | undefined;
  /** Why it cannot be shown. */
  problem: ProblemSummary | undefined;
  /** The session that may write to the worktree. */
  writer: Session | undefined;
}

const View = (shown: FileShown) => {
  const { item, path, folder, entries, problem, writer } = shown;
  const at = `/dashboard/cases/${item.id}/files`;
  return (
    <Item of={item} tab="Files">
      <div class="line file-head">
        <Way at={at} path={path ?? folder} isFile={path !== undefined} />
        <Elsewhere {...shown} />
      </div>
      {writer !== undefined && path !== undefined && <Writer of={writer} />}
      {problem !== undefined && (
        <div class="box warn" role="note">
          <strong>{problem.title}.</strong> {visible(problem.detail)}
        </div>
      )}
      {path !== undefined && <File {...shown} path={path} key={path} />}
      {path === undefined && problem === undefined && (
        <Folder at={at} folder={folder} entries={entries} />
      )}
    </Item>
  );
};

const Elsewhere = ({ root, path, folder }: FileShown) => {
  if (root === undefined) return null;
  const below = path ?? folder;
  return (
    <>
      <Copy text={below === '' ? root : below} label="Copy path" keys="y" />
      <OpenInEditor root={root} {...(below !== '' && { path: below })} class="button" />
    </>
  );
};

const Way = ({ at, path, isFile }: { at: string; path: string; isFile: boolean }) => {
  const names = path === '' ? [] : path.split('/');
  return (
    <nav class="file-way" aria-label="Path">
      <a href={at} data-key="u">
        Worktree
      </a>
      {names.map((name, place) => (
        <Fragment key={place}>
          {' / '}
          {isFile && place === names.length - 1 ? (
            <strong>{oneLine(name)}</strong>
          ) : (
            <a href={`${at}?folder=${encodeURIComponent(names.slice(0, place + 1).join('/'))}`}>
              {oneLine(name)}
            </a>
          )}
        </Fragment>
      ))}
    </nav>
  );
};

const Writer = ({ of: { id, case_id, provider, status } }: { of: Session }) => (
  <p class="box warn" role="note">
    {status === 'planning'
      ? `A session (${provider}) is planning in this worktree. You can save once it has ended. Unsaved text is stored in this browser. `
      : `A session (${provider}) is working in this worktree and may change this file. `}
    <a href={`/dashboard/cases/${case_id}/sessions/${id}`}>Show the session</a>
  </p>
);

const File = (shown: FileShown & { path: string }) => {
  const { item, path, root } = shown;
  // A file that was deleted on disk stays open, because it may have unsaved text.
  const before = useRef<TextFile | undefined>(undefined);
  const file = shown.file ?? before.current;
  before.current = file;
  const {
    value: Editor,
    failed,
    retry,
  } = useLoaded<(props: EditorProps) => preact.JSX.Element>(
    async () => (await import('../editor/editor.tsx')).FileEditor,
  );
  if (file === undefined) return null;
  if (file.binary)
    return <p class="empty">{`Binary file (${file.size} bytes). It cannot be edited here.`}</p>;
  if (Editor !== undefined && root !== undefined && !file.isCut)
    return <Editor id={item.id} path={path} root={root} file={file} etag={shown.file?.etag} />;
  return (
    <>
      {failed && <LoadFailed what="The editor" retry={retry} />}
      <section
        class="diff-text"
        aria-label="Text"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
        tabIndex={0}
      >
        <pre>{visible(file.content)}</pre>
      </section>
      {file.isCut && (
        <p class="quiet">
          Only the beginning is shown. Open the file in your editor to read all of it.
        </p>
      )}
    </>
  );
};

interface FolderProps {
  /** The address of the files page. */
  at: string;
  folder: string;
  entries: readonly Entry[];
}

/** The most entries in one response. */
const PAGE = 1000;

/** The contents of a directory of the worktree. */
const Folder = ({ at, folder, entries }: FolderProps) => {
  if (entries.length === 0) return <p class="empty">This directory is empty.</p>;
  const last = entries.at(-1)?.name ?? '';
  return (
    <>
      <ul class="bare file-list">
        {inOrder(entries).map((entry) => (
          <li key={entry.path} data-row={entry.path} tabIndex={-1}>
            <Name at={at} of={entry} />
            {entry.ignored === true && <span class="tag">Ignored</span>}
          </li>
        ))}
      </ul>
      {entries.length === PAGE && (
        <a href={`${at}?${new URLSearchParams({ folder, after: last })}`}>More files</a>
      )}
    </>
  );
};

const inOrder = (entries: readonly Entry[]): Entry[] => [
  ...entries.filter(({ kind }) => kind === 'directory'),
  ...entries.filter(({ kind }) => kind !== 'directory'),
];

const Name = ({ at, of: { name, path, kind } }: { at: string; of: Entry }) => {
  const field = { directory: 'folder', file: 'path' }[kind as string];
  if (field === undefined)
    return (
      <>
        {oneLine(name)}{' '}
        <span class="quiet">{kind === 'link' ? 'symbolic link' : 'cannot be opened here'}</span>
      </>
    );
  return (
    <a href={`${at}?${field}=${encodeURIComponent(path)}`} data-key="o">
      {oneLine(name)}
      {kind === 'directory' && '/'}
    </a>
  );
};

/** The part of a file in the document. In characters. */
const MOST = 60_000;

const fileOf = async ({ request }: Api, id: string, path: string) => {
  const { value, problem } = await orProblem(
    request('GET /cases/{id}/editor/files', { id, query: { path } }),
  );
  if (value?.data === undefined) return { entries: [], file: undefined, problem };
  const { content, binary, size } = value.data;
  const isCut = content.length > MOST && !isBrowser;
  const text = isCut ? content.slice(0, MOST) : content;
  const file = { content: binary ? '' : text, size, binary, etag: value.etag, isCut };
  return { entries: [], file, problem };
};

const folderOf = async ({ call }: Api, id: string, path: string, after: string | undefined) => {
  const query = { path, ...(after !== undefined && { after }) };
  const { value, problem } = await orProblem(
    call('GET /cases/{id}/editor/directories', { id, query }),
  );
  return { entries: value ?? [], file: undefined, problem };
};

/** A file of the worktree in an editor, or the contents of a directory. */
export const page = definePage<FileShown>({
  title: ({ path, folder, item }) => `${oneLine(path ?? folder) || 'Files'} · ${item.title}`,
  load: async (api, { params: { id = '' }, query: { path, folder = '', after } }) => {
    const { call } = api;
    const [item, sessions, worktree, looked] = await Promise.all([
      call('GET /cases/{id}', { id }),
      call('GET /cases/{id}/sessions', { id }),
      orProblem(call('GET /api/worktrees/{case_id}/status', { case_id: id })),
      path === undefined ? folderOf(api, id, folder, after) : fileOf(api, id, path),
    ]);
    const writer = sessions.find(({ status }) => status === 'working' || status === 'planning');
    return { item, root: worktree.value?.path, path, folder, ...looked, writer };
  },
  View,
  follows: followsItem,
});
