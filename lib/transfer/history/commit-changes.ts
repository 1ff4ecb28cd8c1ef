import type { FileProblem } from '../../../store/front-matter/problem.ts';
import { CASE_FILE } from '../../../store/layout.ts';
import { freshItem } from '../../../store/reconcile/fresh-item.ts';
import {
  allItems,
  isKnownPlace,
  isMissing,
  itemIn,
  itemOf,
} from '../../../store/reconcile/items.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { FileStatus } from '../../tools/git/read/status.ts';
import type { GitAt, GitWorktree, WithGit } from '../../tools/git/run/git.ts';
import {
  type Changed,
  type CommitPlace,
  homeOf,
  inTheMiddle,
  uncommitted,
} from '../../tools/git/write/commit.ts';
import { commitOnly, finishCommit } from '../../tools/git/write/commit-only.ts';
import {
  type CommittedPicture,
  caseMessage,
  pictureOf,
  workspaceMessage,
} from './commit-message.ts';

/** Work items by id, each as it was when it was last committed. */
export type CommittedPictures = Map<string, CommittedPicture>;

/** The Work items that changed, by id; `all`: everything in the workspace is looked through. */
export interface Due {
  ids: ReadonlySet<string>;
  all: boolean;
}

/**
 * Commits what changed, one commit for each Work item and one for the rest. Undefined when that is done; else why not
 * now. Throws what git throws.
 */
export const autocommitChanges = async (
  { git, store }: WithGit & WithStore,
  told: CommittedPictures,
  due: Due,
): Promise<string | undefined> => {
  const home = await homeOf(git, store.layout.root);
  if (home === undefined) return 'the workspace is in no git repository: run dossier init';
  return git.turn(home.repository, (now) => commitIn(now, home, { store, told, due }));
};

interface Work {
  store: Store;
  told: CommittedPictures;
  due: Due;
}

const commitIn = async (
  git: GitAt<GitWorktree>,
  home: CommitPlace,
  work: Work,
): Promise<string | undefined> => {
  const obstacle = inTheMiddle(home.repository);
  if (obstacle !== undefined) return obstacle;
  const scratch = work.store.layout.tmp;
  await finishCommit(git, scratch);
  // Before git looks: what changes from now on is told by the commit that holds it.
  const now = picturesOf(work);
  const places = placesOf(work);
  const paths = places.map((place) => home.prefix + place);
  const { branch, changed, left } = await uncommitted(git, paths);
  if (branch === null) return 'no branch is checked out';
  tellUncommitted(work.store, { places, left, prefix: home.prefix });
  const commit = (message: string, files: readonly Changed[]): Promise<void> => {
    const inTree = files.map((file) => ({ ...file, path: home.prefix + file.path }));
    return commitOnly(git, { changed: inTree, message, scratch });
  };
  for (const [id, files] of byItem(work, home, changed)) {
    if (id === '') {
      await commit(workspaceMessage(files), files);
      continue;
    }
    // What git saw may be newer than what was read; of what is gone or moved is known in a moment which of both it is.
    const item = await freshItem(work.store, id, true);
    if (isMissing(work.store, id)) {
      now.delete(id);
      continue;
    }
    const picture = item && pictureOf(item);
    await commit(caseMessage(work.told.get(id), picture, files), files);
    now.set(id, picture);
  }
  retell(work.told, now);
  return undefined;
};

/** The Work items that are due as they are now; undefined where one is gone. */
const picturesOf = ({ store, told, due }: Work): Map<string, CommittedPicture | undefined> => {
  const ids = due.all ? [...told.keys(), ...allItems(store).map(({ id }) => id)] : [...due.ids];
  return new Map(
    ids.map((id) => {
      const item = itemOf(store, id);
      return [id, item && pictureOf(item)];
    }),
  );
};

const retell = (
  told: CommittedPictures,
  now: ReadonlyMap<string, CommittedPicture | undefined>,
): void => {
  for (const [id, picture] of now) {
    if (picture === undefined) told.delete(id);
    else told.set(id, picture);
  }
};

