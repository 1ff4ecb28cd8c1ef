import { setTimeout as delay } from 'node:timers/promises';
import { invalidState } from '../../../errors.ts';
import { counted } from '../../../text/wording.ts';
import { settingsText } from '../run/config.ts';
import type { GitAt, GitPlace } from '../run/git.ts';
import { isObject } from './refs.ts';
import { commitOf, currentBranch, shortName, symbolicRef } from './repository.ts';

/** The commit that new work starts from. */
export interface Base {
  /** A branch name if there is one, else what was asked for. */
  name: string;
  commit: string;
  /** Remarks on the choice for the operator, each a sentence. */
  notes: string[];
}

/** The reserved name for the current checkout, even if a branch has this name. */
const CURRENT = 'current';

/**
 * Chooses the named base, else the default branch: the local one unless its upstream is ahead. Fetches nothing. Throws 422 if
 * there is no such branch or commit.
 */
export const chooseBase = async (git: GitAt, named?: string): Promise<Base> => {
  for (let left = LOOKS; left > 0; left -= 1) {
    const found = await firstCommit(git, named);
    if (found !== undefined) return found;
    if (left > 1) await delay(LOOK_AGAIN_MS);
  }
  throw invalidState(
    named === undefined || named === CURRENT
      ? 'The repository has no commit yet. Create one (for example git commit --allow-empty -m start), then try again.'
      : `The repository has no branch or commit ${named}. Name another base.`,
  );
};

// While a gc packs objects and refs, another git may miss them for a moment.
const LOOKS = 3;
const LOOK_AGAIN_MS = 100;

const firstCommit = async (git: GitAt, named: string | undefined): Promise<Base | undefined> => {
  if (named === CURRENT) return currentBase(git);
  if (named !== undefined) return at(git, named);
  const chosen = await defaultBase(git);
  return chosen ?? currentBase(git);
};

const at = async (git: GitAt, name: string): Promise<Base | undefined> => {
  const commit = await commitNamed(git, name);
  return commit === undefined ? undefined : { name, commit, notes: [] };
};

/**
 * The commit that the name of a base means everywhere: that of a branch, before a tag of the same name, which git itself would
 * take. Undefined without either.
 */
export const commitNamed = async (
  git: GitAt<GitPlace>,
  name: string,
): Promise<string | undefined> => {
  const branch = isObject(name) || isOfHead(name) ? undefined : await branchCommit(git, name);
  return branch ?? commitOf(git, name);
};

