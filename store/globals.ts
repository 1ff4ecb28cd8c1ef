import { join } from 'node:path';
import { type Entry, readEntry, readFolder } from './entry.ts';
import { parseFrontMatter } from './front-matter.ts';
import type { Layout } from './layout.ts';
import { checkerOf } from './parse.ts';
import { type FileProblem, fileProblem, notAdopted } from './problem.ts';
import { parseWebhook, type WebhookFile } from './read-webhooks.ts';
import { amendRecord } from './record-file.ts';
import { Settings } from './records/settings.ts';

/** What belongs to the whole workspace: settings and global webhook registrations, as last read. */
export interface Globals {
  settings: Entry<Settings> | undefined;
  webhooks: Map<string, Entry<WebhookFile>>;
}

const check = checkerOf(Settings);

const parseSettings = (text: string): Settings => {
  const source = parseFrontMatter(text);
  return check(source.data, source);
};

/** Reads workspace.md if it changed since `before`; undefined when there is none. Writes nothing. */
export const readSettings = (
  layout: Layout,
  before?: Entry<Settings>,
): Entry<Settings> | undefined => readEntry(layout.settings, before, parseSettings);

/** Reads them again; a setting that is wrong is a problem, and the last good ones hold. True when something changed. */
export const refreshGlobals = async (layout: Layout, globals: Globals): Promise<boolean> => {
  const { settings } = globals;
  globals.settings = readSettings(layout, settings);
  const changed = await refreshWebhooks(layout, globals);
  return changed || globals.settings !== settings;
};

/** Reads the global webhook registrations again and adds what hand-made ones lack. True when something changed. */
export const refreshWebhooks = async (layout: Layout, globals: Globals): Promise<boolean> => {
  const { webhooks } = globals;
  globals.webhooks = readFolder(layout.webhooks, webhooks, (text) => parseWebhook(text));
  const adopted = await adoptWebhooks(layout, globals.webhooks);
  if (adopted)
    globals.webhooks = readFolder(layout.webhooks, globals.webhooks, (text) => parseWebhook(text));
  return !sameNames(webhooks, globals.webhooks);
};

const sameNames = (a: Map<string, Entry<unknown>>, b: Map<string, Entry<unknown>>): boolean =>
  a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry);

const adoptWebhooks = async (layout: Layout, webhooks: Globals['webhooks']): Promise<boolean> => {
  let adopted = false;
  for (const [name, entry] of webhooks) {
    const changes = entry.value?.adopt;
    if (changes === undefined || entry.problem !== undefined) continue;
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

export const globalProblems = ({ settings, webhooks }: Globals): FileProblem[] => {
  const entries: [string, Entry<unknown> | undefined][] = [
    ['workspace.md', settings],
    ...[...webhooks].map(([name, entry]): [string, Entry<unknown>] => [`webhooks/${name}`, entry]),
  ];
  return entries.flatMap(([file, entry]) =>
    entry?.problem === undefined ? [] : [fileProblem(file, entry.problem)],
  );
};
