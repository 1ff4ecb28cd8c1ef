import { once } from 'node:events';
import { createServer } from 'node:net';
import { hasCode } from '../../store/fs/durable.ts';
import { makeWorkspace } from '../../store/workspace/workspace-files.ts';
import type { Config } from '../config.ts';
import { isLoopbackAddress } from '../http/local-only.ts';
import { findRepository } from '../tools/git/read/repository.ts';
import { createGit } from '../tools/git/run/create-git.ts';
import { cleanEnvironment } from '../tools/process/environment.ts';
import { Refusal } from './args/refusal.ts';
import { readFileSync, writeFileSync } from 'node:fs';
import { orElse } from '../../store/base/or-else.ts';
import type { Layout } from '../../store/layout.ts';

/** Makes the workspace's directory if need be. Throws a Refusal when it cannot be one. */
export const needWorkspace = ({ workspace }: Config): void => {
  const why = makeWorkspace(workspace);
  if (why !== undefined)
    throw new Refusal(`${workspace} ${why}. Give another directory with --workspace.`);
};

/** Throws a Refusal unless the repository that was named is one, and not the workspace. */
export const checkRepository = async ({ repo, workspace, env }: Config): Promise<void> => {
  if (repo === undefined) return;
  const git = createGit({ env: cleanEnvironment(env) });
  const found = await findRepository(git, repo);
  if (found === undefined)
    throw new Refusal(
      `${repo} is not a git repository. Run git init there, or name another one with --repo.`,
    );
  if (found.root === workspace)
    throw new Refusal(
      `${workspace} cannot be both the workspace and the repository that is worked on. Give another directory with --workspace.`,
    );
};

/** Throws a Refusal on an address that others could reach. */
export const checkHost = ({ host }: Config): void => {
  if (isLoopbackAddress(host)) return;
  throw new Refusal(
    `${host} can be reached from other machines, and only this one may call the API. Use --host 127.0.0.1.`,
  );
};

/** Throws a Refusal where nothing can listen. */
export const checkPort = async (config: Config): Promise<void> => {
  const { host, port } = config;
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
  } catch (error) {
    throw whyNotListening(error, config);
  }
  server.close();
  await once(server, 'close');
};

export const whyNotListening = (error: unknown, { host, port }: Config): unknown => {
  if (hasCode(error, 'EADDRINUSE'))
    return new Refusal(
      `Port ${port} is taken by another program. Give another with --port, or --port 0 for any free one.`,
    );
  if (hasCode(error, 'EACCES')) return new Refusal(`Port ${port} is not open to this user.`);
  if (hasCode(error, 'EADDRNOTAVAIL', 'ENOTFOUND'))
    return new Refusal(`This machine has no address ${host}. Use --host 127.0.0.1.`);
  return error;
};

const MOST = 100;

/** What a daemon tries that was told no port: the one that it had last, then the usual one and those behind it. */
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

/** For the next time: whoever has its address finds it there again. */
export const rememberPort = (layout: Layout, port: number): void => {
  if (remembered(layout) !== port) writeFileSync(layout.port, `${port}\n`, { mode: 0o600 });
};
