import type { Dossier, Session } from '../../client/client.ts';
import type { Call } from '../args/command.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from './item.ts';

// A queued or ended session is not the current one.
const GOES_ON: ReadonlySet<Session['status']> = new Set([
  'planning',
  'plan_ready',
  'working',
  'paused',
]);

/** Finds the session that a command is about: of ITEM, its first argument, and by the option `--session`. */
export const sessionOf = async ({ dossier, words, values }: About): Promise<Session> =>
  findSession(dossier, await findItem(dossier, words[0]), values.session);

interface About extends Pick<Call, 'words' | 'values'> {
  dossier: Dossier;
}

/** Finds a session of a Work item, as `chooseSession` does. */
export const findSession = async (dossier: Dossier, id: string, word?: string): Promise<Session> =>
  chooseSession(await listSessions(dossier, id), id, word);

export const listSessions = (dossier: Dossier, id: string): Promise<readonly Session[]> =>
  dossier.call('GET /cases/{id}/sessions', { id });

/**
 * Chooses a session of a Work item: by the beginning of its id, or else the current one, or else the newest. Throws a Refusal
 * if there is none, or several ids match.
 */
export const chooseSession = (sessions: readonly Session[], id: string, word = ''): Session => {
  const meant = word.toLowerCase();
  const found = sessions.filter((session) => session.id.startsWith(meant));
  if (word !== '' && found.length > 1)
    throw new Refusal(`${word} matches ${found.length} sessions. Give more of the id`);
  const goesOn = word === '' ? found.findLast(({ status }) => GOES_ON.has(status)) : undefined;
  const newest = goesOn ?? found.at(-1);
  if (newest !== undefined) return newest;
  throw new Refusal(
    word === ''
      ? `The Work item has no session yet. Start one: dossier start ${id.slice(0, 8)}`
      : `The Work item has no session whose id begins with ${word}. List them with dossier show ${id.slice(0, 8)}`,
  );
};
