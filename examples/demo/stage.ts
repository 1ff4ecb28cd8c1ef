import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { devNull, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** What the demo plays on: a sample repository, a workspace, and a daemon of its own. */
export interface Stage {
  root: string;
  repository: string;
  workspace: string;
  url: string;
  pid: number;
  /** Stops the daemon and removes what was made here. */
  close(): Promise<void>;
  /** Leaves all as it is: the daemon lives on when the demo ends. */
  leave(): void;
}

/** Makes the directory, or takes an empty one; throws when there is something in it. */
export const openStage = async (dir: string | undefined): Promise<Stage> => {
  const { root, remove } = makeRoot(dir);
  const repository = join(root, 'repository');
  const workspace = join(root, 'workspace');
  try {
    makeRepository(repository);
    makeWorkspace(workspace);
    const daemon = await startDaemon(root, ['--workspace', workspace, '--repo', repository]);
    const close = async (): Promise<void> => {
      await stop(daemon.child);
      remove();
    };
    const leave = (): void => daemon.child.unref();
    const { url } = daemon;
    return { root, repository, workspace, url, pid: daemon.child.pid ?? 0, close, leave };
  } catch (error) {
    remove();
    throw error;
  }
};

// Only what is made here is removed: a directory that was there before stays.
const makeRoot = (dir: string | undefined): { root: string; remove: () => void } => {
  const wanted = dir === undefined ? mkdtempSync(join(tmpdir(), 'dossier-demo-')) : resolve(dir);
  const isOurs = mkdirSync(wanted, { recursive: true }) !== undefined || dir === undefined;
  const root = realpathSync(wanted);
  if (readdirSync(root).length > 0) throw new Error(`${root} is not empty: name another one.`);
  const remove = (): void => {
    for (const name of readdirSync(root)) rmSync(join(root, name), { recursive: true });
    if (isOurs) rmSync(root, { recursive: true });
  };
  return { root, remove };
};

const DOSSIER = fileURLToPath(new URL('../../dossier.js', import.meta.url));

const SAMPLE = {
  'README.md': '# Greet\n\n`sh greet.sh NAME` says hello.\n',
  'greet.sh': '#!/bin/sh\necho "Hello, world!"\n',
};

// No setting of this machine's git is used: neither a name to commit under nor a hook is expected to be there.
const GIT_ENV = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: devNull,
  GIT_AUTHOR_NAME: 'Demo',
  GIT_AUTHOR_EMAIL: 'demo@example.com',
  GIT_COMMITTER_NAME: 'Demo',
  GIT_COMMITTER_EMAIL: 'demo@example.com',
};

const makeRepository = (path: string): void => {
  const git = (...args: string[]): void => {
    execFileSync('git', args, { cwd: path, env: { ...process.env, ...GIT_ENV }, stdio: 'pipe' });
  };
  mkdirSync(path);
  for (const [name, text] of Object.entries(SAMPLE)) writeFileSync(join(path, name), text);
  git('init', '--quiet', '--initial-branch=main');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'Say hello');
};

// A git repository of its own, and each change a commit: so that there is a history to look at.
const makeWorkspace = (path: string): void => {
  execFileSync(process.execPath, [DOSSIER, 'init', '--workspace', path], { stdio: 'pipe' });
  const settings = join(path, 'workspace.md');
  const text = readFileSync(settings, 'utf8');
  writeFileSync(settings, text.replace('#autocommit: false', 'autocommit: true'));
};

const PATIENCE_MS = 20_000;

// Its output goes to a file: a pipe would break when the demo ends before it.
const startDaemon = async (
  root: string,
  args: string[],
): Promise<{ child: ChildProcess; url: string }> => {
  const path = join(root, 'daemon.log');
  const log = openSync(path, 'a');
  const how = ['--host', '127.0.0.1', '--port', '0', '--trust'];
  const child = spawn(process.execPath, [DOSSIER, 'serve', ...how, ...args], {
    cwd: root,
    detached: true,
    stdio: ['ignore', log, log],
  });
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end && child.exitCode === null; ) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(readFileSync(path, 'utf8'))?.[0];
    if (url !== undefined) return { child, url };
    await pause(20);
  }
  await stop(child);
  throw new Error(`The daemon did not start. It wrote:\n${readFileSync(path, 'utf8')}`);
};

const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
};
