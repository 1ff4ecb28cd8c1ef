/** Holds the journal of a workspace against the model: each change of what was told has its events, once. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { EventRecord } from '../../store/records/event.ts';
import type { Life } from './daemon.ts';
import { eventNamed, eventsBetween, type SeenLine } from './texts.ts';
import { Violation, type World } from './world.ts';

interface Line {
  seen?: SeenLine;
  /** That all of the workspace was told of once; what is found before is no news. */
  told?: { id: string };
  events?: EventRecord[];
}

/** Throws unless every line has exactly the events of its change, each event has one id, and all were heard in order. */
export const checkJournal = ({ root }: World, { heard }: Life): void => {
  const lines = linesIn(join(root, '.dossier/journal'));
  const seen = new Map<string, SeenLine['state']>();
  const known = lines.findIndex(({ told }) => told?.id === 'workspace');
  for (const [n, { seen: now, events = [] }] of lines.entries()) {
    if (now === undefined) continue;
    const before = seen.get(now.id) ?? null;
    const expected = isNews(before, n - known) ? eventsBetween(now.id, before, now.state) : [];
    const told = events.map(({ body }) => eventNamed(body));
    if (!isDeepStrictEqual(told, expected))
      throw new Violation(`The journal tells ${told}, where the change is ${expected}`);
    seen.set(now.id, now.state);
  }
  const all = lines.flatMap(({ events = [] }) => events.map(({ id }) => id));
  if (new Set(all).size !== all.length) throw new Violation('An event has the id of another');
  const ids = heard.map(({ id }) => id);
  if (!isDeepStrictEqual(ids, all))
    throw new Violation(`${ids.length} events were heard, ${all.length} are in the journal`);
};

// What is met while nobody has told of the workspace yet is none.
const isNews = (before: SeenLine['state'], after: number): boolean => before !== null || after > 0;

const linesIn = (dir: string): Line[] =>
  readdirSync(dir).flatMap((name) =>
    readFileSync(join(dir, name), 'utf8')
      .replaceAll('\0', '')
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line.slice(9)) as Line),
  );
