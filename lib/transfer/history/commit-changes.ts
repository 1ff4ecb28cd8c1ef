import { join } from 'node:path';
import { orElse } from '../../../store/base/attempt.ts';
import { groupBy } from '../../../store/base/group-by.ts';
import { dossierCommand } from '../../../store/base/text.ts';
import type { FileProblem } from '../../../store/front-matter/problem.ts';
import { readRegularFile } from '../../../store/front-matter/record-file.ts';
import { CASE_FILE } from '../../../store/layout.ts';
import { freshItem } from '../../../store/reconcile/fresh-item.ts';
import {
  allItems,
  isKnownDirectory,
  isMissing,
  itemIn,
  itemOf,
} from '../../../store/reconcile/items.ts';
import { hasRecord } from '../../../store/sessions/sessions.ts';
import { hasSecret } from '../../../store/settings/read-webhooks.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { syncCommits } from '../../code/worktrees/recovery/sync-work.ts';
import { headCommit } from '../../tools/git/read/repository.ts';
import type { GitAt, GitWorktree, WithGit } from '../../tools/git/run/git.ts';
import {
  type Changed,
  type CommitPlace,
  homeOf,
  type LeftFile,
  operationInProgress,
  uncommitted,
} from '../../tools/git/write/commit.ts';
import { commitOnly, finishCommit } from '../../tools/git/write/commit-only.ts';
import {
  type CommittedSnapshot,
  caseMessage,
  snapshotOf,
  workspaceMessage,
} from './commit-message.ts';

/** Work items by id, as of their last commit. */
export type CommittedSnapshots = Map<string, CommittedSnapshot>;

/** The ids of changed Work items; with `all`, the whole workspace is checked. */
export interface ChangedItems {
  ids: ReadonlySet<string>;
  all: boolean;
}

/**
 * Commits changes, one commit for each Work item and one for the rest. Returns undefined, or the reason why nothing can be
 * committed now. Throws errors of git.
 */
export const autocommitChanges = async (
  { git, store }: WithGit & WithStore,
  told: CommittedSnapshots,
  due: ChangedItems,
): Promise<string | undefined> => {
  const home = await homeOf(git, store.layout.root);
  if (home === undefined)
    return `the workspace is not in a git repository: run \`${dossierCommand('init', store.layout.root)}\``;
  return git.turn(home.repository, (now) => commitIn(now, home, { store, told, due }));
};

interface Work {
  store: Store;
  told: CommittedSnapshots;
  due: ChangedItems;
}

const commitIn = async (
  git: GitAt<GitWorktree>,
  home: CommitPlace,
  work: Work,
): Promise<string | undefined> => {
  const obstacle = operationInProgress(home.repository);
  if (obstacle !== undefined) return obstacle;
  const scratch = work.store.layout.tmp;
  await finishCommit(git, scratch);
  // Taken before `git status`: later changes are described by the commit that has them.
  const now = snapshotsOf(work);
  const places = placesOf(work);
  const { branch, changed, left } = await lookAt(git, home, work, places);
  if (branch === null) return 'no branch is checked out';
  const before = await headCommit(git);
  reportUncommitted(work.store, { places, left, prefix: home.prefix });
  const commit = (message: string, files: readonly Changed[]): Promise<void> => {
    const inTree = files.map((file) => ({ ...file, path: home.prefix + file.path }));
    return commitOnly(git, { changed: inTree, message, scratch });
  };
  const commitItem = async (id: string, files: readonly Changed[]): Promise<void> => {
    // git may have seen newer files than the index. Whether a missing directory was moved or deleted is decided later.
    const item = await freshItem(work.store, id, true);
    if (isMissing(work.store, id)) return void now.delete(id);
    const snapshot = item && snapshotOf(item);
    const known = work.told.get(id);
    const whole =
      known === undefined || known.dir === snapshot?.dir
        ? files
        : await filesOf(git, home, work, id);
    await commit(caseMessage(known, snapshot, whole), whole);
    now.set(id, snapshot);
  };
  for (const [id, files] of changed)
    await (id === '' ? commit(workspaceMessage(files), files) : commitItem(id, files));
  await syncCommits(
    { store: work.store, git },
    { ...home.repository, branch, base_commit: before },
  );
  updateCommitted(work.told, now);
  return undefined;
};

const lookAt = async (
  git: GitAt<GitWorktree>,
  home: CommitPlace,
  work: Work,
  places: readonly string[],
) => {
  const paths = places.map((place) => home.prefix + place);
  const { branch, changed, left } = await uncommitted(git, paths);
  const isSafe = ({ path }: Changed): boolean =>
    !isSecret(work.store, path.slice(home.prefix.length));
  return { branch, left, changed: groupByItem(work, home, changed.filter(isSafe)) };
};

// Of a Work item that was moved or deleted: `git status` may have run meanwhile, and have listed only a part of that.
const filesOf = async (
  git: GitAt<GitWorktree>,
  home: CommitPlace,
  work: Work,
  id: string,
): Promise<Changed[]> => {
  const due = { ids: new Set([id]), all: false };
  const { changed } = await lookAt(git, home, work, placesOf({ ...work, due }));
  return changed.get(id) ?? [];
};

