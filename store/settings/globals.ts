import { join } from 'node:path';
import { FORMER, readConsentLog } from '../consent/log.ts';
import {
  isNewDoubt,
  isSound,
  type ReadEntry,
  readEntry,
  sameEntries,
} from '../front-matter/entry.ts';
import { entryProblem, problemsOfFolder } from '../front-matter/problems.ts';
import { readFolder } from '../front-matter/folder.ts';
import { type FrontMatter, parseFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf } from '../front-matter/parse.ts';
import {
  type FileProblem,
  fileProblem,
  ifReadable,
  notAdopted,
  Problem,
} from '../front-matter/problem.ts';
import { editKnown } from '../front-matter/record-file.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import type { LocalSettings } from '../records/local-settings.ts';
import { Settings } from '../records/settings.ts';
import { attentionOf, remembered, type Store } from '../store.ts';
import { createMerge, LOCAL, readLocal, remotesIn, withPaths } from './local.ts';
import { parseWebhook, type WebhookFile } from './read-webhooks.ts';
import { effectiveOf, type WaitingPart } from './trust/effective.ts';
import { placesOf } from './trust/place.ts';
import { waitsForTrust } from './trust/told.ts';
import { type Book, createBook, noteVerdicts } from './trust/trust-log.ts';
import { revokeTrusted } from './trust/trusted.ts';

/** What belongs to the whole workspace: settings and global webhook registrations, as last read. */
interface Globals {
  settings: ReadEntry<Settings> | undefined;
  local: ReadEntry<LocalSettings> | undefined;
  /** Puts both together. */
  readonly merge: ReturnType<typeof createMerge>;
  webhooks: Map<string, ReadEntry<WebhookFile>>;
  /** What the operator has trusted. */
  readonly book: Book;
  /** The settings as far as they are trusted. */
  inForce: InForce;
}

interface InForce {
  settings: Settings;
  waiting: WaitingPart[];
  /** What they follow from. */
  from: { settings: Settings; version: number };
}

const NO_SETTINGS: Settings = {};

const globalsOf = remembered(
  ({ consent, trust }): Globals => ({
    settings: undefined,
    local: undefined,
    merge: createMerge(),
    webhooks: new Map(),
    book: createBook(consent, trust),
    inForce: { settings: NO_SETTINGS, waiting: [], from: { settings: NO_SETTINGS, version: -1 } },
  }),
);

const check = checkerOf(Settings);

const parseSettings = (text: string): Settings => {
  const source = parseFrontMatter(text);
  return check(source.data, source);
};

/** Reads workspace.md, with the paths of this machine; undefined when neither is there. Writes nothing. */
export const readSettings = (layout: Layout): ReadEntry<Settings> | undefined => {
  const entry = readEntry(layout.settings, { before: undefined, parse: parseSettings });
  return withPaths(entry, readLocal(layout));
};

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
    return { settings: ifReadable(() => check(source.data, source), NO_SETTINGS), source };
  };
  return readEntry(layout.settings, { before: undefined, parse })?.value;
};

/** What of workspace.md holds, and what of it waits for the operator. Writes nothing. */
export const readInForce = (layout: Layout, all = false): Pick<InForce, 'settings' | 'waiting'> =>
  effectiveOf(readSettings(layout)?.value ?? NO_SETTINGS, createBook(readConsentLog(layout), all));

const SETTINGS = 'workspace.md';
const WEBHOOKS = 'webhooks';

/**
 * Reads them again; a setting that is wrong is a problem, and the last good ones hold. True when something changed. For
 * `patient` see reconcileInTurn.
 */
export const refreshGlobals = async (store: Store, patient = false): Promise<boolean> => {
  const { layout, problems } = store;
  const { lookAgain } = attentionOf(store);
  const globals = globalsOf(store);
  // While the whole workspace is away, nobody took a setting or a receiver back.
  if (!isDirectoryItself(layout.root)) return false;
  const { settings: before, inForce } = globals;
  const reading = { before, parse: parseSettings, patient: patient && lookAgain !== undefined };
  globals.settings = readEntry(layout.settings, reading);
  if (isNewDoubt(globals.settings, before)) lookAgain?.(SETTINGS);
  globals.local = readLocal(layout, globals.local);
  problems.set(LOCAL, entryProblem(LOCAL, globals.local));
  problems.set(SETTINGS, entryProblem(SETTINGS, globals.settings));
  refreshTrust(store);
  const changed = await refreshWebhooks(store, patient);
  return changed || globals.settings !== before || globals.inForce !== inForce;
};

