import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Server } from '@hapi/hapi';
import { createLanguageServers } from '../../../../lib/code/language-server/servers.ts';
import { createSetups } from '../../../../lib/code/worktrees/needs.ts';
import type { Config } from '../../../../lib/config.ts';
import { createServer } from '../../../../lib/daemon/server.ts';
import { createSandbox } from '../../../../lib/sandbox/sandbox.ts';
import type { Service } from '../../../../lib/service.ts';
import type { Git } from '../../../../lib/tools/git/run/git.ts';
import { createRuns } from '../../../../lib/tools/process/runs.ts';
import { createCase } from '../../../../lib/work/cases/change.ts';
import { sections } from '../../../../routes/index.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Worktree } from '../../../../store/records/worktree.ts';
import { acquireLock } from '../../../../store/sessions/locks.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { HOST_NETWORK } from '../../../helpers/egress.ts';
import { NOBODY } from '../../../helpers/nobody.ts';
import {
  makeRepository,
  type TestRepository,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../helpers/repository.ts';
import { STATE_DIR } from '../../../helpers/state-dir.ts';
import { openCompared } from '../../../helpers/workspace.ts';

export interface Fixture {
  service: Service;
  hapi: Server;
  workspace: string;
  repository: TestRepository;
  /** A Work item in the workspace. */
  item: Case;
  send: Send;
}

export interface Answer {
  status: number;
  location: string | undefined;
  etag: string | undefined;
  body: Record<string, unknown>;
}

type Send = (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  payload?: object,
  headers?: Record<string, string>,
) => Promise<Answer>;

interface Wanted {
  /** The front matter of workspace.md. */
  settings?: string;
  /** What the daemon was started with as `--repo`; null: nothing. Default: a repository with one commit. */
  repo?: string | null;
  git?: Git;
  clock?: () => Date;
}

/** A workspace with one Work item, real git, and the worktree endpoints over the real HTTP layer. */
export const start = async (t: TestContext, wanted: Wanted = {}): Promise<Fixture> => {
  const { settings, repo, git = testGit(t), clock = () => new Date() } = wanted;
  const workspace = temporaryDirectory(t);
  const repository = makeRepository(t);
  if (settings !== undefined) writeFileSync(join(workspace, 'workspace.md'), front(settings));
  const report = (error: unknown) => {
    throw error;
  };
  const opened = await openCompared(workspace, {
    state: STATE_DIR,
    clock,
    follow: () => undefined,
    report,
    trust: true,
  });
  atEnd(t, () => opened.close());
  const config = {
    workspace,
    repo: repo === null ? undefined : (repo ?? repository.root),
    env: { PATH: process.env.PATH, HOME: workspace },
  };
  const service = {
    config: config as unknown as Config,
    clock,
    store: opened.store,
    git,
    sandbox: () => createSandbox('off', {}),
    setups: createSetups(),
    languageServers: createLanguageServers(),
    leaving: new Set(),
    runs: createRuns(),
    network: () => HOST_NETWORK,
    requiresKey: () => false,
    consoleSessions: { open: () => '', keyOf: () => undefined },
    callers: { callerOf: async () => 'operator' },
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  } as unknown as Service;
  const hapi = createServer({
    sections: sections.filter(({ title }) => title === 'Worktrees'),
    service,
    host: '127.0.0.1',
    port: 4321,
  });
  const item = await createCase(service, { title: 'Fix the login', type: 'bug' });
  return { service, hapi, workspace, repository, item, send: sender(hapi) };
};

/** The worktree of the fixture's Work item, made by a call. */
export const create = async ({ send, item }: Fixture, more: object = {}): Promise<Worktree> => {
  const { status, body } = await send('POST', '/api/worktrees', { case_id: item.id, ...more });
  assert.equal(status, 201, JSON.stringify(body));
  return body as unknown as Worktree;
};

/** Takes the session lock, as a session that goes on or an operator. */
export const hold = async ({ service, item }: Fixture, kind: 'session' | 'operator') => {
  const acquired_at = new Date().toISOString();
  const session_id = kind === 'session' ? { session_id: NOBODY } : {};
  assert.ok(await acquireLock(service.store, item.id, { kind, ...session_id, acquired_at }));
};

export const codes = (...answers: Pick<Answer, 'status' | 'body'>[]) =>
  answers.map(({ status, body }) => [status, body.code]);

/** Commits a new file in a checkout, and answers the commit. */
export const commit = (git: TestRepository['git'], root: string, name: string): string => {
  writeFiles(root, { [name]: `${name}\n` });
  git('add', '--all');
  git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', name);
  return git('rev-parse', 'HEAD').trim();
};

const front = (yaml: string): string => `---\n${yaml}\n---\n`;

const ignore = (): void => undefined;

const sender =
  (hapi: Server): Send =>
  async (method, url, payload, headers = {}) => {
    const sent = payload !== undefined && { payload };
    const answer = await hapi.inject({ method, url, headers, ...sent });
    const body = answer.payload === '' ? {} : JSON.parse(answer.payload);
    const { location, etag } = answer.headers as Record<string, string>;
    return { status: answer.statusCode, location, etag, body };
  };
