import type { WithStore } from '../../store/store.ts';
import { isStillValid, type WithKeyring } from '../guard/api-keys/keys.ts';
import type { ApiKeyRef } from './local-only.ts';

const LOOK_MS = 1000;

/**
 * Calls `end` once the API key that opened a connection is revoked: by the API, or beside the daemon with `dossier key` or
 * `rm`, which only a look at its file shows. Returns a function that ends the watch.
 */
export const watchKey = (
  key: ApiKeyRef | undefined,
  service: WithKeyring & WithStore,
  end: () => void,
): (() => void) => {
  if (key === undefined) return () => undefined;
  const look = (): void => {
    if (!isStillValid(service, key)) end();
  };
  const timer = setInterval(look, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
};
