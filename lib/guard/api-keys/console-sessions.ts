import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../store/base/sha256.ts';
import type { ApiKey } from '../../../store/records/api-key.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { keyWithHash } from '../../../store/workspace/api-keys.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { validKey, type WithKeyring } from './keys.ts';

/** The browsers that have shown a key. In memory: they show it again to the daemon's next life. */
interface ConsoleSessions {
  /** What the browser keeps from now on in place of the key. */
  open(key: ApiKey): string;
  /** The key that was shown for it; undefined once that is revoked. */
  keyOf(value: string): ApiKey | undefined;
}

const MOST = 100;

/** The oldest is forgotten when there are a hundred others. */
export const createConsoleSessions = (store: Store): ConsoleSessions => {
  const hashes = new Map<string, string>();
  return {
    open: (key) => {
      const value = randomBytes(32).toString('base64url');
      hashes.set(sha256(value), key.sha256);
      if (hashes.size > MOST) hashes.delete([...hashes.keys()][0] ?? '');
      return value;
    },
    keyOf: (value) => {
      const hash = hashes.get(sha256(value));
      return hash === undefined ? undefined : keyWithHash(store, hash);
    },
  };
};

/** The browsers that have shown one. */
export interface WithConsoleSessions {
  readonly consoleSessions: ConsoleSessions;
}

/** What the browser that showed this key keeps in place of it. Throws `unauthorized` for what is no key. */
export const logIn = async (
  service: WithConsoleSessions & WithKeyring & WithLog & WithStore,
  text: string,
): Promise<string> => {
  const key = await validKey(service, text.trim());
  if (key !== undefined) return service.consoleSessions.open(key);
  throw new ServiceError(
    'unauthorized',
    'The API key is unknown or revoked. dossier key NAME makes one.',
  );
};
