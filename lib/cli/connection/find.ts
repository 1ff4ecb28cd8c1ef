import type { Case, Dossier, Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { counted } from '../../text/wording.ts';
import { Refusal } from '../args/refusal.ts';
import type { Verb } from '../verbs/verb.ts';

type Named = Pick<Case, 'id' | 'title' | 'project'>;

const SHOWN = 10;
// Fewer letters are part of too many titles.
const SHORTEST = 3;

/** What a search needs: the daemon, and the form of the commands in a Refusal. */
type Caller = Pick<Verb, 'dossier' | 'typed'>;

/**
 * Finds a Work item by its id, the beginning of its id, or words of its title, and returns its id. Throws a Refusal if none
 * or several match, or if one or two letters match no id or title exactly; and a UsageError for an empty word.
 */
export const findItem = async ({ dossier, typed }: Caller, word = ''): Promise<string> => {
  if (word.trim() === '') throw new UsageError('ITEM is empty: give an id, or words of a title');
  const found = await candidates(dossier, word.trim());
  const [only] = found;
  if (only === undefined)
    throw new Refusal(
      `No Work item has an id that begins with ${word}, or a title that contains it. List them: ${typed('ls')}`,
    );
  const isOnly = found.length === 1 && word.trim().length >= SHORTEST;
  const exact = exactOf(found, word.trim()) ?? (isOnly ? only : undefined);
  if (exact !== undefined) return exact.id;
  const more = found.length > SHOWN ? ['  …'] : [];
  const several = `${word} matches ${counted(found.length, 'Work item')}:`;
  throw new Refusal(
    [several, ...found.slice(0, SHOWN).map(lineOf), ...more, 'Use an id'].join('\n'),
  );
};

const lineOf = ({ id, title, project }: Named): string =>
  `  ${id.slice(0, 8)}  ${title}${project === undefined ? '' : ` (${project})`}`;

// Prefers an exact id, then an exact title.
const exactOf = (found: readonly Named[], word: string): Named | undefined => {
  const wanted = word.toLowerCase();
  const byId = found.find(({ id }) => id === wanted);
  const titled = found.filter(({ title }) => title.toLowerCase() === wanted);
  return byId ?? (titled.length === 1 ? titled[0] : undefined);
};

const candidates = async (dossier: Dossier, word: string): Promise<Named[]> => {
  const list = async (
    query: { id_prefix: string; limit: number } | { search: string },
  ): Promise<Named[]> =>
    (await dossier.call('GET /cases', {
      query: { ...query, fields: 'title,project', order: 'newest' },
    })) as Named[];
  const byId = /^[0-9a-f-]{1,36}$/i.test(word) ? await list({ id_prefix: word, limit: MOST }) : [];
  // Without a limit: descriptions are searched, too, and may be of any number of newer Work items.
  const wanted = word.toLowerCase().split(/\s+/);
  const byTitle = (await list({ search: word })).filter(({ title }) =>
    wanted.every((part) => title.toLowerCase().includes(part)),
  );
  return [...new Map([...byId, ...byTitle].map((item) => [item.id, item])).values()];
};

const MOST = 100;

/** Reads these fields of Work items, by their ids. One that is gone is left out. */
export const readCases = async (
  dossier: Dossier,
  ids: readonly string[],
  fields: string,
): Promise<Map<string, Partial<Case>>> => {
  const found = new Map<string, Partial<Case>>();
  for (let at = 0; at < ids.length; at += MOST) {
    const query = { ids: ids.slice(at, at + MOST).join(','), fields, limit: MOST };
    for (const item of await dossier.call('GET /cases', { query })) found.set(item.id, item);
  }
  return found;
};

// A queued or ended session is not the current one, nor is one that only another machine can continue.
const GOES_ON: ReadonlySet<Session['status']> = new Set([
  'planning',
  'plan_ready',
  'working',
  'paused',
]);

/** Finds the session that a command is about: of ITEM, its first argument, and by the option `--session`. */
export const sessionOf = async (given: Verb): Promise<Session> =>
  findSession(given, await findItem(given, given.words[0]), given.values.session);

/** Finds a session of a Work item, as `chooseSession` does. */
export const findSession = async (given: Verb, id: string, word?: string): Promise<Session> =>
  chooseSession(given, await listSessions(given.dossier, id), { id, word });

/** The sessions of a Work item. Throws a Refusal if there are none because their files cannot be read. */
export const listSessions = async (dossier: Dossier, id: string): Promise<readonly Session[]> => {
  const sessions = await dossier.call('GET /cases/{id}/sessions', { id });
  if (sessions.length > 0) return sessions;
  const { path } = await dossier.call('GET /cases/{id}', { id });
  const query = { path: `${path}/sessions` };
  const [unread] = await dossier.call('GET /api/diagnostics', { query });
  if (unread === undefined) return sessions;
  throw new Refusal(
    `The sessions of the Work item cannot be read: ${unread.file}: ${unread.message}`,
  );
};

/**
 * Chooses a session of a Work item: by the beginning of its id, or else the current one, or else the newest. Throws a Refusal
 * if there is none, or several ids match.
 */
export const chooseSession = (
  { typed }: Verb,
  sessions: readonly Session[],
  { id, word = '' }: { id: string; word: string | undefined },
): Session => {
  const meant = word.toLowerCase();
  const found = sessions.filter((session) => session.id.startsWith(meant));
  if (word !== '' && found.length > 1) throw new Refusal(severalText(word, found));
  const isCurrent = ({ status, elsewhere }: Session): boolean =>
    GOES_ON.has(status) && elsewhere !== true;
  const goesOn = word === '' ? found.findLast(isCurrent) : undefined;
  const newest = goesOn ?? found.at(-1);
  if (newest !== undefined) return newest;
  throw new Refusal(
    word === ''
      ? `The Work item has no session yet. Start one: ${typed(`start ${id.slice(0, 8)}`)}`
      : `The Work item has no session whose id begins with ${word}. List them: ${typed(`show ${id.slice(0, 8)}`)}`,
  );
};

// More of the id does not help where a directory was copied.
const severalText = (word: string, found: readonly Session[]): string => {
  const [only, ...others] = new Set(found.map(({ id }) => id));
  if (others.length > 0) return `${word} matches ${found.length} sessions. Give more of the id`;
  const paths = found.map(({ path }) => path).join(', ');
  return `Session ${only} is in ${found.length} directories: ${paths}. Compare them, and remove the one that is not yours`;
};
