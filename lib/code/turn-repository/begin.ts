import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { RecordedRepositories, TurnRecord } from '../../../store/records/turn.ts';
import type { TurnPlaces } from '../../../store/worktrees/turn-records.ts';
import { headCommit, symbolicRef } from '../../tools/git/read/repository.ts';
import { includedIdentity } from '../../tools/git/read/user-name.ts';
import {
  type ConfigEntry,
  configText,
  ownEntries,
  plainEntries,
  settingsText,
} from '../../tools/git/run/config.ts';
import type { Checkout, Git, GitAt, GitWorktree } from '../../tools/git/run/git.ts';
import { distinguishesCase } from '../../tools/git/run/letter-case.ts';
import { latin1 } from '../../tools/git/run/path-text.ts';
import type { Environment } from '../../tools/process/environment.ts';
import { alternatesIn, gitFileText } from './dot-git.ts';
import { guard } from './guard.ts';
import { indexHashOf, readWorktreeIndex } from './import-index.ts';
import { mergeStateHashes } from './merge-state.ts';
import { copyTags } from './pins.ts';
import { type KnownRefs, restoreSessionRefs, visibleRefs } from './refs.ts';

interface RepositoryPaths {
  /** The directory to create. */
  dir: string;
  /** The path of the operator's git directory as the agent sees it. */
  seen_at: string;
  /** The operator's environment, which says where their configuration is. */
  env: Environment;
}

/** The state that a turn's repository starts from. */
type InitialState = Pick<TurnRecord, 'ref' | 'head' | 'index' | 'operation'> & KnownRefs;

/**
 * Creates a repository for one turn by writing plain files. Refs, settings and index are copied from the worktree; the
 * operator's objects are alternates, so writes stay in the new repository. Runs no program named in the settings.
 */
