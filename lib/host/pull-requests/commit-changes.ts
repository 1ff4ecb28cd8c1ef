import { shellQuoted } from '../../../store/base/text.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import { hasChangedPatch } from '../../../store/sessions/patches.ts';
import { readDiff, readSinceApproval } from '../../../store/sessions/session-texts.ts';
import {
  allSessionsOf,
  type StoredSession,
  sessionDirOf,
} from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import type { GitNeeds } from '../../code/worktrees/needs.ts';
import { syncCommits } from '../../code/worktrees/recovery/sync-work.ts';
import { afterDone, ServiceError } from '../../errors.ts';
import { filesOf } from '../../text/patch.ts';
import { someOf } from '../../text/wording.ts';
import { attributeOf } from '../../tools/git/read/required-filters.ts';
import { isNamedSecret } from '../../tools/git/read/secret-names.ts';
import type { WorktreeStatus } from '../../tools/git/read/status.ts';
import { lossyPath, pathText } from '../../tools/git/run/path-text.ts';
import {
  type ChangesCommit,
  commitWorkingFiles,
  isCommittable,
} from '../../tools/git/write/commit-files.ts';
import { asOneLine } from '../../work/cases/text.ts';
import { diffOf } from '../../work/sessions/turns/wrap-up.ts';

/** What to do with uncommitted changes; by default only those of a completed session are committed. */
type WithChanges = 'commit' | 'leave';

export const NOTHING: ChangesCommit = { committed: null, left_out: [] };

interface Wanted {
  status: WorktreeStatus;
  changes: WithChanges | undefined;
  /** The subject of the commit, from an untrusted source. */
  title: string;
}

/**
 * Commits what a completed session left uncommitted (`worktrees.commit: never`), in the operator's name, without files that
 * look like secrets and the like, which a session never commits either. Other changes, and those from before its approval,
 * throw 409 `uncommitted_changes` unless `changes` says what to do.
 */
export const commitChanges = async (
  service: GitNeeds,
  worktree: WorktreeRecord,
  { status, changes, title }: Wanted,
): Promise<ChangesCommit> => {
  const files = status.files.filter(isCommittable).map(({ path }) => path);
  if (files.length === 0 || changes === 'leave') return NOTHING;
  const behind = await sessionBehind(service, worktree);
  const isAll = changes === 'commit';
  if (behind === undefined && !isAll) throw notOfSession(worktree, files, DIFFERENT);
  const session = behind?.newest;
  const { case_id } = worktree;
  const lines = [`Work item: ${case_id}`, ...(session === undefined ? [] : [ofSession(session)])];
  const message = `${subjectOf(title)}\n\n${lines.join('\n')}`;
  const committed = await commitWorkingFiles(service.git, worktree, {
    message,
    isAll,
    copied: worktree.setup?.copied,
    check: (paths) => {
      if (isAll || behind?.changed === undefined) return;
      // `filesOf` decodes names in this way, too.
      const older = paths.filter((path) => !behind.changed?.has(lossyPath(path))).map(pathText);
      if (older.length > 0) throw notOfSession(worktree, older, OLDER);
    },
  });
  await afterDone(committedText(committed), () => syncCommits(service, worktree));
  return committed;
};

/** The commit that was made, for `afterDone`. */
export const committedText = ({ committed }: ChangesCommit): string | undefined =>
  committed === null ? undefined : `the changes were committed as ${committed.commit.slice(0, 12)}`;

/** A warning about new files of the branch that are named like secrets: an agent may have committed them itself. */
export const warnOfSecrets = async (
  { git }: GitNeeds,
  worktree: WorktreeRecord,
): Promise<string[]> => {
  const added = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=A'];
  const names = await git.at(worktree).names([...added, worktree.base_commit, 'HEAD', '--']);
  const secrets = names.filter(isNamedSecret).map(pathText);
  if (secrets.length === 0) return [];
  return [`Its commits add files that are named like files with secrets: ${someOf(secrets)}.`];
};

