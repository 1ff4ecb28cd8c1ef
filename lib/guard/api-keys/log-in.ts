import type { WithStore } from '../../../store/store.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { WithConsoleSessions } from './console-sessions.ts';
import type { WithKeyring } from './keyring.ts';
import { validKey } from './keys.ts';

/** What the browser that showed this key keeps in place of it. Throws `unauthorized` for what is no key. */
export const logIn = async (
  service: WithConsoleSessions & WithKeyring & WithLog & WithStore,
  text: string,
): Promise<string> => {
  const key = await validKey(service, text.trim());
  if (key !== undefined) return service.consoleSessions.open(key);
  throw new ServiceError(
    'unauthorized',
    'The API key is unknown or revoked. dossier key makes one.',
  );
};
