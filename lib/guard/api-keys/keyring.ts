import type { ApiKey } from '../../../store/records/api-key.ts';
import type { Store } from '../../../store/store.ts';
import { apiKeys, isKeyGranted } from '../../../store/workspace/api-keys.ts';
import type { Runs } from '../../tools/process/runs.ts';

/**
 * Which keys count: those that the operator made on this machine. A program that no sandbox holds can write the file of one,
 * and would let itself in by it.
 */
export interface Keyring {
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
