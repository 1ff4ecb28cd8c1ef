/** Two machines: each has a clone of one bare repository, and a daemon with a `.dossier/` of its own. */
import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { layoutOf } from '../../store/layout.ts';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { makeWorkspaceFiles } from '../../store/workspace/workspace-files.ts';
import { eventually } from './eventually.ts';
import { type AsyncGit, asyncGit } from './git-workspace.ts';
import { settled } from './many-items.ts';
import { temporaryDirectory, writeFiles } from './repository.ts';
import { type Running, startForTest } from './service.ts';

export interface Machine {
  running: Running;
  workspace: string;
  git: AsyncGit;
  call: Running['call'];
  /** Sends a request and answers its body; an error fails the test. */
  send<T = Record<string, unknown>>(method: string, path: string, body?: unknown): Promise<T>;
  /** All that this machine changed is in a commit: its daemon's, or one by hand. */
  committed(): Promise<void>;
  /** What was told since the last time this was asked, once all is told. */
  told(): Promise<string[]>;
}

export const twoMachines = async (
  t: TestContext,
  { autocommit = false }: { autocommit?: boolean } = {},
): Promise<[Machine, Machine]> => {
  const root = temporaryDirectory(t);
  const bare = join(root, 'shared.git');
  const first = join(root, 'one');
  mkdirSync(first);
  await asyncGit(root)('init', '--quiet', '--bare', '--initial-branch=main', bare);
  await makeWorkspaceFiles(layoutOf(first));
  writeFiles(first, { 'workspace.md': `---\nautocommit: ${autocommit}\n---\n` });
  const git = asyncGit(first);
  await git('init', '--quiet', '--initial-branch=main');
  await introduce(git, 'One');
  await git('add', '--all');
  await git('commit', '--quiet', '--message', 'workspace');
  await git('remote', 'add', 'origin', bare);
  await git('push', '--quiet', '--set-upstream', 'origin', 'main');
  await asyncGit(root)('clone', '--quiet', bare, 'two');
  await introduce(asyncGit(join(root, 'two')), 'Two');
  return [await machine(t, first, autocommit), await machine(t, join(root, 'two'), autocommit)];
};

const introduce = async (git: AsyncGit, name: string): Promise<void> => {
  await git('config', 'user.name', name);
  await git('config', 'user.email', `${name.toLowerCase()}@example.com`);
  await git('config', 'pull.rebase', 'false');
};

const machine = async (
  t: TestContext,
  workspace: string,
  autocommit: boolean,
): Promise<Machine> => {
  const running = await startForTest(t, { watch: true, workspace });
  await makeWorkspaceFiles(running.service.store.layout);
  const git = asyncGit(workspace);
  const { call } = running;
  return {
    running,
    workspace,
    git,
    call,
    send: async <T>(method: string, path: string, body?: unknown): Promise<T> => {
      const answer = await call<T>(method, path, body);
      assert.ok(answer.status < 300, `${method} ${path}: ${answer.text}`);
      return answer.body;
    },
    committed: async () => {
      if (!autocommit && (await git('status', '--porcelain')) !== '') {
        await git('add', '--all');
        await git('commit', '--quiet', '--message', 'by hand');
      }
      await eventually(async () => assert.equal(await git('status', '--porcelain'), ''));
    },
    told: async () => {
      await settled(running);
      return running.events.splice(0).map(inWords).toSorted();
    },
  };
};

const inWords = ({ event_type, payload }: Running['events'][number]): string =>
  event_type === 'case_state_changed'
    ? `${event_type} ${payload.old_state} ${payload.new_state}`
    : event_type;

const PLAN = 'Make the file:\n\n```sh\nprintf "hello\\n" > hello.txt\n```\n';

export const newItem = ({ send }: Machine, title: string): Promise<Case> =>
  send('POST', '/cases', { title, type: 'feature', description: PLAN });

/** A session of the embedded provider, approved, up to its end. */
export const workOn = async (machine: Machine, { id }: Case): Promise<Session> => {
  const session = await planFor(machine, { id });
  await machine.send('POST', `/cases/${id}/sessions/${session.id}/approve`, {});
  return untilStatus(machine, session, 'completed');
};

export const planFor = async (machine: Machine, { id }: Pick<Case, 'id'>): Promise<Session> => {
  const session = await machine.send<Session>('POST', `/cases/${id}/sessions`, {
    type: 'implementing',
  });
  return untilStatus(machine, session, 'plan_ready');
};

export const untilStatus = (
  { send }: Machine,
  { id, case_id }: Session,
  status: string,
): Promise<Session> =>
  eventually(async () => {
    const now = await send<Session>('GET', `/cases/${case_id}/sessions/${id}`);
    assert.equal(now.status, status, now.error ?? undefined);
    return now;
  });
