import { randomBytes } from 'node:crypto';
import { sha256 } from '../../../store/base/sha256.ts';
import type { ApiKey } from '../../../store/records/api-key.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { keyWithHash } from '../../../store/workspace/api-keys.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { validKey, type WithKeyring } from './keys.ts';

/** Sessions of browsers that logged in with an API key. In memory only: a restart of the daemon ends them. */
interface ConsoleSessions {
  /** Opens a session and returns the value of its cookie. */
  open(key: ApiKey): string;
  /** The API key of a session; undefined if it is unknown or the key is revoked. */
  keyOf(value: string): ApiKey | undefined;
}

const MOST = 100;

/** Keeps the newest 100 sessions. */
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

export interface WithConsoleSessions {
  readonly consoleSessions: ConsoleSessions;
}

/** Opens a console session for an API key and returns its cookie value. Throws 401 `unauthorized` for an unknown key. */
export const logIn = async (
  service: WithConsoleSessions & WithKeyring & WithLog & WithStore,
  text: string,
): Promise<string> => {
  const key = await validKey(service, text.trim());
  if (key !== undefined) return service.consoleSessions.open(key);
  throw new ServiceError(
    'unauthorized',
    'The API key is unknown or revoked. Create one with `dossier key NAME`.',
  );
};
