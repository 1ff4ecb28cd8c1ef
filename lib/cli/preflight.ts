import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { hasCode, orElse } from '../../store/base/attempt.ts';
import { dossierCommand } from '../../store/base/text.ts';
import { wasWorkspace } from '../../store/consent/workspace-id.ts';
import { type Layout, layoutOf } from '../../store/layout.ts';
import { holderOf } from '../../store/workspace/daemon-lock.ts';
import { makeWorkspace } from '../../store/workspace/workspace-files.ts';
import type { Config } from '../config.ts';
import { isLoopbackAddress } from '../http/local-only.ts';
import { findRepository, whyUnfit } from '../tools/git/read/repository.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';
import { Refusal } from './args/refusal.ts';
import { shellCommand } from './args/shell-command.ts';

/** Creates the workspace's directory if needed. Throws a Refusal if it cannot be a workspace. */
export const ensureWorkspace = ({ workspace }: Config): void => {
  const why = makeWorkspace(workspace);
  if (why !== undefined)
    throw new Refusal(`${workspace} ${why}. Fix that, or give another directory with --workspace.`);
};

/** Throws a Refusal for an empty directory that was a workspace: a new one would be made where its disk is mounted. */
export const refuseEmptied = (config: Config): void => {
  const why = whyEmptied(config);
  if (why !== undefined) throw new Refusal(`${config.workspace} ${why}`);
};

/** Says of an empty directory that was a workspace what helps, as words that follow its path. Undefined for any other. */
export const whyEmptied = (config: Config): string | undefined => {
  const { workspace, state } = config;
  const names = orElse(() => readdirSync(workspace), undefined);
  if (names?.length !== 0 || !wasWorkspace(layoutOf(workspace, state))) return undefined;
  return `is empty, but was a workspace of this machine: its disk may not be mounted. Mount it; or begin a new workspace there: ${shellCommand(config, 'init')}`;
};

/** Throws a Refusal unless the given repository is a git repository, and not the workspace. */
export const checkRepository = async ({ repo, workspace, env }: Config): Promise<void> => {
  if (repo === undefined) return;
  const git = createGit({ env: cleanEnvironment(env) });
  const found = await findRepository(git, repo);
  if (found === undefined) {
    // A place that cannot be looked at is refused as that.
    statSync(repo, { throwIfNoEntry: false });
    throw new Refusal(
      `${repo} is not a git repository. Run git init there, or name another one with --repo.`,
    );
  }
  const unfit = whyUnfit(found);
  if (unfit !== undefined) throw new Refusal(`${JSON.stringify(repo)} ${unfit}.`);
  if (found.root === workspace)
    throw new Refusal(
      `${workspace} cannot be both the workspace and a project's repository. Give another directory with --workspace.`,
    );
};

/** Throws a Refusal for an address that other machines can reach. */
export const checkHost = ({ host }: Config): void => {
  if (isLoopbackAddress(host)) return;
  throw new Refusal(
    `${host} is reachable from other machines, but only this one may call the API. Use --host 127.0.0.1.`,
  );
};

// A daemon with a few sessions has about a hundred files, sockets and pipes open.
const LEAST_FILES = 128;

/** How many files this process may open; Infinity without a limit, or without `/proc`. */
export const mostOpenFiles = (): number => {
  const limits = orElse(() => readFileSync('/proc/self/limits', 'utf8'), '');
  return Number(/^Max open files +(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY);
};

/** Throws a Refusal if this process may open too few files. */
export const checkOpenFiles = (): void => {
  const most = mostOpenFiles();
  if (most >= LEAST_FILES) return;
  throw new Refusal(
    `The limit of open files is ${most}, and the daemon needs ${LEAST_FILES} or more. Raise it with ulimit -n 1024, or with LimitNOFILE=1024 in a systemd unit, then start again.`,
  );
};

/** Throws a Refusal if the daemon cannot listen on the address and port. */
export const checkPort = async (config: Config): Promise<void> => {
  const { host, port } = config;
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw toListenError(error, config);
  }
  server.close();
  await once(server, 'close');
};

export const toListenError = (error: unknown, { host, port, workspace }: Config): unknown => {
  if (hasCode(error, 'EADDRINUSE')) {
    const holder = holderOf(layoutOf(workspace));
    if (holder?.url?.endsWith(`:${port}`))
      return new Refusal(
        `The workspace ${workspace} already has a daemon: process ${holder.pid}, listening on ${holder.url}. Use it, or stop it first: ${dossierCommand('stop', workspace)}`,
      );
    return new Refusal(
      `Port ${port} is in use by another program. Give another with --port or DOSSIER_PORT; 0 is any free one.`,
    );
  }
  if (hasCode(error, 'EACCES'))
    return new Refusal(
      `This user has no permission to listen on port ${port}. Give another with --port.`,
    );
  if (hasCode(error, 'EADDRNOTAVAIL', 'ENOTFOUND'))
    return new Refusal(`This machine has no address ${host}. Use --host 127.0.0.1.`);
  return error;
};

const MOST = 100;

/** The ports to try if none is given: the last one, then the default one and those after it. */
export const portsToTry = (layout: Layout, { port }: Config): number[] => {
  const last = remembered(layout);
  const usual = Array.from({ length: MOST }, (_, at) => port + at);
  return last === undefined ? usual : [last, ...usual.filter((each) => each !== last)];
};

const remembered = ({ port }: Layout): number | undefined => {
  const text = orElse(() => readFileSync(port, 'utf8').trim(), '');
  const value = Number(text);
  return /^\d{1,5}$/.test(text) && value > 0 && value <= 65_535 ? value : undefined;
};

/** Saves the port for the next start, so that bookmarks and clients find the daemon again. */
export const rememberPort = (layout: Layout, port: number): void => {
  if (remembered(layout) !== port) writeFileSync(layout.port, `${port}\n`, { mode: 0o600 });
};
