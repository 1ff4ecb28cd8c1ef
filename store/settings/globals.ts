import { join } from 'node:path';
import { FORMER, readConsentLog } from '../consent/log.ts';
import {
  isNewDoubt,
  isSound,
  type ReadEntry,
  readEntry,
  sameEntries,
} from '../front-matter/entry.ts';
import { readFolder } from '../front-matter/folder.ts';
import { type FrontMatter, parseFrontMatter } from '../front-matter/front-matter.ts';
import { checkerOf, parserOf } from '../front-matter/parse.ts';
import {
  type FileProblem,
  fileProblem,
  ifReadable,
  notAdopted,
  Problem,
} from '../front-matter/problem.ts';
import { entryProblem, problemsOfFolder } from '../front-matter/problems.ts';
import { editKnown } from '../front-matter/record-file.ts';
import { isDirectoryItself } from '../fs/plain-path.ts';
import type { Layout } from '../layout.ts';
import { type LocalSettings, Settings } from '../records/settings.ts';
import { remembered, type Store, watchRequestsOf } from '../store.ts';
import { createMerge, LOCAL, readLocal, remotesIn, withPaths } from './local.ts';
import { parseWebhook, type WebhookFile } from './read-webhooks.ts';
import { computeEffective, type WaitingPart } from './trust/effective.ts';
import { createTrustLog, logVerdicts, revokeTrusted, type TrustLog } from './trust/trust-log.ts';
import { placesOf, untrustedProblem } from './trust/waiting.ts';

/** Workspace-wide files as last read: settings and global webhook registrations. */
interface Globals {
  settings: ReadEntry<Settings> | undefined;
  local: ReadEntry<LocalSettings> | undefined;
  /** Merges both. */
  readonly merge: ReturnType<typeof createMerge>;
  webhooks: Map<string, ReadEntry<WebhookFile>>;
  /** The operator's trust decisions. */
  readonly trustLog: TrustLog;
  /** The settings in force: untrusted ones are ignored. */
  inForce: InForce;
}

interface InForce {
  settings: Settings;
  waiting: WaitingPart[];
  /** The settings and trust version that this was computed from. */
  from: { settings: Settings; version: number };
}

const NO_SETTINGS: Settings = {};

const globalsOf = remembered(
  ({ consent, trust }): Globals => ({
    settings: undefined,
    local: undefined,
    merge: createMerge(),
    webhooks: new Map(),
    trustLog: createTrustLog(consent, trust),
    inForce: { settings: NO_SETTINGS, waiting: [], from: { settings: NO_SETTINGS, version: -1 } },
  }),
);

const check = checkerOf(Settings);

const parseSettings = parserOf(Settings);

/** Reads workspace.md and the paths of this machine; undefined if neither exists. Writes nothing. */
export const readSettings = (layout: Layout): ReadEntry<Settings> | undefined => {
  const entry = readEntry(layout.settings, { parse: parseSettings });
  return withPaths(entry, readLocal(layout));
};

export interface SettingsText {
  settings: Settings;
  source: FrontMatter;
}

/**
 * Parses workspace.md; undefined if there is none, or it has no front matter. `settings` is empty if any of them is invalid,
 * so that unknown keys are reported all the same. Writes nothing.
 */
export const readSettingsText = (layout: Layout): SettingsText | undefined => {
  const parse = (text: string): SettingsText => {
    const source = parseFrontMatter(text);
    return { settings: ifReadable(() => check(source.data, source), NO_SETTINGS), source };
  };
  return readEntry(layout.settings, { parse })?.value;
};

/** Reads the settings in force and the untrusted ones. Writes nothing. */
export const readInForce = (layout: Layout, all = false): Pick<InForce, 'settings' | 'waiting'> =>
  computeEffective(
    readSettings(layout)?.value ?? NO_SETTINGS,
    createTrustLog(readConsentLog(layout), all),
  );

const SETTINGS = 'workspace.md';
const WEBHOOKS = 'webhooks';

/**
 * Reads settings and global webhooks again; true if anything changed. An invalid setting is reported as a problem, and the
 * last valid settings stay in force. For `patient` see ReadAgain.
 */
export const refreshGlobals = async (store: Store, patient = false): Promise<boolean> => {
  const { layout, problems } = store;
  const { scheduleReread } = watchRequestsOf(store);
  const globals = globalsOf(store);
  // A missing workspace directory does not mean that settings or webhooks were removed.
  if (!isDirectoryItself(layout.root)) return false;
  const { settings: before, inForce } = globals;
  const reading = {
    before,
    parse: parseSettings,
    patient: patient && scheduleReread !== undefined,
  };
  globals.settings = readEntry(layout.settings, reading);
  if (isNewDoubt(globals.settings, before)) scheduleReread?.(SETTINGS);
  globals.local = readLocal(layout, globals.local);
  problems.set(LOCAL, entryProblem(LOCAL, globals.local));
  problems.set(SETTINGS, entryProblem(SETTINGS, globals.settings));
  refreshTrust(store);
  const changed = await refreshWebhooks(store, patient);
  return changed || globals.settings !== before || globals.inForce !== inForce;
};

