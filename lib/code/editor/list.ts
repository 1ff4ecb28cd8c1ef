import { listTreeFolder, type TreeEntry } from '../../../store/fs/worktree/list.ts';
import type { EditorEntry } from '../../../store/records/editor.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { WithStore } from '../../../store/store.ts';
import { notFound } from '../../errors.ts';
import { ignoredPaths } from '../../tools/git/read/ignore-rules.ts';
import type { Git, WithGit } from '../../tools/git/run/git.ts';
import { openWorktree, treeOf } from './place.ts';

interface ListQuery {
  path: string;
  limit: number;
  after?: string | undefined;
}

/** A page of what is in a directory of the worktree, by name, with what git ignores marked: git is asked once. */
export const listEditorDirectory = async (
  { store, git }: WithGit & WithStore,
  caseId: string,
  { path, ...page }: ListQuery,
): Promise<{ entries: EditorEntry[]; more: boolean }> => {
  const worktree = await openWorktree(store, caseId);
  const found = await listTreeFolder(treeOf(store, worktree), path, page);
  if (found === undefined) throw notFound('directory', path);
  return { ...found, entries: await marked(git, worktree, found.entries) };
};

const marked = async (
  git: Git,
  worktree: WorktreeRecord,
  entries: readonly TreeEntry[],
): Promise<EditorEntry[]> => {
  const asked = entries.filter(({ kind }) => kind !== 'other').map(({ path }) => path);
  const ignored = await ignoredPaths(git.at(worktree), asked);
  return entries.map((entry) => ({ ...entry, ignored: ignored?.has(entry.path) ?? null }));
};
