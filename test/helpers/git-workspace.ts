/** A workspace in a git repository, a daemon on it, and what git says that changed, as the events that should be told. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { promisify } from 'node:util';
import { layoutOf } from '../../store/layout.ts';
import { allItems } from '../../store/reconcile/items.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { eventually } from './eventually.ts';
import { caseText, dirOf, heard, settled, write as writeAt, writeItems } from './many-items.ts';
import { temporaryDirectory } from './repository.ts';
import { type Running, startForTest } from './service.ts';

export type AsyncGit = (...args: string[]) => Promise<string>;

export interface GitWorkspace {
  running: Running;
  workspace: string;
  /** git in the workspace, beside the daemon's event loop, with the daemon at work meanwhile. */
  git: AsyncGit;
  write(path: string, text: string): void;
  /** Writes another state into a Work item, as a hand does. */
  state(n: number, state: string): void;
  /** Commits all there is. */
  commit(message: string): Promise<void>;
}

/** Where the workspace is: at the top of its repository, below it, in a linked worktree, or a submodule of another. */
export type Place = 'top' | 'folder' | 'linked' | 'submodule';

/** So many Work items, each with a proof, committed on `main`; a daemon watches them and has nothing left to tell. */
export const gitWorkspace = async (
  t: TestContext,
  count = 6,
  place: Place = 'top',
): Promise<GitWorkspace> => {
  const top = temporaryDirectory(t);
  const first = place === 'folder' ? join(top, 'deep/space') : top;
  mkdirSync(first, { recursive: true });
  await init(asyncGit(top));
  await makeWorkspaceFiles(layoutOf(first));
  writeItems(first, count);
  await asyncGit(top)('add', '--all');
  await asyncGit(top)('commit', '--quiet', '--message', 'main');
  const workspace = await placed(t, first, place);
  const running = await startForTest(t, { watch: true, workspace });
  const git = asyncGit(workspace);
  const write = (path: string, text: string): void => writeAt(join(workspace, path), text);
  await settled(running);
  return {
    running,
    workspace,
    git,
    write,
    state: (n, state) => write(`${dirOf(n)}/case.md`, caseText(n, state)),
    commit: async (message) => {
      await git('add', '--all');
      await git('commit', '--quiet', '--message', message);
    },
  };
};

const placed = async (t: TestContext, first: string, place: Place): Promise<string> => {
  if (place === 'top' || place === 'folder') return first;
  const other = temporaryDirectory(t);
  if (place === 'linked') {
    await asyncGit(first)('worktree', 'add', '--quiet', '-b', 'linked', join(other, 'space'));
    return join(other, 'space');
  }
  await init(asyncGit(other));
  const allowed = ['-c', 'protocol.file.allow=always'];
  await asyncGit(other)(...allowed, 'submodule', '--quiet', 'add', first, 'space');
  const inside = asyncGit(join(other, 'space'));
  await inside('config', 'user.name', 'An Operator');
  await inside('config', 'user.email', 'one@example.com');
  return join(other, 'space');
};

const init = async (git: AsyncGit): Promise<void> => {
  await git('init', '--quiet', '--initial-branch=main');
  await git('config', 'user.name', 'An Operator');
  await git('config', 'user.email', 'one@example.com');
  // git would tidy up in the background, and removes folders into which the next command writes.
  await git('config', 'gc.auto', '0');
};

/** git as the operator at a terminal runs it; rejects when git fails. */
export const asyncGit =
  (cwd: string, more: NodeJS.ProcessEnv = {}): AsyncGit =>
  async (...args) => {
    const env = {
      ...{ PATH: process.env.PATH, HOME: tmpdir(), LC_ALL: 'C', GIT_EDITOR: 'true' },
      ...{ GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' },
      ...more,
    };
    return (await promisify(execFile)('git', args, { cwd, env })).stdout;
  };

/**
 * Does something with git, and holds what was told of it against what `git diff` says of the files before and after:
 * the same, each once, by the watcher alone, and a sweep finds no more.
 */
export const assertTold = async (
  kept: GitWorkspace,
  work: () => Promise<unknown>,
): Promise<string[]> => {
  const { running } = kept;
  await settled(running);
  const states = statesOf(running);
  const before = await treeOf(kept);
  running.events.length = 0;
  await work();
  const wanted = await changesBetween(kept, before, await treeOf(kept));
  await eventually(() => assert.deepEqual(heard(running), wanted));
  await settled(running);
  assert.deepEqual(heard(running), wanted);
  assertChain(running, states);
  return wanted;
};

const statesOf = ({ service: { store } }: Running): Map<string, string | undefined> =>
  new Map(allItems(store).map(({ id, files }) => [id, files.case.value?.matter.state]));

/** Each change of state begins where the one before it ended. */
const assertChain = ({ events }: Running, states: Map<string, string | undefined>): void => {
  for (const { event_type, payload } of events) {
    if (event_type !== 'case_state_changed') continue;
    assert.equal(payload.old_state, states.get(payload.case_id ?? ''));
    states.set(payload.case_id, payload.new_state);
  }
};

// All files as they are, staged or not, in an index of our own.
const treeOf = async ({ workspace }: GitWorkspace): Promise<string> => {
  const GIT_INDEX_FILE = join(tmpdir(), `dossier-index-${randomUUID()}`);
  const git = asyncGit(workspace, { GIT_INDEX_FILE });
  try {
    await git('add', '--all', ':/');
    return (await git('write-tree')).trim();
  } finally {
    rmSync(GIT_INDEX_FILE, { force: true });
  }
};

/** What differs between two trees, as events: of Work items that are in both. */
const changesBetween = async (
  { git }: GitWorkspace,
  from: string,
  to: string,
): Promise<string[]> => {
  const told = await git('diff', '--name-status', '--no-renames', '--relative', from, to);
  const changes = told
    .split('\n')
    .filter(Boolean)
    .map((line) => line.split('\t') as [string, string]);
  const ofOne = changes
    .filter(([kind, path]) => kind !== 'M' && path.endsWith('/case.md'))
    .map(([, path]) => dirname(path));
  return changes
    .filter(([, path]) => !ofOne.some((dir) => path.startsWith(`${dir}/`)))
    .flatMap(([kind, path]) => eventOf(kind, path) ?? [])
    .toSorted();
};

const eventOf = (kind: string, path: string): string | undefined => {
  const [, dir, file] = /^(cases\/.*?)\/(case\.md|proof\/.*)$/.exec(path) ?? [];
  if (dir === undefined || (kind === 'D' && file !== 'case.md')) return undefined;
  if (file === 'case.md') return `case_state_changed ${dir}`;
  return `${kind === 'A' ? 'proof_created' : 'proof_updated'} ${dir}`;
};

export const textOf = ({ workspace }: GitWorkspace, path: string): string =>
  readFileSync(join(workspace, path), 'utf8');
