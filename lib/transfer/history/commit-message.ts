import { visible } from '../../../store/base/visible.ts';
import { caseOf, caseStateOf, type Item } from '../../../store/reconcile/item.ts';
import type { Changed } from '../../tools/git/write/commit.ts';

/** The fields of a Work item that a commit message uses. */
export interface CommittedSnapshot {
  dir: string;
  title: string;
  state: string;
}

export const snapshotOf = (item: Item): CommittedSnapshot => ({
  dir: item.dir,
  title: visible(caseOf(item).matter.title),
  state: caseStateOf(item),
});

/** `case <title>: <what changed>`. Paths are relative to the workspace. */
export const caseMessage = (
  before: CommittedSnapshot | undefined,
  now: CommittedSnapshot | undefined,
  files: readonly Changed[],
): string => {
  const title = (now ?? before)?.title ?? 'unknown';
  if (now === undefined) return `case ${title}: removed`;
  const file = `${now.dir}/case.md`;
  const moved = before !== undefined && before.dir !== now.dir;
  const isNew = files.some(({ path, change }) => path === file && change === 'added');
  if (isNew && !moved) return `case ${title}: created`;
  const words = [
    ...(moved ? [`moved to ${now.dir}`] : []),
    ...(before !== undefined && before.state !== now.state
      ? [`state ${before.state} to ${now.state}`]
      : []),
  ];
  const parts = partsOf(files, now.dir).filter((part) => part !== 'case.md' || words.length === 0);
  return `case ${title}: ${[...words, ...parts].join(', ')}`;
};

/** The message for files outside of Work items, such as settings and webhooks. */
export const workspaceMessage = (files: readonly Changed[]): string =>
  `workspace: ${[...new Set(files.map(({ path }) => named(path)))].join(', ')}`;

// The changed folders, and the changed files outside of folders.
const partsOf = (files: readonly Changed[], dir: string): string[] => {
  const inside = files.filter(({ path }) => path.startsWith(`${dir}/`));
  return [...new Set(inside.map(({ path }) => firstName(path.slice(dir.length + 1))))];
};

const named = (path: string): string => (path === 'workspace.md' ? 'settings' : firstName(path));

const firstName = (path: string): string => path.split('/', 1)[0] ?? path;
