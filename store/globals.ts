import { join } from 'node:path';
import { readFolder } from './disk/folder.ts';
import { problemOf, problemsOfFolder } from './items/item-files.ts';
import type { Problems } from './items/problems.ts';
import { parseWebhook, type WebhookFile } from './items/read-webhooks.ts';
import type { Layout } from './layout.ts';
import { Settings } from './records/settings.ts';
import { type Entry, isNewDoubt, isSound, readEntry } from './text/entry.ts';
import { parseFrontMatter } from './text/front-matter.ts';
import { checkerOf } from './text/parse.ts';
import { fileProblem, notAdopted } from './text/problem.ts';
import { amendRecord } from './text/record-file.ts';

/** What belongs to the whole workspace: settings and global webhook registrations, as last read. */
export interface Globals {
  settings: Entry<Settings> | undefined;
  webhooks: Map<string, Entry<WebhookFile>>;
  readonly problems: Problems;
  /** See Store. */
  lookAgain: ((path: string) => void) | undefined;
}

export const createGlobals = (problems: Problems): Globals => ({
  settings: undefined,
  webhooks: new Map(),
  problems,
  lookAgain: undefined,
});

const check = checkerOf(Settings);

const parseSettings = (text: string): Settings => {
  const source = parseFrontMatter(text);
  return check(source.data, source);
};

/** Reads workspace.md; undefined when there is none. Writes nothing. */
export const readSettings = (layout: Layout): Entry<Settings> | undefined =>
  readEntry(layout.settings, { before: undefined, parse: parseSettings });

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
  const { settings: before, lookAgain, problems } = globals;
  const reading = { before, parse: parseSettings, patient: patient && lookAgain !== undefined };
  globals.settings = readEntry(layout.settings, reading);
  if (isNewDoubt(globals.settings, before)) lookAgain?.(SETTINGS);
  problems.set(SETTINGS, problemOf(SETTINGS, globals.settings));
  const changed = await refreshWebhooks(layout, globals, patient);
  return changed || globals.settings !== before;
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

const sameNames = (a: Map<string, Entry<unknown>>, b: Map<string, Entry<unknown>>): boolean =>
  a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry);

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

export const settingsOf = ({ settings }: Globals): Settings => settings?.value ?? {};