const beginRepository = async (
  git: GitAt<GitWorktree>,
  { dir, seen_at, env }: RepositoryPaths,
): Promise<InitialState> => {
  const { refs, packed, kinds } = await visibleRefs(git);
  const ref = (await symbolicRef(git, 'HEAD')) ?? 'HEAD';
  const head = (await headCommit(git)) ?? null;
  for (const name of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info', 'hooks'])
    mkdirSync(join(dir, name), { recursive: true });
  const write = (name: string, text: string): void => {
    mkdirSync(dirname(join(dir, name)), { recursive: true });
    writeFileSync(join(dir, name), Buffer.from(text, 'latin1'));
  };
  write('HEAD', ref === 'HEAD' ? `${head ?? ''}\n` : `ref: ${latin1(ref)}\n`);
  write('packed-refs', packed);
  for (const [name, value] of refs) if (value.startsWith('ref: ')) write(name, `${value}\n`);
  write('config', await settingsFor(git, { seen_at, env }));
  write(
    'objects/info/alternates',
    alternatesOf(git.place, seen_at)
      .map((path) => `${latin1(path)}\n`)
      .join(''),
  );
  copyFiles(git.place, dir);
  linkModules(git.place, dir);
  const index = indexHashOf(await readWorktreeIndex(git));
  return { ref, head, refs, kinds, index, operation: mergeStateHashes(git.place.git_dir) };
};

const settingsFor = async (
  git: GitAt,
  { seen_at, env }: Omit<RepositoryPaths, 'dir'>,
): Promise<string> => {
  // Only git knows whether this file counts.
  const isListed = existsSync(join(git.place.git_dir, 'config.worktree'));
  const plain = isListed ? undefined : plainEntries([settingsText(git.place)]);
  const isCaseKnown = distinguishesCase(git.place);
  const entries = (plain ?? (await ownEntries(git))).filter(
    ({ key }) => isKept(key) && !(isCaseKnown && key === IGNORE_CASE),
  );
  const hooks = latin1(join(seen_at, 'hooks'));
  const own: ConfigEntry[] = [
    { key: 'core.repositoryformatversion', value: '1' },
    { key: 'core.bare', value: 'false' },
    // The importer reads the index as a single file.
    { key: 'core.splitindex', value: 'false' },
    { key: 'core.untrackedcache', value: 'false' },
    ...(entries.some(({ key }) => key === 'core.hookspath')
      ? []
      : [{ key: 'core.hookspath', value: hooks }]),
  ];
  return configText([...own, ...(await includedIdentity(git, env)), ...entries]);
};

const IGNORE_CASE = 'core.ignorecase';

// Settings about the repository's layout do not apply to the copy. Included files are already expanded in the list.
const isKept = (key: string): boolean =>
  !/^include(?:if)?\./.test(key) &&
  !/^core\.(?:bare|worktree|repositoryformatversion|fsmonitor|splitindex|untrackedcache)$/.test(
    key,
  ) &&
  (!key.startsWith('extensions.') || /^extensions\.(?:objectformat|partialclone)$/.test(key));

const MOST_ALTERNATES = 100;

/** Absolute paths of the operator's objects and, transitively, of their alternates. */
const alternatesOf = ({ common_dir }: Checkout, seen_at: string): string[] => {
  const found = [join(common_dir, 'objects')];
  for (let at = 0; at < found.length && found.length < MOST_ALTERNATES; at += 1) {
    const from = found[at] ?? '';
    found.push(
      ...alternatesIn(from).map((path) => (isAbsolute(path) ? path : resolve(from, path))),
    );
  }
  return [join(seen_at, 'objects'), ...new Set(found.slice(1))];
};

/** Files of the worktree's git directory that hold the index and a merge in progress. */
const OWN = [
  'index',
  'ORIG_HEAD',
  'FETCH_HEAD',
  'MERGE_HEAD',
  'MERGE_MSG',
  'MERGE_MODE',
  'SQUASH_MSG',
  'CHERRY_PICK_HEAD',
  'REVERT_HEAD',
  'COMMIT_EDITMSG',
  'info/sparse-checkout',
];
const COMMON = ['info/exclude', 'info/attributes', 'info/grafts', 'shallow'];

const copyFiles = ({ git_dir, common_dir }: Checkout, dir: string): void => {
  const shared = readdirSync(git_dir).filter((name) => /^sharedindex\.[0-9a-f]+$/.test(name));
  for (const name of [...OWN, ...shared]) copy(join(git_dir, name), join(dir, name));
  for (const name of COMMON) copy(join(common_dir, name), join(dir, name));
};

const copy = (from: string, to: string): void => {
  if (existsSync(from)) copyFileSync(from, to);
};

// git records a submodule's repository by its real path, so the link makes clones of the turn land in their final place.
const linkModules = ({ git_dir, common_dir }: Checkout, dir: string): void => {
  const modules = join(git_dir, 'modules');
  if (git_dir !== common_dir) {
    mkdirSync(modules, { recursive: true });
    symlinkSync(modules, join(dir, 'modules'));
  } else if (existsSync(modules)) mkdirSync(join(dir, 'modules'));
};

interface NewRepository {
  /** A temporary directory; the caller renames it to its final path. */
  made: string;
  places: TurnPlaces;
  /** Refs of earlier turns of the session, which are restored. */
  own: ReadonlyMap<string, string>;
  env: Environment;
}

/** Creates the repository of a turn, and its `.git` pointer file, in a temporary directory. */
export const makeRepository = async (
  git: Git,
  worktree: GitWorktree & { base_commit: string },
  { made, places, own, env }: NewRepository,
): Promise<InitialState & { guarded: RecordedRepositories }> => {
  const isClone = worktree.git_dir === worktree.common_dir;
  const dir = join(made, 'git');
  const seen_at = isClone ? places.operator : worktree.common_dir;
  const begun = await beginRepository(git.at(worktree), { dir, seen_at, env });
  const { refs } = begun;
  const kinds = new Map([
    ...begun.kinds,
    ...(await restoreSessionRefs(git.at(worktree), { dir, own, refs })),
  ]);
  await copyTags(git.at(worktree), dir, { refs, kinds });
  writeFileSync(join(made, 'pointer'), gitFileText(places.dir));
  return { ...begun, kinds, guarded: await guard(git.at(worktree), worktree.base_commit) };
};
