import { basename, join, relative } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { sha256 } from '../base/sha256.ts';
import { readConsentLog } from '../consent/log.ts';
import { trustHash } from '../consent/seal.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { ifReadable, Problem } from '../front-matter/problem.ts';
import { checkedBy, readJson, readRegularFile } from '../front-matter/record-file.ts';
import { makeDirectories } from '../fs/directories.ts';
import { createFile, removeFile, replaceFile } from '../fs/durable.ts';
import type { Layout } from '../layout.ts';
import { ApiKey } from '../records/api-key.ts';
import type { WaitingValue } from '../records/trust.ts';
import { openTrustLog } from '../settings/trust/tightening.ts';
import { readyToWrite, type Store } from '../store.ts';

/**
 * The key with this text; undefined for none. Its file is named by its hash, and is asked for each time: a key whose file
 * is gone is good for nothing from that moment. To look one up takes the same time whatever it has in common with one
 * that is there, but for its hash.
 */
export const apiKeyOf = (store: Store, text: string): ApiKey | undefined =>
  keyWithHash(store, sha256(text));

/** The same by the hash of its text. */
export const keyWithHash = ({ layout }: Pick<Store, 'layout'>, hash: string): ApiKey | undefined =>
  readable(layout, keyFile(layout, hash));

const readKey = (layout: Layout, hash: string): ApiKey | undefined =>
  readJson(layout, keyFile(layout, hash), (value) => check(value, hash));

/** Every key that can be read, oldest first. */
export const apiKeys = ({ layout }: Pick<Store, 'layout'>): ApiKey[] =>
  keyFiles(layout)
    .flatMap((path) => readable(layout, path) ?? [])
    .toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));

// One that is none opens nothing. `dossier check` tells of it.
const readable = (layout: Layout, path: string): ApiKey | undefined =>
  ifReadable(() => readKey(layout, basename(path, '.json')), undefined);

/** The files of all keys. */
export const keyFiles = ({ apiKeys: dir }: Layout): string[] =>
  listDirectory(dir)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(dir, name));

/** Throws `unreadable_record` for a file that is no key. */
export const checkKeyFile = (layout: Layout, path: string): void => {
  readKey(layout, basename(path, '.json'));
};

/** What is decided about a key: it opens nothing by its file alone. */
const consentOf = ({ id, name, sha256: hash }: ApiKey) => ({
  ...{ key: `api-keys/${id}`, value: { name, fingerprint: sha256(`${id} ${hash}`) } },
});

/** Whether the operator made it on this machine and did not revoke it: beside the daemon, too. */
export const isKeyGranted = ({ consent }: Pick<Store, 'consent'>, key: ApiKey): boolean => {
  const { key: name, value } = consentOf(key);
  consent.refresh();
  return consent.isGranted(name, value);
};

/** The keys that their files alone have: they open nothing before the operator says so. */
export const waitingKeys = (layout: Layout, consent = readConsentLog(layout)): WaitingValue[] =>
  apiKeys({ layout })
    .filter((key) => !isKeyGranted({ consent }, key))
    .map((key) => {
      const { key: name, value } = consentOf(key);
      return {
        ...{ key: name, kind: 'key' as const, value, trusted_value: null, since: key.created_at },
        ...{ file: relative(layout.root, keyFile(layout, key.sha256)), hash: trustHash(value) },
      };
    });

/** Makes changes to the keys one at a time. */
export const inKeyTurn = <T>({ locks }: Store, work: () => Promise<T>): Promise<T> =>
  locks.take(lockOn.apiKeys(), work);

export const saveKey = async (store: Store, key: ApiKey): Promise<void> => {
  await readyToWrite(store);
  await saveKeyIn(store.layout, key, store.consent);
};

/** The same without a daemon, or beside one: it asks for the file each time. */
export const saveKeyIn = async (
  layout: Layout,
  key: ApiKey,
  consent = openTrustLog(layout),
): Promise<void> => {
  makeDirectories(layout);
  consent.grant([consentOf(key)]);
  await createFile(layout, keyFile(layout, key.sha256), textOf(key), { mode: 0o600 });
};

/** Writes when it was used last; one that is gone meanwhile is not made again. */
export const touchKey = async (store: Store, key: ApiKey): Promise<void> => {
  await readyToWrite(store);
  const path = keyFile(store.layout, key.sha256);
  const before = readRegularFile(store.layout.root, path);
  if (before !== undefined) await replaceFile(store.layout, path, before, textOf(key));
};

/** False when it is gone already. */
export const removeKey = async (store: Store, key: ApiKey): Promise<boolean> => {
  await readyToWrite(store);
  return removeKeyIn(store.layout, key, store.consent);
};

/** The same without a daemon, or beside one. Its file opens nothing either, if somebody puts it back. */
export const removeKeyIn = (
  layout: Layout,
  key: ApiKey,
  consent = openTrustLog(layout),
): Promise<boolean> => {
  consent.revoke(consentOf(key).key);
  return removeFile(layout, keyFile(layout, key.sha256));
};

const keyFile = ({ apiKeys: dir }: Layout, hash: string): string => join(dir, `${hash}.json`);

const textOf = (key: ApiKey): string => `${JSON.stringify(key, undefined, 2)}\n`;

const check = (value: unknown, hash: string): ApiKey => {
  const key = checkedBy(ApiKey, value);
  if (key.sha256 === hash) return key;
  throw new Problem('not_a_record', '/sha256 is not the name of the file');
};
