import type { EditorEntry } from '../../../store/records/editor.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { listTreeFolder, type TreeEntry } from '../../../store/tree/list.ts';
import { notFound } from '../../errors.ts';
import type { Service } from '../../service.ts';
import { ignoredPaths } from '../../tools/git/read/ignored.ts';
import { openWorktree, treeOf } from './place.ts';

export interface ListQuery {
  path: string;
  limit: number;
  after?: string | undefined;
}

/** A page of what is in a directory of the worktree, by name, with what git ignores marked: git is asked once. */
export const listDirectory = async (
  service: Service,
  caseId: string,
  { path, ...page }: ListQuery,
): Promise<{ entries: EditorEntry[]; more: boolean }> => {
  const worktree = await openWorktree(service, caseId);
  const found = await listTreeFolder(treeOf(service, worktree), path, page);
  if (found === undefined) throw notFound('directory', path);
  return { ...found, entries: await marked(service, worktree, found.entries) };
};

const marked = async (
  { git }: Service,
  worktree: WorktreeRecord,
  entries: readonly TreeEntry[],
): Promise<EditorEntry[]> => {
  const asked = entries.filter(({ kind }) => kind !== 'other').map(({ path }) => path);
  const ignored = await ignoredPaths(git, worktree, asked);
  return entries.map((entry) => ({ ...entry, ignored: ignored?.has(entry.path) ?? null }));
};