/** Looks again at what the operator has trusted, and at what holds by that. */
export const refreshTrust = (store: Store): void => {
  const { layout, problems } = store;
  const globals = globalsOf(store);
  const { book } = globals;
  book.log.refresh();
  const { version, damage } = book.log.current();
  problems.set('consent', damage === undefined ? [] : [fileProblem(SETTINGS, damaged(damage))]);
  const settings = globals.merge(globals.settings?.value ?? NO_SETTINGS, globals.local?.value);
  const { from } = globals.inForce;
  if (from.settings === settings && from.version === version) return;
  const { verdicts, ...inForce } = effectiveOf(settings, book);
  // An editor that saves by renaming takes nothing away.
  if (settings !== NO_SETTINGS) noteVerdicts(book, verdicts);
  const isReplaced = book.log.list().has(FORMER);
  problems.set(`${SETTINGS} trust`, untrusted(layout, inForce.waiting, isReplaced));
  globals.inForce = { ...inForce, from: { settings, version: book.log.current().version } };
};

const damaged = (why: string): Problem => new Problem('consent_damaged', why);

// One line however many wait: they are looked at together.
const untrusted = (
  layout: Layout,
  waiting: readonly WaitingPart[],
  isReplaced: boolean,
): FileProblem[] => {
  if (waiting.length === 0) return [];
  const keys = waiting.map(({ key }) => key);
  const [place] = placesOf(layout, keys).values();
  const waits = fileProblem(SETTINGS, waitsForTrust(layout, keys, place));
  return isReplaced ? [waits, fileProblem(SETTINGS, REPLACED)] : [waits];
};

const REPLACED = new Problem(
  'workspace_replaced',
  'This path held another workspace on this machine. What was stricter there applies until you confirm what is in the file',
);

/** Reads the global webhook registrations again and adds what hand-made ones lack. True when something changed. */
export const refreshWebhooks = async (store: Store, patient = false): Promise<boolean> => {
  const globals = globalsOf(store);
  const { webhooks } = globals;
  readWebhooks(store, patient);
  if (await adoptWebhooks(store.layout, globals.webhooks)) readWebhooks(store, patient);
  return !sameEntries(webhooks, globals.webhooks);
};

const readWebhooks = (store: Store, patient: boolean): void => {
  const { layout, problems } = store;
  const { lookAgain } = attentionOf(store);
  const globals = globalsOf(store);
  const { webhooks: before } = globals;
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

const adoptWebhooks = async (layout: Layout, webhooks: Globals['webhooks']): Promise<boolean> => {
  let adopted = false;
  for (const [name, entry] of webhooks) {
    const changes = entry.value?.adopt;
    if (changes === undefined || !isSound(entry)) continue;
    try {
      await editKnown(layout, join(layout.webhooks, name), entry.sha, () => ({ changes }));
      adopted = true;
    } catch (error) {
      // Without a signature it is read, and tried, again.
      Object.assign(entry, { signature: '', problem: notAdopted(error) });
    }
  }
  return adopted;
};

/** The settings as far as the operator has trusted them: what everybody goes by. */
export const settingsOf = (store: Store): Settings => globalsOf(store).inForce.settings;

/** What of the settings waits for the operator's word. */
export const waitingSettings = (store: Store): readonly WaitingPart[] =>
  globalsOf(store).inForce.waiting;

/** The remotes of projects that workspace.md knows by them, by name. */
export const projectRemotes = (store: Store): Record<string, string> =>
  remotesIn(globalsOf(store).settings?.value ?? NO_SETTINGS);

/** .dossier/local.md as it was last read. */
export const localEntry = (store: Store): ReadEntry<LocalSettings> | undefined =>
  globalsOf(store).local;

/** workspace.md as it was last read. */
export const settingsEntry = (store: Store): ReadEntry<Settings> | undefined =>
  globalsOf(store).settings;

/** The registrations for the whole workspace as they were last read, by file name. */
export const globalWebhooks = (store: Store): Map<string, ReadEntry<WebhookFile>> =>
  globalsOf(store).webhooks;

/** What the operator has trusted on this machine. */
export const bookOf = (store: Store): Book => globalsOf(store).book;

/** The operator has said that these values hold: on disk when it returns. */
export const trustValues = (
  store: Store,
  values: readonly { key: string; value: unknown }[],
): void => store.consent.grant(values.map(({ key, value }) => ({ key, value })));

/** Whether the operator has ever trusted this value of a key, by its hash. */
export const wasTrusted = (store: Store, key: string, hash: string): boolean =>
  store.consent.wasGranted(key, hash);

/** Takes the trust in a key back; false where it is not trusted. What applies is looked at again with `refreshGlobals`. */
export const revokeTrust = (store: Store, key: string): boolean =>
  revokeTrusted(bookOf(store), key);

/** `closed`: a program runs that no sandbox holds, and may be who writes. */
export const closeBook = (store: Store, closed: boolean): void => {
  bookOf(store).closed = closed;
};
