/** The world with a daemon in this process, and with one in a process of its own. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Session } from '../../store/records/session.ts';
import type { Settings } from '../../store/records/settings.ts';
import { settingsOf } from '../../store/settings/globals.ts';
import { type Daemon, startDaemon } from '../helpers/daemon.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { type Answer, type Host, makeWorld, openTraces, type Traces, type World } from './world.ts';

/** The service in this process. */
const hostOf = (running: Running): Host => {
  let isUp = true;
  return {
    call: (method, path, body, key) =>
      running.call(method, path, body, {
        accept: path.includes('/dashboard') ? 'text/html' : 'application/json',
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      }),
    start: async () => {
      await running.restart();
      isUp = true;
    },
    stop: async () => {
      isUp = false;
      await running.stop();
    },
    isUp: () => isUp,
    isKilled: false,
    sweep: async () => {
      await sweepWorkspace(running.service.store);
      running.service.dispatcher.changed();
    },
    isQuiet: async () => running.service.engine.live.size === 0,
  };
};

/** A repository whose own settings start programs wherever git reads them. */
const hostileRepository = (t: TestContext, evil: string): string => {
  const { root, git } = makeRepository(t, {
    files: { '.gitattributes': '* filter=x diff=x\n', a: 'a\n' },
  });
  const command = `sh -c 'echo git >> ${evil}'`;
  for (const name of [
    'core.fsmonitor',
    'diff.external',
    'core.sshCommand',
    'core.pager',
    'core.editor',
    'filter.x.clean',
    'filter.x.smudge',
    'diff.x.textconv',
    'diff.x.command',
    'gpg.program',
    'credential.helper',
  ])
    git('config', name, name === 'credential.helper' ? `!${command}` : command);
  mkdirSync(join(root, '.git/hooks'), { recursive: true });
  for (const name of [
    'post-checkout',
    'pre-commit',
    'post-index-change',
    'reference-transaction',
    'post-commit',
  ])
    writeFileSync(join(root, '.git/hooks', name), `#!/bin/sh\n${command}\n`, { mode: 0o755 });
  return root;
};

/** The service in this process, and the settings in force as it has them. */
export const worldHere = async (
  t: TestContext,
): Promise<{ world: World; inForce: () => Settings }> => {
  const traces = await openTraces(t);
  const env = { HOME: homeFor(t, traces) };
  const running = await startForTest(t, { trust: false, env });
  const { repository, workspace } = running;
  const hostile = hostileRepository(t, traces.evil);
  writeFileSync(traces.evil, '');
  const world = await makeWorld({ host: hostOf(running), workspace, repository, hostile, traces });
  return { world, inForce: () => settingsOf(running.service.store) };
};

const homeFor = (t: TestContext, { fine }: Traces): string => {
  const home = temporaryDirectory(t);
  const work = `echo agent >> ${fine}\n`;
  writeFiles(home, { '.test-agent/plan.sh': ':\n', '.test-agent/work.sh': work });
  return home;
};

const isRunning = (status: string): boolean => status === 'planning' || status === 'working';

const headersFor = (path: string, body: unknown, key: string | undefined) => ({
  accept: path.includes('/dashboard') ? 'text/html' : 'application/json',
  ...(body !== undefined && {
    'content-type': typeof body === 'string' ? 'text/markdown' : 'application/json',
  }),
  ...(key !== undefined && { authorization: `Bearer ${key}` }),
});

// Undefined where the daemon died before it had answered.
const send = async <T>(
  url: string | undefined,
  method: string,
  path: string,
  { body, key }: { body: unknown; key: string | undefined },
): Promise<Answer<T> | undefined> => {
  const headers = headersFor(path, body, key);
  const sent = typeof body === 'string' ? body : body && JSON.stringify(body);
  try {
    const answer = await fetch(`${url}${path}`, { method, headers, body: sent as string });
    const text = await answer.text();
    const isJson = `${answer.headers.get('content-type')}`.includes('json') && text !== '';
    return { status: answer.status, text, body: (isJson ? JSON.parse(text) : undefined) as T };
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
};

/** A daemon in a process of its own: it is killed wherever it is stopped. */
export const worldOfProcess = async (t: TestContext): Promise<World> => {
  const traces = await openTraces(t);
  const repository = makeRepository(t);
  const workspace = temporaryDirectory(t);
  // Where this process looks for what is decided, too.
  const state = { XDG_STATE_HOME: dirname(STATE_DIR) };
  const env = { DOSSIER_TRUST: '', HOME: homeFor(t, traces), ...state };
  // With --dev it has the operations that the one in this process has.
  const args = ['--workspace', workspace, '--repo', repository.root, '--dev'];
  let daemon: Daemon | undefined;
  const host: Host = {
    call: (method, path, body, key) => send(daemon?.url, method, path, { body, key }),
    start: async () => {
      daemon = await startDaemon(t, args, env);
    },
    stop: async () => {
      await daemon?.end('SIGKILL');
      daemon = undefined;
    },
    isUp: () => daemon !== undefined,
    isKilled: true,
    sweep: async (key) => void (await host.call('GET', '/trust', undefined, key)),
    isQuiet: async (key) => {
      const path = '/api/sessions/active';
      const answer = await host.call<Session[]>('GET', path, undefined, key);
      if (answer?.status !== 200) return true;
      // What files alone say goes on does not.
      return answer.body.every(({ status, unconfirmed }) => unconfirmed || !isRunning(status));
    },
  };
  await host.start();
  const hostile = hostileRepository(t, traces.evil);
  writeFileSync(traces.evil, '');
  return makeWorld({ host, workspace, repository, hostile, traces });
};
