import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Server } from '@hapi/hapi';
import { createCase } from '../../../lib/cases/create.ts';
import type { Config } from '../../../lib/config.ts';
import { createServer } from '../../../lib/server.ts';
import type { Service } from '../../../lib/service.ts';
import type { Git } from '../../../lib/tools/git/git.ts';
import { worktreeRoutes } from '../../../routes/worktrees.ts';
import { openStore } from '../../../store/open.ts';
import type { Case } from '../../../store/records/case.ts';
import { atEnd } from '../../helpers/at-end.ts';
import {
  makeRepository,
  type TestRepository,
  temporaryDirectory,
  testGit,
} from '../../helpers/repository.ts';

export interface Fixture {
  service: Service;
  hapi: Server;
  workspace: string;
  repository: TestRepository;
  /** A Work item in the workspace. */
  item: Case;
  send: Send;
}

interface Answer {
  status: number;
  location: string | undefined;
  body: Record<string, unknown>;
}

type Send = (method: 'GET' | 'POST' | 'DELETE', url: string, payload?: object) => Promise<Answer>;

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
  const opened = await openStore(workspace, { clock, follow: () => undefined, report });
  atEnd(t, () => opened.close());
  const config = { workspace, repo: repo === null ? undefined : (repo ?? repository.root) };
  const service = {
    config: config as Config,
    clock,
    store: opened.store,
    git,
    log: { debug: ignore, info: ignore, warn: ignore, error: ignore },
  } as unknown as Service;
  const hapi = createServer({
    sections: [{ title: 'Worktrees', routes: worktreeRoutes }],
    service,
    log: service.log,
    host: '127.0.0.1',
    port: 4321,
    checkKey: async () => false,
  });
  const item = await createCase(service, { title: 'Fix the login', type: 'bug' });
  return { service, hapi, workspace, repository, item, send: sender(hapi) };
};

const front = (yaml: string): string => `---\n${yaml}\n---\n`;

const ignore = (): void => undefined;

const sender =
  (hapi: Server): Send =>
  async (method, url, payload) => {
    const answer = await hapi.inject({ method, url, ...(payload !== undefined && { payload }) });
    const body = answer.payload === '' ? {} : JSON.parse(answer.payload);
    return { status: answer.statusCode, location: answer.headers.location as string, body };
  };