/** Whether a name such as `HEAD~1` or `@{u}` depends on what is checked out. */
export const isOfHead = (name: string): boolean => /^(?:HEAD|@)(?:$|[~^@{:])/.test(name);

/** The commit of a branch, local or else of a remote (`origin/main`); undefined if there is none. */
export const branchCommit = async (
  git: GitAt<GitPlace>,
  name: string,
): Promise<string | undefined> =>
  (await commitOf(git, `refs/heads/${name}`)) ?? commitOf(git, `refs/remotes/${name}`);

const currentBase = async (git: GitAt): Promise<Base | undefined> => {
  const current = await currentBranch(git);
  const branch = current === undefined ? undefined : await at(git, current);
  return branch ?? at(git, 'HEAD');
};

const defaultBase = async (git: GitAt): Promise<Base | undefined> => {
  const current = await currentBranch(git);
  const branch = await defaultBranch(git, current);
  if (branch === undefined) return undefined;
  const base = await localOrUpstream(git, branch);
  if (base === undefined || branch === current) return base;
  const here = current ?? 'the commit that is checked out';
  return { ...base, notes: [`For ${here}: \`--base ${CURRENT}\`.`, ...base.notes] };
};

// The remote's default branch; else the default name of new repositories, if there is such a branch.
const defaultBranch = async (
  git: GitAt,
  current: string | undefined,
): Promise<string | undefined> => {
  const remote = await symbolicRef(git, 'refs/remotes/origin/HEAD');
  const ofRemote = shortName(remote, 'refs/remotes/origin/');
  if (ofRemote !== undefined) return ofRemote;
  if (current !== undefined && USUAL.includes(current)) return current;
  const configured = await git.find(['config', '--get', 'init.defaultBranch']);
  for (const name of [...(configured === undefined ? [] : [configured]), ...USUAL])
    if ((await commitOf(git, `refs/heads/${name}`)) !== undefined) return name;
  return undefined;
};

const USUAL = ['main', 'master'];

/**
 * A local branch, or its upstream if the branch is behind it or missing. If they have diverged, the local one with a note.
 * Undefined without either.
 */
export const localOrUpstream = async (git: GitAt, branch: string): Promise<Base | undefined> => {
  const [local, upstream] = await Promise.all([
    commitOf(git, `refs/heads/${branch}`),
    upstreamOf(git, branch),
  ]);
  const theirs = upstream === undefined ? undefined : await commitOf(git, upstream);
  const name = shortName(upstream, 'refs/remotes/') ?? '';
  if (local === undefined)
    return theirs === undefined ? undefined : { name, commit: theirs, notes: [] };
  const here = { name: branch, commit: local, notes: [] };
  if (theirs === undefined || theirs === local) return here;
  const { ahead, behind } = (await distance(git, local, theirs)) ?? { ahead: 0, behind: 0 };
  if (behind === 0) return here;
  if (ahead === 0) return { name, commit: theirs, notes: [] };
  const note = `${branch} and ${name} have diverged: ${branch} has ${counted(ahead, 'commit')} that ${name} does not have, and lacks ${behind}. The local branch is used.`;
  return { ...here, notes: [note] };
};

/** The full name of a branch's upstream, else of the branch of that name on origin; undefined without either. */
export const upstreamOf = async (git: GitAt, branch: string): Promise<string | undefined> => {
  const ref = `refs/heads/${branch}`;
  const same = `refs/remotes/origin/${branch}`;
  const onOrigin = async () => ((await commitOf(git, same)) === undefined ? undefined : same);
  if (followsNone(git.place)) return onOrigin();
  const listed = await git.text(['for-each-ref', '--format=%(refname) %(upstream)', ref]);
  const lines = listed.split('\n').map((line) => line.split(' '));
  const upstream = lines.find(([name]) => name === ref)?.[1];
  return upstream?.startsWith('refs/remotes/') === true ? upstream : onOrigin();
};

// Upstreams are in the repository's configuration: if it has no branch section, git need not run.
const followsNone = (place: GitPlace): boolean =>
  typeof place !== 'string' &&
  /\[\s*(?:branch|include)/i.test(settingsText(place) ?? '[branch') === false;

/** How many commits only one has, and only the other. Undefined if git cannot tell, as in a shallow clone. */
export const distance = async (
  git: GitAt,
  one: string,
  other: string,
): Promise<{ ahead: number; behind: number } | undefined> => {
  // As in every worktree whose work is not committed: no git process is started.
  if (one === other) return { ahead: 0, behind: 0 };
  const range = ['--end-of-options', `${one}...${other}`, '--'];
  const said = await git.find(['rev-list', '--left-right', '--count', ...range], { ok: [0, 128] });
  const [ahead = 0, behind = 0] = (said ?? '').split('\t').map(Number);
  return said === undefined ? undefined : { ahead, behind };
};

/** The subject and commit date of a commit; undefined if it does not exist. */
export const describeCommit = async (
  git: GitAt,
  commit: string,
): Promise<{ subject: string; committed_at: Date } | undefined> => {
  const args = ['rev-list', '--max-count=1', '--no-commit-header', '--format=%ct%n%s', commit];
  const said = await git.find([...args, '--'], { ok: [0, 128] });
  const [seconds = '', subject = ''] = said?.split('\n') ?? [];
  return said === undefined || seconds === ''
    ? undefined
    : { subject, committed_at: new Date(Number(seconds) * 1000) };
};
