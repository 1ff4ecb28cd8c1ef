import { join } from 'node:path';
import { isDirectoryItself } from '../disk/plain-path.ts';
import { entryProblem, problemsOfFolder } from '../items/item-files.ts';
import type { Layout } from '../layout.ts';
import { Settings } from '../records/settings.ts';
import { isNewDoubt, isSound, type ReadEntry, readEntry } from '../text/entry.ts';
import { readFolder } from '../text/folder.ts';
import { type FrontMatter, parseFrontMatter } from '../text/front-matter.ts';
import { checkerOf } from '../text/parse.ts';
import { type FileProblem, fileProblem, notAdopted, Problem } from '../text/problem.ts';
import type { Problems } from '../text/problems.ts';
import { amendRecord } from '../text/record-file.ts';
import { type Book, createBook, noteVerdicts, readBook, refreshBook } from '../trust/book.ts';
import { effectiveOf, type WaitingPart } from '../trust/effective.ts';
import { placesOf } from '../trust/place.ts';
import { waitsForTrust } from '../trust/told.ts';
import { parseWebhook, type WebhookFile } from './read-webhooks.ts';

/** What belongs to the whole workspace: settings and global webhook registrations, as last read. */
export interface Globals {
  settings: ReadEntry<Settings> | undefined;
  webhooks: Map<string, ReadEntry<WebhookFile>>;
  readonly problems: Problems;
  /** What the operator has trusted. */
  readonly book: Book;
  /** The settings as far as they are trusted. */
  inForce: InForce;
  /** See Store. */
  lookAgain: ((path: string) => void) | undefined;
}

interface InForce {
  settings: Settings;
  waiting: WaitingPart[];
  /** What they follow from. */
  from: { settings: Settings; version: number };
}

export const createGlobals = (problems: Problems, book = createBook()): Globals => ({
  settings: undefined,
  webhooks: new Map(),
  problems,
  book,
  inForce: { settings: NO_SETTINGS, waiting: [], from: { settings: NO_SETTINGS, version: -1 } },
  lookAgain: undefined,
});

const NO_SETTINGS: Settings = {};

const check = checkerOf(Settings);

const parseSettings = (text: string): Settings => {
  const source = parseFrontMatter(text);
  return check(source.data, source);
};

/** Reads workspace.md; undefined when there is none. Writes nothing. */
export const readSettings = (layout: Layout): ReadEntry<Settings> | undefined =>
  readEntry(layout.settings, { before: undefined, parse: parseSettings });

export interface SettingsText {
  settings: Settings;
  source: FrontMatter;
}

/**
 * workspace.md taken apart; undefined when there is none, or it has no front matter. Where a setting is wrong it says
 * none: what is no setting is told beside that. Writes nothing.
 */
export const readSettingsText = (layout: Layout): SettingsText | undefined => {
  const parse = (text: string): SettingsText => {
    const source = parseFrontMatter(text);
    return { settings: fitting(source), source };
  };
  return readEntry(layout.settings, { before: undefined, parse })?.value;
};

const fitting = (source: FrontMatter): Settings => {
  try {
    return check(source.data, source);
  } catch (error) {
    if (error instanceof Problem) return NO_SETTINGS;
    throw error;
  }
};

/** What of workspace.md holds, and what of it waits for the operator. Writes nothing. */
export const readInForce = (layout: Layout, all = false): Pick<InForce, 'settings' | 'waiting'> =>
  effectiveOf(readSettings(layout)?.value ?? NO_SETTINGS, readBook(layout, all));

const SETTINGS = 'workspace.md';
const WEBHOOKS = 'webhooks';

/**
 * Reads them again; a setting that is wrong is a problem, and the last good ones hold. True when something changed. For
 * `patient` see reconcileInTurn.
 */
