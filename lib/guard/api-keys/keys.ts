import { randomBytes, randomUUID } from 'node:crypto';
import { orElse } from '../../../store/base/attempt.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import type { ApiKey } from '../../../store/records/api-key.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import {
  apiKeyOf,
  apiKeys,
  isKeyGranted,
  keyWithHash,
  removeKey,
  saveKey,
  saveKeyUse,
  withKeysLock,
} from '../../../store/workspace/api-keys.ts';
import { badField, invalidState, notFound, ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { Runs } from '../../tools/process/runs.ts';

/** An API key without its hash. */
export type ListedKey = Omit<ApiKey, 'sha256'>;

export const listKeys = (store: Store): ListedKey[] => apiKeys(store).map(withoutHash);

const withoutHash = ({ sha256: _, ...key }: ApiKey): ListedKey => key;

/** A new key of 256 random bits, and its text, which is not stored. */
export const newKey = (name: string, now: Date): { key: ApiKey; text: string } => {
  const text = `dossier_${randomBytes(32).toString('base64url')}`;
  const created_at = now.toISOString();
  const key = { id: randomUUID(), name, created_at, last_used_at: null, sha256: sha256(text) };
  return { key, text };
};

const MOST = 100;

/**
 * Creates a key. Its text is only in this result. 400 for an invalid name, 409 for a name in use, 422
 * if there are 100 keys.
 */
export const createKey = (
  { store, keyring }: WithKeyring & WithStore,
  wanted: string,
): Promise<{ key: ListedKey; text: string }> =>
  withKeysLock(store, async () => {
    const name = keyName(wanted);
    const known = apiKeys(store);
    if (known.some((each) => each.name === name)) throw taken(name);
    if (known.length >= MOST) throw enough();
    const { key, text } = newKey(name, store.clock());
    keyring.add(key.sha256);
    await saveKey(store, key);
    return { key: withoutHash(key), text };
  });

/** The name of a new key, trimmed. 400 if it cannot be one. */
export const keyName = (wanted: string): string => {
  const name = wanted.trim();
  const isName = name.length > 0 && name.length <= 100 && !/[\p{Cc}\p{Cs}]/u.test(name);
  if (isName) return name;
  const why = 'must have 1 to 100 characters, on one line';
  throw badField('/name', why, 'The name must have 1 to 100 characters, on one line.');
};

const taken = (name: string): ServiceError =>
  new ServiceError(
    'already_exists',
    `An API key named ${name} already exists. No key was created. A key is shown only once: if you did not save it, revoke it and create a new one.`,
  );

const enough = (): ServiceError =>
  invalidState(`The limit of ${MOST} API keys is reached. Revoke an unused key first.`);

/** Revokes a key at once. 404 if there is none with this id. */
export const revokeKey = (store: Store, id: string): Promise<void> =>
  withKeysLock(store, async () => {
    const key = apiKeys(store).find((each) => each.id === id);
    if (key === undefined || !(await removeKey(store, key))) throw notFound('API key', id);
  });

const STALE_MS = 300_000;

/** The valid key with this text. Records its use at most once in five minutes. */
export const validKey = async (
  service: WithKeyring & WithLog & WithStore,
  text: string,
): Promise<ApiKey | undefined> => {
  const key = apiKeyOf(service.store, text);
  if (key === undefined || !service.keyring.counts(key)) return undefined;
  const now = service.store.clock();
  const before = key.last_used_at === null ? 0 : Date.parse(key.last_used_at);
  // A use in the future is from before the clock was set back.
  if (Math.abs(now.getTime() - before) > STALE_MS)
    await noteUse(service, { ...key, last_used_at: now.toISOString() });
  return key;
};

/** Whether a key is still valid. Records no use, and a file that cannot be read for a moment changes nothing. */
export const isStillValid = (
  { store, keyring }: WithKeyring & WithStore,
  { sha256: hash }: Pick<ApiKey, 'sha256'>,
): boolean =>
  orElse(() => {
    const key = keyWithHash(store, hash);
    return key !== undefined && keyring.counts(key);
  }, true);

// A failure is only logged: a valid key is accepted even while the disk is full.
const noteUse = ({ store, log }: WithLog & WithStore, key: ApiKey): Promise<void> =>
  withKeysLock(store, () => saveKeyUse(store, key)).catch((error: unknown) =>
    log.warn({ err: error, key: key.id }, 'recording the use of an API key failed'),
  );

/**
 * Decides which keys are valid: only keys that the operator created on this machine, because an unsandboxed program can
 * write key files.
 */
interface Keyring {
  /** Whether the key existed before any unsandboxed program started, or was created by this daemon. */
  counts(key: ApiKey): boolean;
  /** Adds a key that this daemon creates. */
  add(sha256: string): void;
}

/** While an unsandboxed program runs, only keys that existed before it started are valid. */
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

export interface WithKeyring {
  readonly keyring: Keyring;
}

/** The approver as recorded with a decision: the operator, with the name of the API key if one was used. */
export const saidBy = (key: { name: string } | undefined): string =>
  key === undefined ? 'operator' : `operator (key ${key.name})`;
