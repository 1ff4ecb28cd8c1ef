import { isDeepStrictEqual } from 'node:util';
import { StoreError } from '../base/errors.ts';
import { lockOn } from '../base/locks.ts';
import { etagOf, meets } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { parseFrontMatter, splitFrontMatter } from '../front-matter/front-matter.ts';
import { editRecord, unreadable } from '../front-matter/record-file.ts';
import {
  type MatterChanges,
  renderFrontMatter,
  spliceFrontMatter,
  spliceWithin,
} from '../front-matter/splice.ts';
import { createFile } from '../fs/durable.ts';
import type { Settings } from '../records/settings.ts';
import { readyToWrite, type Store } from '../store.ts';
import {
  localEntry,
  refreshGlobals,
  settingsEntry,
  settingsOf,
  untrustedSettings,
} from './globals.ts';
import { LOCAL } from './local.ts';
import { patternOf } from './trust/keys.ts';

const FILE = 'workspace.md';

export interface StoredSettings {
  settings: Settings;
  etag: string;
}

/** The settings of workspace.md now, or its last valid ones if it cannot be read. */
export const currentSettings = async (store: Store): Promise<StoredSettings> => {
  await refreshGlobals(store);
  return kept(store);
};

const kept = (store: Store): StoredSettings => {
  const [settings, waiting] = [settingsOf(store), untrustedSettings(store).map(({ key }) => key)];
  const files = [settingsEntry(store)?.sha, localEntry(store)?.sha];
  // Trust decides what of the files is answered.
  return { settings, etag: etagOf(sha256(JSON.stringify([files, settings, waiting]))) };
};

const NOTHING = sha256('');

interface Change {
  /** The setting whose members change. */
  key: keyof Settings;
  changes: MatterChanges;
  /** Its members as the API answers them: what a client read and sends back unchanged leaves the file as it is. */
  served?: (settings: Settings) => object;
  /** Top-level settings that change too. */
  beside?: MatterChanges;
  /** Paths of projects, for .dossier/local.md. */
  paths?: MatterChanges;
  ifMatch: string | undefined;
}

/**
 * Changes settings in workspace.md, and no other byte. Throws `unreadable_record` if the file cannot be read, and
 * `precondition_failed` if it changed since the caller read it.
 */
export const changeSettings = (
  store: Store,
  { key, changes: wanted, served, beside = {}, paths = {}, ifMatch }: Change,
): Promise<StoredSettings> =>
  store.locks.take(lockOn.settings(), async () => {
    await readyToWrite(store);
    await refreshGlobals(store);
    refuseUnreadable(store);
    const { etag } = kept(store);
    if (!meets(ifMatch, etag)) throw settingsChanged();
    const changes = served ? changesOf(wanted, served(settingsOf(store))) : wanted;
    const known = ifMatch === undefined ? undefined : (settingsEntry(store)?.sha ?? NOTHING);
    // The shared file first, so that a conflict with another program is refused before anything is written.
    await write(store, store.layout.settings, { key, changes, beside, known });
    if (Object.keys(paths).length > 0)
      await write(store, store.layout.local, { key: 'projects', changes: paths });
    const trusted = [...trustedIn(`${key}.`, changes), ...trustedIn('', beside)];
    store.consent.grant([...trusted, ...trustedIn('projects.', paths)]);
    await refreshGlobals(store);
    return kept(store);
  });

// Neither a default nor a value that waits for trust is in what is sent back, so neither is written or removed.
const changesOf = (wanted: MatterChanges, served: object): MatterChanges => {
  const before = new Map<string, unknown>(Object.entries(served));
  return Object.fromEntries(
    Object.entries(wanted).filter(
      ([name, value]) => !isDeepStrictEqual(value ?? null, before.get(name)),
    ),
  );
};

const refuseUnreadable = (store: Store): void => {
  const [shared, local] = [settingsEntry(store)?.problem, localEntry(store)?.problem];
  if (shared !== undefined) throw unreadable(FILE, shared);
  if (local !== undefined) throw unreadable(LOCAL, local);
};

interface Writing extends Pick<Change, 'key' | 'changes' | 'beside'> {
  /** The hash that the file must still have. */
  known?: string | undefined;
}

const write = async (
  { layout }: Store,
  path: string,
  { key, changes, beside = {}, known }: Writing,
): Promise<void> => {
  const refuseOther = (sha: string): void => {
    if (known !== undefined && known !== sha) throw settingsChanged();
  };
  const isThere = await editRecord(layout, path, ({ sha, source }) => {
    refuseOther(sha);
    const text = spliceWithin(source, key, changes);
    return { yaml: splitFrontMatter(spliceFrontMatter(parseFrontMatter(text), beside)).yaml };
  });
  const isEmpty = Object.values({ ...changes, ...beside }).every((value) => value === undefined);
  if (isThere || isEmpty) return;
  refuseOther(NOTHING);
  await createFile(layout, path, renderFrontMatter({ ...beside, [key]: changes }, ''));
};

// A change through the API is the operator's: its values are trusted, other values in the file are not.
const trustedIn = (above: string, changes: MatterChanges): { key: string; value: unknown }[] =>
  Object.entries(changes)
    .filter(([name]) => patternOf(above + name) !== undefined)
    .map(([name, value]) => ({ key: above + name, value }));

/** The settings changed since the caller read them. */
export const settingsChanged = (): StoreError =>
  new StoreError(
    'precondition_failed',
    `${FILE} changed since you read it; nothing was written. Read the settings again before you decide.`,
  );