const EVERYTHING = ['workspace.md', '.gitignore', '.gitattributes', 'webhooks', 'memory', 'cases'];

// Many places on a command line cost git more than looking everywhere.
const MANY = 50;

const placesOf = ({ store, told, due }: Work): string[] => {
  if (due.all || due.ids.size > MANY) return EVERYTHING;
  const dirs = [...due.ids].flatMap((id) => [told.get(id)?.dir, itemOf(store, id)?.dir]);
  return [...new Set(dirs.filter((dir) => dir !== undefined))];
};

/** The changed files of each Work item, by its id; those of none under ''. What may have moved is left for later. */
const byItem = (work: Work, { prefix }: CommitPlace, changed: readonly Changed[]) => {
  const { store, told } = work;
  const before = new Map([...told].map(([id, { dir }]) => [dir, id]));
  const running = unsettled(store);
  const groups = new Map<string, Changed[]>();
  const made = changed
    .map(({ path }) => path.slice(prefix.length))
    .filter(isUnknownCase(store, before));
  for (const file of changed) {
    const path = file.path.slice(prefix.length);
    // Made this moment: it is committed by its own name as soon as it is known.
    if (made.some((each) => path.startsWith(each.slice(0, -CASE_FILE.length)))) continue;
    const dir = dirOf(path, (each) => itemIn(store, each) !== undefined || before.has(each));
    const id = itemIn(store, dir)?.id ?? before.get(dir) ?? '';
    if (isMissing(store, id)) continue;
    if (running.has(id) && path.startsWith(`${dir}/sessions/`)) continue;
    groups.set(id, [...(groups.get(id) ?? []), { ...file, path }]);
  }
  return groups;
};

const isUnknownCase =
  (store: Store, before: ReadonlyMap<string, string>) =>
  (path: string): boolean => {
    if (!path.startsWith('cases/') || !path.endsWith(`/${CASE_FILE}`)) return false;
    const dir = path.slice(0, -CASE_FILE.length - 1);
    return !isKnownPlace(store, dir) && !before.has(dir);
  };

const dirOf = (path: string, isItem: (dir: string) => boolean): string => {
  let dir = path;
  while (dir !== '' && !isItem(dir)) dir = dir.slice(0, Math.max(0, dir.lastIndexOf('/')));
  return dir;
};

// What a session that runs writes is committed when it has come to rest.
const unsettled = ({ journal }: Store): Set<string> =>
  new Set(
    [...journal.runs.values()]
      .filter(({ status }) => status === 'planning' || status === 'working')
      .map(({ case_id }) => case_id),
  );

/** Every Work item as it is now: what is committed first is told as a change from this. */
export const tellAll = (store: Store): CommittedPictures =>
  new Map(allItems(store).map((item) => [item.id, pictureOf(item)]));

const OWNER = 'autocommit';

interface Look {
  /** What was looked at, from the workspace. */
  places: readonly string[];
  left: readonly FileStatus[];
  /** Of the workspace in its repository. */
  prefix: string;
}

/** Tells which files the daemon leaves to the operator to commit, until it finds them committed. */
export const tellUncommitted = ({ problems }: Store, { places, left, prefix }: Look): void => {
  const isLookedAt = ({ file }: FileProblem): boolean =>
    places.some((place) => file === place || file.startsWith(`${place}/`));
  const elsewhere = problems.of(OWNER).filter((problem) => !isLookedAt(problem));
  problems.set(OWNER, [...elsewhere, ...left.map((file) => problemOf(file, prefix))]);
};

/** Nobody wants them committed any more. */
export const forgetUncommitted = ({ problems }: Store): void => problems.set(OWNER, []);

const problemOf = ({ path, repository }: FileStatus, prefix: string): FileProblem => ({
  file: path.slice(prefix.length),
  code: 'not_committed',
  message: repository ? NESTED : STAGED,
});

const STAGED =
  'It is not committed, for something of it is staged. git commit keeps what you staged; git restore --staged gives the file back to autocommit';
const NESTED =
  'It is not committed, for it is a git repository of its own. Remove its .git, or list it in .gitignore';