export const refreshGlobals = async (
  layout: Layout,
  globals: Globals,
  patient = false,
): Promise<boolean> => {
  // While the whole workspace is away, nobody took a setting or a receiver back.
  if (!isDirectoryItself(layout.root)) return false;
  const { settings: before, inForce, lookAgain, problems } = globals;
  const reading = { before, parse: parseSettings, patient: patient && lookAgain !== undefined };
  globals.settings = readEntry(layout.settings, reading);
  if (isNewDoubt(globals.settings, before)) lookAgain?.(SETTINGS);
  problems.set(SETTINGS, entryProblem(SETTINGS, globals.settings));
  refreshTrust(layout, globals);
  const changed = await refreshWebhooks(layout, globals, patient);
  return changed || globals.settings !== before || globals.inForce !== inForce;
};

/** Looks again at what the operator has trusted, and at what holds by that. */
export const refreshTrust = (layout: Layout, globals: Globals): void => {
  const { book } = globals;
  refreshBook(layout, book);
  const settings = globals.settings?.value ?? NO_SETTINGS;
  const {
    inForce: { from },
    problems,
  } = globals;
  if (from.settings === settings && from.version === book.version) return;
  const { verdicts, ...inForce } = effectiveOf(settings, book);
  // An editor that saves by renaming takes nothing away.
  if (settings !== NO_SETTINGS) noteVerdicts(layout, book, verdicts);
  problems.set(`${SETTINGS} trust`, untrusted(layout, inForce.waiting));
  globals.inForce = { ...inForce, from: { settings, version: book.version } };
};

// One line however many wait: they are looked at together.
const untrusted = (layout: Layout, waiting: readonly WaitingPart[]): FileProblem[] => {
  if (waiting.length === 0) return [];
  const keys = waiting.map(({ key }) => key);
  const [place] = placesOf(layout, keys).values();
  return [fileProblem(SETTINGS, waitsForTrust(layout, keys, place))];
};

/** Reads the global webhook registrations again and adds what hand-made ones lack. True when something changed. */
export const refreshWebhooks = async (
  layout: Layout,
  globals: Globals,
  patient = false,
): Promise<boolean> => {
  const { webhooks } = globals;
  readWebhooks(layout, globals, patient);
  if (await adoptWebhooks(layout, globals.webhooks)) readWebhooks(layout, globals, patient);
  return !sameNames(webhooks, globals.webhooks);
};

const readWebhooks = (layout: Layout, globals: Globals, patient: boolean): void => {
  const { webhooks: before, lookAgain, problems } = globals;
  const reading = { parse: parseWebhook, patient: patient && lookAgain !== undefined };
  const { entries, fault } = readFolder(layout.webhooks, before, reading);
  globals.webhooks = entries;
  if ([...entries].some(([name, entry]) => isNewDoubt(entry, before.get(name))))
    lookAgain?.(WEBHOOKS);
  problems.set(WEBHOOKS, [
    ...(fault === undefined ? [] : [fileProblem(WEBHOOKS, fault)]),
    ...problemsOfFolder(WEBHOOKS, entries),
  ]);
};

const sameNames = (
  a: Map<string, ReadEntry<unknown>>,
  b: Map<string, ReadEntry<unknown>>,
): boolean => a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry);

const adoptWebhooks = async (layout: Layout, webhooks: Globals['webhooks']): Promise<boolean> => {
  let adopted = false;
  for (const [name, entry] of webhooks) {
    const changes = entry.value?.adopt;
    if (changes === undefined || !isSound(entry)) continue;
    const fix = { sha: entry.sha, changes };
    adopted = await amendRecord(layout, join(layout.webhooks, name), fix).catch((error) => {
      // Without a signature it is read, and tried, again.
      Object.assign(entry, { signature: '', problem: notAdopted(error) });
      return adopted;
    });
  }
  return adopted;
};

/** The settings as far as the operator has trusted them: what everybody goes by. */
export const settingsOf = ({ inForce }: Globals): Settings => inForce.settings;

/** What of the settings waits for the operator's word. */
export const waitingSettings = ({ inForce }: Globals): readonly WaitingPart[] => inForce.waiting;
