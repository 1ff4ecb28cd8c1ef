import { basename, join, relative } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { sha256 } from '../base/sha256.ts';
import type { ConsentLog } from '../consent/log.ts';
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
 * The key with this text; undefined if there is none. Each look-up reads its file, which is named by the hash of the text:
 * removing the file revokes the key at once, and look-up time does not depend on similarity to an existing key.
 */
export const apiKeyOf = (store: Store, text: string): ApiKey | undefined =>
  keyWithHash(store, sha256(text));

/** The key with this hash. */
export const keyWithHash = ({ layout }: Pick<Store, 'layout'>, hash: string): ApiKey | undefined =>
  readKeyFile(layout, keyFile(layout, hash));

const readKey = (layout: Layout, hash: string): ApiKey | undefined =>
  readJson(layout, keyFile(layout, hash), (value) => check(value, hash));

/** All readable keys, oldest first. */
export const apiKeys = ({ layout }: Pick<Store, 'layout'>): ApiKey[] =>
  keyFiles(layout)
    .flatMap((path) => readKeyFile(layout, path) ?? [])
    .toSorted((one, other) => (one.created_at < other.created_at ? -1 : 1));

// An unreadable file grants nothing; `dossier check` reports it.
const readKeyFile = (layout: Layout, path: string): ApiKey | undefined =>
  ifReadable(() => readKey(layout, basename(path, '.json')), undefined);

/** The paths of all key files. */
export const keyFiles = ({ apiKeys: dir }: Layout): string[] =>
  listDirectory(dir)
    .filter((name) => name.endsWith('.json'))
    .map((name) => join(dir, name));

/** Throws `unreadable_record` if a file is not a key. */
export const checkKeyFile = (layout: Layout, path: string): void => {
  readKey(layout, basename(path, '.json'));
};

/** The consent that a key needs besides its file. */
const consentOf = ({ id, name, sha256: hash }: ApiKey) => ({
  key: `api-keys/${id}`,
  value: { name, fingerprint: sha256(`${id} ${hash}`) },
});

/** Whether the operator created the key on this machine and did not revoke it, even outside of the daemon. */
export const isKeyGranted = ({ consent }: Pick<Store, 'consent'>, key: ApiKey): boolean => {
  const { key: name, value } = consentOf(key);
  consent.refresh();
  return consent.isGranted(name, value);
};

/** The keys without consent, which grant nothing until the operator confirms them. */
export const pendingKeys = (layout: Layout, consent: ConsentLog): WaitingValue[] =>
  apiKeys({ layout })
    .filter((key) => !isKeyGranted({ consent }, key))
    .map((key) => {
      const { key: name, value } = consentOf(key);
      return {
        key: name,
        kind: 'key' as const,
        value,
        trusted_value: null,
        since: key.created_at,
        file: relative(layout.root, keyFile(layout, key.sha256)),
        hash: trustHash(value),
      };
    });

/** Runs `work` under the lock of the API keys. */
export const withKeysLock = <T>({ locks }: Store, work: () => Promise<T>): Promise<T> =>
  locks.take(lockOn.apiKeys(), work);

export const saveKey = async (store: Store, key: ApiKey): Promise<void> => {
  await readyToWrite(store);
  await saveKeyIn(store.layout, key, store.consent);
};

/** As `saveKey`, without or beside a daemon. */
export const saveKeyIn = async (
  layout: Layout,
  key: ApiKey,
  consent = openTrustLog(layout),
): Promise<void> => {
  makeDirectories(layout);
  consent.grant([consentOf(key)]);
  await createFile(layout, keyFile(layout, key.sha256), textOf(key), { mode: 0o600 });
};

/** Records the last use of a key. A key that is gone is not created again. */
export const saveKeyUse = async (store: Store, key: ApiKey): Promise<void> => {
  await readyToWrite(store);
  const path = keyFile(store.layout, key.sha256);
  const before = readRegularFile(store.layout.root, path);
  if (before !== undefined) await replaceFile(store.layout, path, before, textOf(key));
};

/** Returns false if the key is gone. */
export const removeKey = async (store: Store, key: ApiKey): Promise<boolean> => {
  await readyToWrite(store);
  return removeKeyIn(store.layout, key, store.consent);
};

/** As `removeKey`, without or beside a daemon. Restoring the file does not restore the key. */
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