/** A warning about files of the branch that git-lfs stores: its hook uploads their content, and no hook runs. */
export const warnOfLfs = async (
  { git }: GitNeeds,
  worktree: WorktreeRecord,
  remote: string,
): Promise<string[]> => {
  const { path, base_commit, branch } = worktree;
  const changed = ['diff-tree', '-r', '-z', '--name-only', '--no-renames', '--diff-filter=AM'];
  const names = await git.at(worktree).names([...changed, base_commit, 'HEAD', '--']);
  const filters = await attributeOf(git.at(worktree), 'filter', names);
  const stored = names.filter((name) => filters.get(name) === 'lfs').map(pathText);
  if (stored.length === 0) return [];
  // Without --all, git-lfs uploads nothing for commits that the remote has already.
  const upload = ['git', '-C', path, 'lfs', 'push', '--all', remote, branch].map(shellQuoted);
  return [
    `The content of its LFS files is not uploaded: ${someOf(stored)}. Run: ${upload.join(' ')}`,
  ];
};

const MOST_CHARACTERS = 300;

// The title may come from the host: further lines would become the message, and git refuses NUL.
const subjectOf = (title: string): string =>
  [...asOneLine(title)].slice(0, MOST_CHARACTERS).join('');

const ofSession = ({ session: { id, plan_sha256 } }: StoredSession): string =>
  `Session: ${id}\nApproved plan: ${plan_sha256 ?? 'unknown'}`;

interface Behind {
  /** The newest completed session. */
  newest: StoredSession;
  /** The files that it, or an earlier one, changed after its approval; undefined if these are all. */
  changed: ReadonlySet<string> | undefined;
}

/** The session behind the changes of a worktree, if the worktree has exactly its result. */
const sessionBehind = async (
  service: GitNeeds,
  { case_id }: WorktreeRecord,
): Promise<Behind | undefined> => {
  const { store } = service;
  const completed = (allSessionsOf(store, case_id) ?? []).filter(
    ({ session: { status, mode } }) => status === 'completed' && mode === 'work',
  );
  const newest = completed.at(-1);
  const left = newest && readOwnDiff(store, newest);
  if (newest === undefined || left === undefined) return undefined;
  const { shared, patch } = await diffOf(service, newest);
  // Earlier versions recorded files that are named like secrets, too.
  if (!left.equals(shared) && !left.equals(patch)) return undefined;
  const isWhole = readSinceApproval(store, sessionDirOf(store, newest)) === undefined;
  return { newest, changed: isWhole ? undefined : changedBy(store, completed, left) };
};

// What git or an editor put in place of a patch is not what the session did.
const readOwnDiff = (store: Store, kept: StoredSession): Buffer | undefined => {
  const of = { dir: sessionDirOf(store, kept), id: kept.session.id };
  return hasChangedPatch(store.layout, of) ? undefined : readDiff(store, of.dir);
};

// A file is a session's work if the session changed it after its approval and left it as it is now.
const changedBy = (store: Store, sessions: readonly StoredSession[], now: Buffer): Set<string> => {
  const current = partsOf(now);
  return new Set(
    sessions.flatMap((each) => {
      const left = readOwnDiff(store, each);
      if (left === undefined) return [];
      const parts = partsOf(left);
      const touched = partsOf(readSinceApproval(store, sessionDirOf(store, each)) ?? left).keys();
      return [...touched].filter((path) => parts.get(path) === current.get(path));
    }),
  );
};

/** The text of a patch by path, both paths of a renamed file. */
const partsOf = (patch: Buffer): Map<string, string> => {
  const parts = new Map<string, string>();
  for (const { path, from, kind, text } of filesOf(patch.toString('utf8')))
    for (const each of kind === 'renamed' && from !== undefined ? [path, from] : [path])
      parts.set(each, `${parts.get(each) ?? ''}${text}`);
  return parts;
};

const DIFFERENT = 'the worktree differs from the result of the last completed session';
const OLDER = 'no completed session made this change after its approval';

const notOfSession = (
  { path }: WorktreeRecord,
  files: readonly string[],
  why: string,
): ServiceError =>
  new ServiceError(
    'uncommitted_changes',
    `${files.slice(0, 5).join(', ')} ${files.length === 1 ? 'is' : 'are'} changed but not committed, and ${why}. Check the changes in ${path}, then send {"changes": "commit"} to commit all of them, or {"changes": "leave"} to leave them uncommitted.`,
    { members: { files: files.slice(0, 100) } },
  );
