import { randomBytes, randomUUID } from 'node:crypto';
import { sha256 } from '../../../store/base/sha256.ts';
import type { ApiKey } from '../../../store/records/api-key.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import {
  apiKeyOf,
  apiKeys,
  inKeyTurn,
  isKeyGranted,
  removeKey,
  saveKey,
  touchKey,
} from '../../../store/workspace/api-keys.ts';
import { badField, invalidState, notFound, ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { Runs } from '../../tools/process/runs.ts';

/** A key as it may be shown. */
export type ListedKey = Omit<ApiKey, 'sha256'>;

export const listKeys = (store: Store): ListedKey[] =>
  apiKeys(store).map(({ sha256: _, ...key }) => key);

const MOST = 100;

/**
 * Makes a key of 256 random bits. Its text is in this answer and nowhere else. 400 for a name that is none, 409 for one
 * that a key has, 422 when there are a hundred.
 */
export const createKey = (
  { store, keyring }: WithKeyring & WithStore,
  wanted: string,
): Promise<{ key: ListedKey; text: string }> =>
  inKeyTurn(store, async () => {
    const name = nameOf(wanted);
    const known = apiKeys(store);
    if (known.some((each) => each.name === name)) throw taken(name);
    if (known.length >= MOST) throw enough();
    const text = `dossier_${randomBytes(32).toString('base64url')}`;
    const created_at = store.clock().toISOString();
    const key = { id: randomUUID(), name, created_at, last_used_at: null };
    keyring.add(sha256(text));
    await saveKey(store, { ...key, sha256: sha256(text) });
    return { key, text };
  });

const nameOf = (wanted: string): string => {
  const name = wanted.trim();
  const isName = name.length > 0 && name.length <= 100 && !/[\p{Cc}\p{Cs}]/u.test(name);
  if (isName) return name;
  const why = 'must have 1 to 100 characters, on one line';
  throw badField('/name', why, 'A name has 1 to 100 characters, on one line.');
};

const taken = (name: string): ServiceError =>
  new ServiceError(
    'already_exists',
    `There is a key called ${name}. If you sent the form twice, nothing was made the second time; a key is shown only once, so revoke it if you did not keep it.`,
  );

const enough = (): ServiceError =>
  invalidState(`There are ${MOST} keys. Revoke one that nobody uses first.`);

/** Revokes a key: from this moment on it opens nothing. 404 when there is none. */
export const revokeKey = (store: Store, id: string): Promise<void> =>
  inKeyTurn(store, async () => {
    const key = apiKeys(store).find((each) => each.id === id);
    if (key === undefined || !(await removeKey(store, key))) throw notFound('API key', id);
  });

const STALE_MS = 300_000;

/** The key with this text; undefined for none, and for one that does not count yet. Notes that it was used, once in five minutes at most. */
export const validKey = async (
  service: WithKeyring & WithLog & WithStore,
  text: string,
): Promise<ApiKey | undefined> => {
  const key = apiKeyOf(service.store, text);
  if (key === undefined || !service.keyring.counts(key)) return undefined;
  const now = service.store.clock();
  const before = key.last_used_at === null ? 0 : Date.parse(key.last_used_at);
  if (now.getTime() - before > STALE_MS)
    await noteUse(service, { ...key, last_used_at: now.toISOString() });
  return key;
};

// The call goes on: whoever has a key is let in, also while nothing can be written.
const noteUse = ({ store, log }: WithLog & WithStore, key: ApiKey): Promise<void> =>
  inKeyTurn(store, () => touchKey(store, key)).catch((error: unknown) =>
    log.warn({ err: error, key: key.id }, 'When the API key was used was not noted'),
  );

/**
 * Which keys count: those that the operator made on this machine. A program that no sandbox holds can write the file of one,
 * and would let itself in by it.
 */
interface Keyring {
  /** Whether the key was there before such a program, or was made by this daemon. */
  counts(key: ApiKey): boolean;
  /** One that this daemon makes. */
  add(sha256: string): void;
}

/** While a program without a sandbox is in the table, keys count that were there before it began. */
export const createKeyring = (store: Store, runs: Runs): Keyring => {
  let known: Set<string> | undefined;
  runs.follow(() => {
    const isOpen = [...runs.live].some(({ sandboxed }) => !sandboxed);
    if (!isOpen) known = undefined;
    else known ??= new Set(apiKeys(store).map(({ sha256 }) => sha256));
  });
  return {
    counts: (key) => known?.has(key.sha256) !== false && isKeyGranted(store, key),
    add: (sha256) => {
      known?.add(sha256);
    },
  };
};

/** Which keys count. */
export interface WithKeyring {
  readonly keyring: Keyring;
}

/** Who said yes, as it is kept with what was said: the operator, by the name of the API key where one was shown. */
export const saidBy = (key: { name: string } | undefined): string =>
  key === undefined ? 'operator' : `operator (key ${key.name})`;