/** The Work items to commit as they are now; undefined for one that is gone. */
const snapshotsOf = ({ store, told, due }: Work): Map<string, CommittedSnapshot | undefined> => {
  const ids = due.all ? [...told.keys(), ...allItems(store).map(({ id }) => id)] : [...due.ids];
  return new Map(
    ids.map((id) => {
      const item = itemOf(store, id);
      return [id, item && snapshotOf(item)];
    }),
  );
};

const updateCommitted = (
  told: CommittedSnapshots,
  now: ReadonlyMap<string, CommittedSnapshot | undefined>,
): void => {
  for (const [id, snapshot] of now) {
    if (snapshot === undefined) told.delete(id);
    else told.set(id, snapshot);
  }
};

const EVERYTHING = ['workspace.md', '.gitignore', '.gitattributes', 'webhooks', 'memory', 'cases'];

// With many paths git is slower than without any.
const MANY = 50;

const placesOf = ({ store, told, due }: Work): string[] => {
  if (due.all || due.ids.size > MANY) return EVERYTHING;
  const dirs = [...due.ids].flatMap((id) => [told.get(id)?.dir, itemOf(store, id)?.dir]);
  return [...new Set(dirs.filter((dir) => dir !== undefined))];
};

/** The changed files by Work item id, other files under ''. Files of missing directories are left for later. */
const groupByItem = (work: Work, { prefix }: CommitPlace, changed: readonly Changed[]) => {
  const { store, told } = work;
  const before = new Map([...told].map(([id, { dir }]) => [dir, id]));
  const running = unsettled(store);
  const own = changed.map((file) => ({ ...file, path: file.path.slice(prefix.length) }));
  const made = own.map(({ path }) => path).filter(isUnknownCase(store, before));
  return groupBy(own, ({ path }) => {
    // A Work item that is not in the index yet is committed once it is.
    if (made.some((each) => path.startsWith(each.slice(0, -CASE_FILE.length)))) return undefined;
    const dir = dirOf(path, (each) => itemIn(store, each) !== undefined || before.has(each));
    const id = itemIn(store, dir)?.id ?? before.get(dir) ?? '';
    if (isMissing(store, id)) return undefined;
    return running.has(id) && path.startsWith(`${dir}/sessions/`) ? undefined : id;
  });
};

// What git has once, it keeps. The file is reported as `secret_in_webhook`.
const isSecret = ({ layout }: Store, path: string): boolean => {
  if (!/(?:^|\/)webhooks\/[^/]+\.md$/.test(path)) return false;
  // A link is committed as one.
  const bytes = orElse(() => readRegularFile(layout.root, join(layout.root, path)), undefined);
  return bytes !== undefined && hasSecret(bytes.toString('utf8'));
};

const isUnknownCase =
  (store: Store, before: ReadonlyMap<string, string>) =>
  (path: string): boolean => {
    if (!path.startsWith('cases/') || !path.endsWith(`/${CASE_FILE}`)) return false;
    const dir = path.slice(0, -CASE_FILE.length - 1);
    return !isKnownDirectory(store, dir) && !before.has(dir);
  };

const dirOf = (path: string, isItem: (dir: string) => boolean): string => {
  let dir = path;
  while (dir !== '' && !isItem(dir)) dir = dir.slice(0, Math.max(0, dir.lastIndexOf('/')));
  return dir;
};

// Files of a running session are committed once it stops.
const unsettled = (store: Store): Set<string> =>
  new Set(
    [...store.journal.runs]
      .filter(([, { status }]) => status === 'planning' || status === 'working')
      // On a branch without the session there is nothing of it to wait for.
      .filter(([id, { case_id }]) => hasRecord(store, case_id, id))
      .map(([, { case_id }]) => case_id),
  );

/** All Work items as they are now, the base for the messages of the first commits. */
export const currentSnapshots = (store: Store): CommittedSnapshots =>
  new Map(allItems(store).map((item) => [item.id, snapshotOf(item)]));

const OWNER = 'autocommit';

interface Look {
  /** The checked paths, relative to the workspace. */
  places: readonly string[];
  /** Files that are left to the operator. */
  left: readonly LeftFile[];
  /** The path of the workspace in its repository. */
  prefix: string;
}

/** Reports files that autocommit leaves to the operator as problems, until they are committed. */
const reportUncommitted = ({ problems }: Store, { places, left, prefix }: Look): void => {
  const isLookedAt = ({ file }: FileProblem): boolean =>
    places.some((place) => file === place || file.startsWith(`${place}/`));
  const elsewhere = problems.of(OWNER).filter((problem) => !isLookedAt(problem));
  problems.set(OWNER, [...elsewhere, ...left.map((file) => problemOf(file, prefix))]);
};

/** Clears the problems, after autocommit was turned off. */
export const clearUncommitted = ({ problems }: Store): void => problems.set(OWNER, []);

const problemOf = (left: LeftFile, prefix: string): FileProblem => ({
  file: left.path.slice(prefix.length),
  code: 'not_committed',
  message: messageFor(left),
});

const messageFor = ({ repository, unfiltered }: LeftFile): string => {
  if (unfiltered) return UNFILTERED;
  return repository ? NESTED : STAGED;
};

const UNFILTERED =
  'The file is not committed automatically, since the repository has a filter for it, which the daemon does not run. Commit it with `git commit`';

const STAGED =
  'The file is not committed automatically, since part of it is staged. Commit it with `git commit`, or unstage it with `git restore --staged`';
const NESTED =
  'The directory is not committed, since it is a git repository. Remove its .git, or list it in .gitignore';
