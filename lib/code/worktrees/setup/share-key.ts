import { orElse } from '../../../../store/base/attempt.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { readRegularFile } from '../../../../store/front-matter/record-file.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { chooseBase } from '../../../tools/git/read/base.ts';
import { headCommit, isAncestor } from '../../../tools/git/read/repository.ts';
import { repositoryOf, type WithGit } from '../../../tools/git/run/git.ts';
import type { Install } from './installs.ts';

/** What the sharing of directories gets from a setup. */
export interface ShareRun {
  marker: string;
  signal: AbortSignal;
  /** Whether this is the first setup of the worktree: no agent has run in it. */
  isFirst: boolean;
  /** Runs a command in the sandbox that cannot write, and returns what it printed; undefined if it failed. */
  ask: (command: string) => Promise<string | undefined>;
}

/** One install whose directories are shared. */
export interface Sharing extends ShareRun {
  install: Install;
  command: string;
  directories: readonly string[];
}

export interface KeyInputs {
  install: Install;
  command: string;
  /** All setup commands: those before the install may change what it installs. */
  setup: readonly string[];
  directories: readonly string[];
  /** The version of what runs its scripts. */
  runtime: string;
}

export interface SnapshotKeys {
  lockfile_sha256: string;
  /** The keys to look for, in this order. */
  wanted: string[];
  /** The key of a snapshot of this worktree. */
  own: string;
}

/**
 * The keys of snapshots for a worktree: hashes of the lockfile and of everything else that decides what the install does.
 * Undefined if the lockfile is no regular file, or one of these files was changed since the commit.
 *
 * The scripts that an install runs are files of the commit, and an agent may have written them. So a snapshot of a commit that
 * the default branch does not have is for worktrees of that commit alone, and so is one with packages of the repository
 * itself, whose content the lockfile does not name.
 */
export const snapshotKeys = async (
  service: WithGit,
  worktree: WorktreeRecord,
  inputs: KeyInputs,
): Promise<SnapshotKeys | undefined> => {
  const { install, runtime, setup, command, directories } = inputs;
  const lockfile = contentOf(worktree, install.lockfile);
  if (lockfile === undefined) return undefined;
  const git = service.git.at(worktree);
  const listed = (...how: string[]) =>
    git.names(['ls-files', ...how, '-z', '--', ...DECIDING], {
      env: { GIT_LITERAL_PATHSPECS: '0' },
      read: true,
    });
  if ((await listed('--modified')).length > 0) return undefined;
  const tracked = await listed('--stage');
  const untracked = UNTRACKED.map((name) => contentOf(worktree, name)).map(
    (bytes) => bytes && sha256(bytes),
  );
  const lockfile_sha256 = sha256(lockfile);
  const all = [
    ...[FORMAT, process.platform, process.arch, runtime, worktree.common_dir],
    ...[lockfile_sha256, command, setup, directories, tracked, untracked],
  ];
  const general = sha256(JSON.stringify(all));
  const head = await headCommit(git);
  const own = sha256(JSON.stringify([general, head]));
  const isLocal = LOCAL.test(lockfile.toString('latin1'));
  const isGeneral = !isLocal && (await isMain(service, worktree, head));
  return {
    lockfile_sha256,
    wanted: isLocal ? [own] : [general, own],
    own: isGeneral ? general : own,
  };
};

const LOCAL = /\b(?:file|portal):/;

const FORMAT = 1;

// Files that installers read, at any depth.
const NAMES = [
  ...['package.json', 'package-lock.json', 'npm-shrinkwrap.json', 'pnpm-lock.yaml', 'yarn.lock'],
  ...['bun.lock', 'bun.lockb', 'bunfig.toml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', '.npmrc'],
  ...['.yarnrc', '.yarnrc.yml', '.nvmrc', '.node-version', '.tool-versions', 'mise.toml'],
  ...['binding.gyp', 'composer.json', 'composer.lock', 'auth.json'],
];
const DECIDING = [
  ...NAMES.map((name) => `:(top,glob)**/${name}`),
  ...['patches', '.yarn'].map((name) => `:(top,glob)**/${name}/**`),
];

// What `copy_files` may have brought.
const UNTRACKED = ['.npmrc', '.yarnrc', '.yarnrc.yml', 'auth.json', '.nvmrc'];

/** The bytes of a file of the worktree; undefined if there is no regular file. */
export const contentOf = ({ path }: WorktreeRecord, name: string): Buffer | undefined =>
  orElse(() => readRegularFile(path, `${path}/${name}`), undefined);

const isMain = async (
  { git }: WithGit,
  record: WorktreeRecord,
  head: string | undefined,
): Promise<boolean> => {
  if (head === undefined) return false;
  const at = git.at(repositoryOf(record));
  const base = await chooseBase(at).catch(() => undefined);
  return base !== undefined && isAncestor(at, head, base.commit);
};
