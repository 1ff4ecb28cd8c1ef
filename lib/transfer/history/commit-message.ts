import { visible } from '../../../store/base/visible.ts';
import type { Item } from '../../../store/reconcile/item.ts';
import { caseOf, caseStateOf } from '../../../store/reconcile/item.ts';
import type { Changed } from '../../tools/git/write/commit.ts';

/** What a commit message is made of: a Work item when it was last committed, or now. */
export interface CommittedPicture {
  dir: string;
  title: string;
  state: string;
}

export const pictureOf = (item: Item): CommittedPicture => ({
  dir: item.dir,
  title: visible(caseOf(item).matter.title),
  state: caseStateOf(item),
});

/** `case <title>: <what changed>`. Paths begin at the workspace. */
export const caseMessage = (
  before: CommittedPicture | undefined,
  now: CommittedPicture | undefined,
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

/** What is no Work item's: settings, webhooks, what lies around. */
export const workspaceMessage = (files: readonly Changed[]): string =>
  `workspace: ${[...new Set(files.map(({ path }) => named(path)))].join(', ')}`;

// The folders that changed, and files that are in none.
const partsOf = (files: readonly Changed[], dir: string): string[] => {
  const inside = files.filter(({ path }) => path.startsWith(`${dir}/`));
  return [...new Set(inside.map(({ path }) => firstName(path.slice(dir.length + 1))))];
};

const named = (path: string): string => (path === 'workspace.md' ? 'settings' : firstName(path));

const firstName = (path: string): string => path.split('/', 1)[0] ?? path;
