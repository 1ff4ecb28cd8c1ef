import { randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { orElse } from '../../../store/base/attempt.ts';
import { layoutOf } from '../../../store/layout.ts';
import { holderOf, proofOf } from '../../../store/workspace/daemon-lock.ts';
import type { Owner } from '../../../store/workspace/owner.ts';
import type { Dossier, Fetch } from '../../client/client.ts';
import { connect } from '../../client/node/connect.ts';
import { createLocalFetch } from '../../client/node/local-fetch.ts';
import type { Config } from '../../config.ts';
import { NoDaemon, Refusal } from '../args/refusal.ts';

/** A daemon that is the workspace's own. */
export interface Reached {
  url: string;
  /** The path of its socket, if it has one. */
  socket: string | undefined;
  pid: number;
  dossier: Dossier;
}

const PATIENCE_MS = 5000;
const AGAIN_MS = 200;
const TRIES = 10;

/**
 * The daemon that holds the workspace, as owner.json names it; undefined where none runs, or is not ready yet. Nothing,
 * and no key, is sent to its address before it has answered a challenge as only the owner of that file can: since it was
 * written, its process may have ended and another program may listen there. Throws a Refusal where one does.
 */
export const daemonOf = async (config: Config, tries = TRIES): Promise<Reached | undefined> => {
  const { workspace, env } = config;
  const layout = layoutOf(workspace);
  const owner = holderOf(layout);
  if (owner?.url === undefined) return undefined;
  refuseOtherState(config, owner);
  const { url, socket, pid } = owner;
  if (!isLoopback(url))
    throw new Refusal(
      `${layout.owner} names ${url}, which is not this machine: nothing was sent there. Stop the daemon of ${workspace}, if one runs, and remove that file`,
    );
  const fetch = createLocalFetch(() => socket);
  const said = await answerOf(fetch, url, challengeOf(owner));
  // One that starts anew, as in a workspace that was moved, answers soon again.
  if (said === undefined && tries > 0) {
    await delay(AGAIN_MS);
    return daemonOf(config, tries - 1);
  }
  if (said === undefined)
    throw new Refusal(
      `The daemon of ${workspace} (process ${pid}) does not answer at ${url}. Its log may say why: ${layout.log}`,
    );
  if (!said)
    throw new Refusal(
      `What listens at ${url} is not the daemon of ${workspace} (process ${pid}): nothing was sent to it. Look what it is, and end it or process ${pid}`,
    );
  return { url, socket, pid, dossier: connect({ url, key: env.DOSSIER_KEY || undefined, fetch }) };
};

// What the operator decides would be kept elsewhere than was asked for.
const refuseOtherState = ({ workspace, state, names_state }: Config, owner: Owner): void => {
  if (names_state !== true || owner.state === undefined || owner.state === state) return;
  throw new Refusal(
    `The daemon of ${workspace} (process ${owner.pid}) keeps what you decide in ${owner.state}, not in ${state}. Name that one, or stop the daemon and start it with the other`,
  );
};

/** The same where one is needed. Throws NoDaemon. */
export const needDaemon = async (config: Config): Promise<Reached> => {
  const found = await daemonOf(config);
  if (found !== undefined) return found;
  throw new NoDaemon(`No daemon runs on ${config.workspace}: ${startCommand(config)} starts one.`);
};

/** What starts the daemon of this workspace, as it is typed. */
export const startCommand = ({ workspace, env }: Config): string =>
  workspace === `${env.HOME}/dossier` ? 'dossier' : `dossier --workspace ${workspace}`;

// A daemon listens on loopback alone: another address was written by somebody else.
const isLoopback = (url: string): boolean =>
  /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/.test(hostOf(url));

const hostOf = (url: string): string => orElse(() => new URL(url).hostname, '');

interface Challenge {
  challenge: string;
  proof: string;
}

const challengeOf = (owner: Owner): Challenge => {
  const challenge = randomBytes(32).toString('hex');
  return { challenge, proof: proofOf(owner, challenge) };
};

// Whether it answers as the owner does; undefined where nothing answers.
const answerOf = async (
  fetch: Fetch,
  url: string,
  { challenge, proof }: Challenge,
): Promise<boolean | undefined> => {
  try {
    const answer = await fetch(`${url}/api/daemon/challenge`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ challenge }),
      signal: AbortSignal.timeout(PATIENCE_MS),
    });
    const said = (await answer.json().catch(() => undefined)) as { answer?: unknown } | undefined;
    return said?.answer === proof;
  } catch {
    return undefined;
  }
};
