import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { orElse } from '../../../store/base/attempt.ts';
import { shellQuoted } from '../../../store/base/text.ts';
import { statsAt } from '../../../store/fs/plain-path.ts';
import { layoutOf } from '../../../store/layout.ts';
import { holderOf, proofOf } from '../../../store/workspace/daemon-lock.ts';
import type { Owner } from '../../../store/workspace/owner.ts';
import type { Dossier, Fetch } from '../../client/client.ts';
import { connect } from '../../client/node/connect.ts';
import { createLocalFetch } from '../../client/node/local-fetch.ts';
import type { Config } from '../../config.ts';
import { NoDaemon, Refusal } from '../args/refusal.ts';
import { shellCommand } from '../args/shell-command.ts';

/** A verified connection to the daemon of the workspace. */
export interface DaemonConnection {
  url: string;
  /** The path of its socket, if it has one. */
  socket: string | undefined;
  pid: number;
  dossier: Dossier;
}

const PATIENCE_MS = 10_000;
const AGAIN_MS = 200;
const TRIES = 10;

/**
 * Finds the daemon of the workspace by owner.json; undefined if none is running, or it is not ready yet. Sends nothing, and
 * no key, to its address before it has answered a challenge: the daemon may have ended, and another program may listen
 * there. Throws a Refusal in that case, and for a key that cannot be sent.
 */
export const findDaemon = async (config: Config): Promise<DaemonConnection | undefined> => {
  const found = await locate(config, TRIES);
  if (found === undefined) return undefined;
  const { url, socket, pid } = found;
  const key = keyIn(config);
  return { url, socket, pid, dossier: connect({ url, key, fetch: fetchFor(config, found) }) };
};

// Such a key cannot be sent, which looks like a lost connection.
const keyIn = ({ env: { DOSSIER_KEY: key = '' } }: Config): string | undefined => {
  if (/[^!-~]/.test(key))
    throw new Refusal(
      'The API key in DOSSIER_KEY contains a line end, a space or another character that no key has. Set it again without that',
    );
  return key || undefined;
};

type Located = Omit<DaemonConnection, 'dossier'> & { fetch: Fetch };

// A stream that is opened again finds the daemon again, which may have been restarted at another address.
const fetchFor = (config: Config, first: Located): Fetch => {
  let at = first;
  return async (to, init = {}) => {
    const { accept } = { ...init.headers } as Record<string, string>;
    if (accept === 'text/event-stream') {
      const now = await locate(config, 0);
      if (now === undefined) throw new Error('It is not running.');
      at = now;
    }
    return at.fetch(at.url + to.slice(first.url.length), init);
  };
};

const locate = async (config: Config, tries: number): Promise<Located | undefined> => {
  const { workspace } = config;
  const layout = layoutOf(workspace);
  const owner = holderOf(layout);
  if (owner?.url === undefined) return undefined;
  refuseOtherState(config, owner);
  const { url, socket, pid } = owner;
  if (!isLoopback(url))
    throw new Refusal(
      `${layout.owner} names ${url}, which is not this machine, so nothing was sent. Stop the daemon of ${workspace}, if one is running, and remove that file`,
    );
  const fetch = createLocalFetch(() => socket);
  const said = await provesOwner(fetch, url, owner);
  // A daemon that restarts, as after its workspace was moved, answers again soon.
  if (said === undefined && tries > 0) {
    await delay(AGAIN_MS);
    return locate(config, tries - 1);
  }
  if (said === 'late')
    throw new Refusal(
      `The daemon of ${workspace} (process ${pid}) has not answered for ${PATIENCE_MS / 1000} s. If it is suspended, continue it: kill -CONT ${pid}. Otherwise read its log: ${layout.log}`,
    );
  if (said === undefined)
    throw new Refusal(
      `The daemon of ${workspace} (process ${pid}) does not answer at ${url}. Read its log: ${layout.log}`,
    );
  if (!said)
    throw new Refusal(
      `The program that listens at ${url} is not the daemon of ${workspace} (process ${pid}), so nothing was sent. Find out what it is, then stop it or process ${pid}`,
    );
  return { url, socket, pid, fetch };
};

// Decisions of the operator would be stored in another directory than the given one.
const refuseOtherState = ({ workspace, state, names_state }: Config, owner: Owner): void => {
  if (names_state !== true || owner.state === undefined || owner.state === state) return;
  throw new Refusal(
    `The daemon of ${workspace} (process ${owner.pid}) stores your decisions in ${owner.state}, not in ${state}. Pass that one with --state-dir, or stop the daemon and start it with the other`,
  );
};

/** Finds the daemon of the workspace. Throws NoDaemon if none is running, or there is no workspace. */
export const requireDaemon = async (config: Config): Promise<DaemonConnection> => {
  requireWorkspace(config);
  const found = await findDaemon(config);
  if (found !== undefined) return found;
  throw new NoDaemon(
    `No daemon is running for ${config.workspace}: ${startCommand(config)} starts one.`,
  );
};

/** Throws NoDaemon if nothing of Dossier is in the directory, as with a mistyped path. */
export const requireWorkspace = (config: Config): void => {
  const { settings, cases, dossier } = layoutOf(config.workspace);
  if ([settings, cases, dossier].some((path) => statsAt(path) !== undefined)) return;
  if (isBelowFile(config.workspace))
    throw new NoDaemon(
      `${config.workspace} is a file, or below one. Name your workspace with --workspace.`,
    );
  // Where the directory is there, it may be the place of a disk that is not mounted: `serve` would refuse.
  const create =
    statsAt(config.workspace) === undefined ? startCommand(config) : shellCommand(config, 'init');
  throw new NoDaemon(
    `There is no workspace in ${config.workspace}. Name yours with --workspace, or create one there: ${create}`,
  );
};

const isBelowFile = (path: string): boolean => {
  const stats = statsAt(path);
  return stats === undefined ? isBelowFile(dirname(path)) : !stats.isDirectory();
};

/** The command that starts the daemon of this workspace. */
export const startCommand = ({ workspace, env }: Config): string =>
  workspace === `${env.HOME}/dossier` ? 'dossier' : `dossier --workspace ${shellQuoted(workspace)}`;

// Daemons listen on loopback only, so any other address is forged.
const isLoopback = (url: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostOf(url));

const hostOf = (url: string): string => orElse(() => new URL(url).hostname, '');

// Whether the answer to a challenge proves the owner; undefined if nothing listens, 'late' if something does and does not answer.
const provesOwner = async (
  fetch: Fetch,
  url: string,
  owner: Owner,
): Promise<boolean | 'late' | undefined> => {
  const challenge = randomBytes(32).toString('hex');
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    const answer = await fetch(`${url}/api/daemon/challenge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ challenge }),
      signal,
    });
    const said = (await answer.json().catch(() => undefined)) as { answer?: unknown } | undefined;
    return said?.answer === proofOf(owner, challenge);
  } catch {
    return signal.aborted ? 'late' : undefined;
  }
};
