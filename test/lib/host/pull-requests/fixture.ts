/** A Work item with a worktree, whose project is a clone of a repository on the fake code host. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import type { ErrorCode } from '../../../../lib/errors.ts';
import { pullRequestRoutes } from '../../../../routes/pull-requests.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Proof } from '../../../../store/records/proof.ts';
import type { Worktree } from '../../../../store/records/worktree.ts';
import { type CodeHost, type CodeHostOptions, startCodeHost } from '../../../codehost/code-host.ts';
import { gitIn, type TestRepository } from '../../../helpers/repository.ts';
import { type Answered, type Running, startForTest } from '../../../helpers/service.ts';
import { commit } from '../../work/conflicts/fixture.ts';

/** What an answer may hold: a pull request, or a problem. */
export interface Answer {
  code: string;
  detail: string;
  number: number;
  title: string;
  body: string;
  state: string;
  labels: string[];
  head_sha: string;
  base_ref: string;
  adopted: boolean;
  changed: boolean;
  updated: boolean;
  outcome: string;
  committed: { commit: string; files: number } | null;
  left_out: { path: string; why: string }[];
  comment: { id: number } | null;
  warnings: string[];
  notes: string;
  head_in_sync: boolean | null;
  published_sha256: string | null;
  missing: { description: string }[];
  files: string[];
}

export interface PullScene {
  host: CodeHost;
  running: Running;
  item: Case;
  worktree: Worktree;
  /** git in the worktree. Not to talk to the host with: it blocks. */
  git: TestRepository['git'];
  /** POST /api/cases/<id>/pr/… */
  post: <T = Answer>(what: string, body?: object) => Promise<Answered<T>>;
  get: <T = Answer>(what: string) => Promise<Answered<T>>;
  /** A commit on the Work item's branch. */
  work: (files?: Record<string, string>) => string;
  prove: () => Promise<Proof>;
  /** A file of the Work item. */
  read: (name: string) => string;
  /** The names in a folder of it. */
  files: (folder: string) => string[];
}

interface SceneOptions extends CodeHostOptions {
  /** The project's repository. */
  cloned?: (host: CodeHost) => TestRepository | Promise<TestRepository>;
  settings?: string;
}

export const pullScene = async (
  t: TestContext,
  { cloned = (host) => host.repositories.clone(), settings, ...options }: SceneOptions = {},
): Promise<PullScene> => {
  const host = await startCodeHost(t, options);
  const running = await startForTest(t, {
    repository: await cloned(host),
    env: { GITHUB_API_URL: host.url, GH_TOKEN: host.token, GITHUB_TOKEN: '' },
    ...(settings !== undefined && { settings }),
  });
  const { body: item } = await running.call<Case>('POST', '/cases', {
    title: 'Round half up',
    type: 'bug',
    description: 'The tax is off by one.',
  });
  const made = await running.call<Worktree>('POST', '/api/worktrees', { case_id: item.id });
  assert.equal(made.status, 201, made.text);
  const worktree = made.body;
  const git = gitIn(worktree.path);
  const at = `/api/cases/${item.id}/pr`;
  return {
    host,
    running,
    item,
    worktree,
    git,
    post: async (what, body) =>
      shaped('POST', what, await running.call('POST', `${at}/${what}`, body)),
    get: async (what) =>
      shaped('GET', what, await running.call('GET', what === '' ? at : `${at}/${what}`)),
    work: (files = { 'tax.ts': 'export const tax = 1;\n' }) => commit(git, worktree.path, files),
    prove: async () => {
      const proof = { type: 'test-log', content: 'all 12 tests pass, thanks to @colleague' };
      const { body } = await running.call<Proof>('POST', `/cases/${item.id}/proof`, proof);
      await running.call('PUT', `/cases/${item.id}/proof/${body.id}/verify`);
      return body;
    },
    read: (name) => readFileSync(join(running.workspace, item.path, name), 'utf8'),
    files: (folder) => readdirSync(join(running.workspace, item.path, folder)),
  };
};

/** The answer itself, which is as the API says it is: a success has its schema, a problem is a declared one. */
const shaped = <T>(method: string, what: string, answer: Answered<T>): Answered<T> => {
  const path = `/api/cases/{id}/pr${what === '' ? '' : `/${what}`}`;
  const declared = pullRequestRoutes.find((each) => each.method === method && each.path === path);
  assert.ok(declared, path);
  if (answer.status >= 400) {
    const { code } = answer.body as { code: ErrorCode };
    const codes: readonly ErrorCode[] = [...OF_ALL, ...(declared.errors ?? [])];
    assert.ok(codes.includes(code), `${path} ${answer.text}`);
    return answer;
  }
  const schema = schemas.get(declared) ?? Compile(declared.response as TSchema);
  schemas.set(declared, schema);
  assert.ok(schema.Check(answer.body), JSON.stringify(schema.Errors(answer.body)));
  return answer;
};

const schemas = new Map<object, ReturnType<typeof Compile>>();

// What every route that takes an id may say needs no declaration.
const OF_ALL: readonly ErrorCode[] = ['bad_request', 'not_found'];

/** The same with its pull request, a draft. */
export const openedScene = async (
  t: TestContext,
  options?: SceneOptions,
): Promise<PullScene & { number: number }> => {
  const scene = await pullScene(t, options);
  scene.work();
  const made = await scene.post('create');
  assert.equal(made.status, 201, made.text);
  return { ...scene, number: made.body.number };
};
