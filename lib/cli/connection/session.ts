import type { Dossier, Session } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';

const ALL = 1000;
// Of those that wait behind it, or ended before, nobody speaks.
const GOES_ON: ReadonlySet<Session['status']> = new Set([
  'planning',
  'plan_ready',
  'working',
  'paused',
]);

/**
 * The session of a Work item that is meant: the one that goes on, else the newest, or the one whose id begins with `word`. Throws a Refusal where
 * there is none, or several begin with it.
 */
export const sessionOf = async (dossier: Dossier, id: string, word = ''): Promise<Session> => {
  const sessions = await dossier.call('GET /cases/{id}/sessions', { id, query: { limit: ALL } });
  const meant = word.toLowerCase();
  const found = sessions.filter((session) => session.id.startsWith(meant));
  if (word !== '' && found.length > 1)
    throw new Refusal(`The ids of ${found.length} sessions begin with ${word}. Say more of it`);
  const goesOn = word === '' ? found.findLast(({ status }) => GOES_ON.has(status)) : undefined;
  const newest = goesOn ?? found.at(-1);
  if (newest !== undefined) return newest;
  throw new Refusal(
    word === ''
      ? `It has no session yet. Begin one: dossier start ${id.slice(0, 8)}`
      : `It has no session whose id begins with ${word}: dossier show ${id.slice(0, 8)} lists them`,
  );
};
