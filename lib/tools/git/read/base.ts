import { setTimeout as delay } from 'node:timers/promises';
import { invalidState } from '../../../errors.ts';
import { counted } from '../../../text/wording.ts';
import { settingsText } from '../run/config.ts';
import type { GitAt, GitPlace } from '../run/git.ts';
import { commitOf, currentBranch, type Repository, shortName, symbolicRef } from './repository.ts';

/** What new work starts from. */
export interface Base {
  /** A branch, where there is one. */
  name: string;
  commit: string;
  /** What the operator should know of the choice, each a sentence. */
  notes: string[];
}

/** The name that stands for what is checked out now, also where a branch is called so. */
export const CURRENT = 'current';

/**
 * What new work starts from: the base that is named, else the default branch, local unless its upstream is ahead of it. Nothing is
 * fetched. Throws 422 where there is no such branch or commit.
 */
export const chooseBase = async (git: GitAt<Repository>, named?: string): Promise<Base> => {
  for (let left = LOOKS; left > 0; left -= 1) {
    const found = await firstCommit(git, named);
    if (found !== undefined) return found;
    if (left > 1) await delay(LOOK_AGAIN_MS);
  }
  throw invalidState(
    named === undefined || named === CURRENT
      ? 'The repository has no commit yet. Make one (git commit --allow-empty -m start will do), then try again.'
      : `The repository has no branch or commit ${named} to start from.`,
  );
};

// While a gc puts commits and branches elsewhere, another git may find them at neither place for a moment.
const LOOKS = 3;
const LOOK_AGAIN_MS = 100;

const firstCommit = async (
  git: GitAt<Repository>,
  named: string | undefined,
): Promise<Base | undefined> => {
  if (named === CURRENT) return currentBase(git);
  if (named !== undefined) return at(git, named);
  const chosen = await defaultBase(git);
  return chosen ?? currentBase(git);
};

const at = async (git: GitAt<Repository>, name: string): Promise<Base | undefined> => {
  const commit = await commitOf(git, name);
  return commit === undefined ? undefined : { name, commit, notes: [] };
};

const currentBase = async (git: GitAt<Repository>): Promise<Base | undefined> => {
  const current = await currentBranch(git);
  const branch = current === undefined ? undefined : await at(git, current);
  return branch ?? at(git, 'HEAD');
};

const defaultBase = async (git: GitAt<Repository>): Promise<Base | undefined> => {
  const current = await currentBranch(git);
  const branch = await defaultBranch(git, current);
  if (branch === undefined) return undefined;
  const base = await localOrUpstream(git, branch);
  if (base === undefined || branch === current) return base;
  const here = current ?? 'the commit that is checked out';
  return { ...base, notes: [`For ${here}: \`--base ${CURRENT}\`.`, ...base.notes] };
};

// As the remote has it; else as git would call it in a new repository, where there is such a branch.
const defaultBranch = async (
  git: GitAt<Repository>,
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
 * A local branch, or its upstream where the branch is behind it or is not there. Of two that have diverged the local one,
 * with a warning. Undefined where there is neither.
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
  const { ahead, behind } = await distance(git, local, theirs);
  if (behind === 0) return here;
  if (ahead === 0) return { name, commit: theirs, notes: [] };
  const note = `${branch} and ${name} have diverged: ${branch} has ${counted(ahead, 'commit')} that ${name} does not have, and lacks ${behind}. The local branch is used.`;
  return { ...here, notes: [note] };
};

/** The full name of the remote branch that a local one follows, or of that name on origin; undefined where there is none. */
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

// What a branch follows stands in the repository's own settings: where these name no branch, git need not be asked.
const followsNone = (place: GitPlace): boolean =>
  typeof place !== 'string' &&
  /\[\s*(?:branch|include)/i.test(settingsText(place) ?? '[branch') === false;

// Where history was cut off, nothing tells how far they are apart.
const distance = async (
  git: GitAt,
  local: string,
  theirs: string,
): Promise<{ ahead: number; behind: number }> => {
  const args = ['rev-list', '--left-right', '--count', `${local}...${theirs}`, '--'];
  const said = (await git.find(args, { ok: [0, 128] })) ?? '';
  const [ahead = 0, behind = 0] = said.split('\t').map(Number);
  return { ahead, behind };
};

/** The first line of a commit's message, and when it was committed; undefined where the commit is not there. */
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
