import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Case } from '../../../../store/records/case.ts';
import type { Conflict, ConflictFile } from '../../../../store/records/conflict.ts';
import type { Worktree } from '../../../../store/records/worktree.ts';
import {
  gitIn,
  makeRepository,
  type TestRepository,
  writeFiles,
} from '../../../helpers/repository.ts';
import { type Answered, type Running, startForTest } from '../../../helpers/service.ts';

export interface Answer {
  status: string;
  code: string;
  detail: string;
  head: string;
  onto: string;
  files: (ConflictFile & { lines?: number[] })[];
  commit: { number: number; count: number };
  changes: string;
  undone_ref: string | null;
  left: string[];
  notes: string[];
  diff: string;
}

export type Files = Record<string, string | Buffer>;
type Git = TestRepository['git'];

export interface Scene {
  running: Running;
  item: Case;
  worktree: Worktree;
  /** git in the worktree, and in the repository with the base branch. */
  git: Git;
  main: Git;
  /** POST /api/cases/<id>/… */
  post: (what: string, body?: object) => Promise<Answered<Answer>>;
  get: <T = Answer>(what: string) => Promise<Answered<T>>;
  history: () => Promise<Conflict[]>;
  state: () => Promise<string>;
}

interface Wanted {
  /** Committed on `main` before the worktree is made. */
  start: Files;
  /** Commits on `main` after that, and on the Work item's branch; null removes a file. */
  base?: Change[];
  branch?: Change[];
  settings?: string;
  workspace?: string;
  env?: Record<string, string>;
  listen?: boolean;
}

export type Change = Record<string, string | Buffer | null>;

/** A Work item whose branch and base went different ways, with a real repository, behind the real server. */
export const rebaseScene = async (t: TestContext, wanted: Wanted): Promise<Scene> => {
  const { start, base = [], branch = [], settings, env = {}, listen = false } = wanted;
  const given = { env, listen, ...(settings !== undefined && { settings }) };
  const running = await startForTest(t, given);
  const { call, repository } = running;
  const main = repository.git;
  commit(main, repository.root, start);
  const { body: item } = await call<Case>('POST', '/cases', { title: 'Rebase', type: 'bug' });
  const made = await call<Worktree>('POST', '/api/worktrees', { case_id: item.id });
  assert.equal(made.status, 201, made.text);
  const worktree = made.body;
  const git = gitIn(worktree.path);
  for (const change of base) commit(main, repository.root, change);
  for (const change of branch) commit(git, worktree.path, change);
  const get = <T = Answer>(what: string) => running.call<T>('GET', `/api/cases/${item.id}/${what}`);
  return {
    running,
    item,
    worktree,
    git,
    main,
    get,
    post: (what, body) => running.call('POST', `/api/cases/${item.id}/${what}`, body),
    history: async () => (await get<Conflict[]>('conflicts/history')).body,
    state: async () => (await running.call<Case>('GET', `/cases/${item.id}`)).body.state,
  };
};

export const commit = (git: Git, root: string, change: Change): string => {
  for (const [name, content] of Object.entries(change))
    if (content === null) rmSync(join(root, name));
    else writeFiles(root, { [name]: content });
  git('add', '--all');
  const names = Object.keys(change).join(', ');
  git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', `change ${names}`);
  return git('rev-parse', 'HEAD').trim();
};

/** A bare repository by path as `origin`, with `main` and the Work item's branch pushed. */
export const withRemote = (t: TestContext, { main, git, worktree }: Scene): TestRepository => {
  const remote = makeRepository(t, { bare: true });
  main('remote', 'add', 'origin', remote.root);
  main('push', '--quiet', '--force', 'origin', 'main');
  git('push', '--quiet', 'origin', `HEAD:refs/heads/${worktree.branch}`);
  return remote;
};

export const read = ({ worktree }: Scene, name: string): string =>
  readFileSync(join(worktree.path, name), 'utf8');

/** The text of the newest record of a rebase. */
export const recordOf = ({ running, item }: Scene): string => {
  const folder = join(running.workspace, item.path, 'conflicts');
  // Names tell only the second of the beginning.
  const writtenAt = (path: string): number => statSync(path).mtimeMs;
  const paths = readdirSync(folder).map((name) => join(folder, name));
  const [newest = ''] = paths.toSorted((a, b) => writtenAt(b) - writtenAt(a));
  return readFileSync(newest, 'utf8');
};