/** Reads the trust decisions again and computes the settings in force. */
export const refreshTrust = (store: Store): void => {
  const { layout, problems } = store;
  const globals = globalsOf(store);
  const { trustLog } = globals;
  trustLog.log.refresh();
  const { version, damage } = trustLog.log.current();
  problems.set('consent', damage === undefined ? [] : [fileProblem(SETTINGS, damaged(damage))]);
  const settings = globals.merge(globals.settings?.value ?? NO_SETTINGS, globals.local?.value);
  const { from } = globals.inForce;
  if (from.settings === settings && from.version === version) return;
  const { verdicts, ...inForce } = computeEffective(settings, trustLog);
  // The file is missing for a moment while an editor saves by renaming.
  if (settings !== NO_SETTINGS) logVerdicts(trustLog, verdicts);
  const isReplaced = trustLog.log.list().has(FORMER);
  problems.set(`${SETTINGS} trust`, untrusted(layout, inForce.waiting, isReplaced));
  globals.inForce = { ...inForce, from: { settings, version: trustLog.log.current().version } };
};

const damaged = (why: string): Problem => new Problem('consent_damaged', why);

// One problem for all untrusted settings, because they are confirmed together.
const untrusted = (
  layout: Layout,
  waiting: readonly WaitingPart[],
  isReplaced: boolean,
): FileProblem[] => {
  if (waiting.length === 0) return [];
  const keys = waiting.map(({ key }) => key);
  const [place] = placesOf(layout, keys).values();
  const waits = fileProblem(SETTINGS, untrustedProblem(layout, keys, place));
  return isReplaced ? [waits, fileProblem(SETTINGS, REPLACED)] : [waits];
};

const REPLACED = new Problem(
  'workspace_replaced',
  'Another workspace was at this path on this machine. Its stricter settings apply until you confirm those in the file',
);

/** Reads the global webhooks again and completes hand-made ones. True if anything changed. */
export const refreshWebhooks = async (store: Store, patient = false): Promise<boolean> => {
  const globals = globalsOf(store);
  const { webhooks } = globals;
  readWebhooks(store, patient);
  if (await adoptWebhooks(store.layout, globals.webhooks)) readWebhooks(store, patient);
  return !sameEntries(webhooks, globals.webhooks);
};

const readWebhooks = (store: Store, patient: boolean): void => {
  const { layout, problems } = store;
  const { scheduleReread } = watchRequestsOf(store);
  const globals = globalsOf(store);
  const { webhooks: before } = globals;
  const reading = { parse: parseWebhook, patient: patient && scheduleReread !== undefined };
  const { entries, fault } = readFolder(layout.webhooks, before, reading);
  globals.webhooks = entries;
  const isUnsettled = ([name, entry]: [string, ReadEntry<WebhookFile>]): boolean =>
    entry.gone_at !== undefined || isNewDoubt(entry, before.get(name));
  // A folder that cannot be read settles nothing: the next change or comparison reads it again.
  if (fault === undefined && [...entries].some(isUnsettled)) scheduleReread?.(WEBHOOKS);
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
      // Without a signature the file is read and completed again.
      Object.assign(entry, { signature: '', problem: notAdopted(error) });
    }
  }
  return adopted;
};

/** The settings in force: those the operator trusts. */
export const settingsOf = (store: Store): Settings => globalsOf(store).inForce.settings;

/** The untrusted settings. */
export const untrustedSettings = (store: Store): readonly WaitingPart[] =>
  globalsOf(store).inForce.waiting;

/** The remotes of projects that workspace.md names by remote, by project name. */
export const projectRemotes = (store: Store): Record<string, string> =>
  remotesIn(globalsOf(store).settings?.value ?? NO_SETTINGS);

/** .dossier/local.md as last read. */
export const localEntry = (store: Store): ReadEntry<LocalSettings> | undefined =>
  globalsOf(store).local;

/** workspace.md as last read. */
export const settingsEntry = (store: Store): ReadEntry<Settings> | undefined =>
  globalsOf(store).settings;

/** The global webhooks as last read, by file name. */
export const globalWebhooks = (store: Store): Map<string, ReadEntry<WebhookFile>> =>
  globalsOf(store).webhooks;

/** The operator's trust decisions on this machine. */
export const trustLogOf = (store: Store): TrustLog => globalsOf(store).trustLog;

/** Revokes the trust in a key; false if it is not trusted. Call `refreshGlobals` to apply it. */
export const revokeTrust = (store: Store, key: string): boolean =>
  revokeTrusted(trustLogOf(store), key);

/** `closed`: a program runs without a sandbox and could have written the files. */
export const setTrustClosed = (store: Store, closed: boolean): void => {
  trustLogOf(store).closed = closed;
};
