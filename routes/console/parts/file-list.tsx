import type { Data } from '../../../lib/client/client.ts';
import { oneLine } from './diff/rows.ts';

type Entry = Data<'GET /cases/{id}/editor/directories'>[number];

interface FolderProps {
  /** The address of the files page. */
  at: string;
  folder: string;
  entries: readonly Entry[];
}

/** The most entries in one response. */
const PAGE = 1000;

/** The contents of a directory of the worktree. */
export const Folder = ({ at, folder, entries }: FolderProps) => {
  if (entries.length === 0) return <p class="empty">This directory is empty.</p>;
  const last = entries.at(-1)?.name ?? '';
  return (
    <>
      <ul class="file-list">
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
