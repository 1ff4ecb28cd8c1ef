import { ServiceError } from '../../errors.ts';
import type { Service } from '../../service.ts';
import { validKey } from './keys.ts';

/** What the browser that showed this key keeps in place of it. Throws `unauthorized` for what is no key. */
export const logIn = async (service: Service, text: string): Promise<string> => {
  const key = await validKey(service, text.trim());
  if (key !== undefined) return service.consoleSessions.open(key);
  throw new ServiceError(
    'unauthorized',
    'The API key is unknown or revoked. dossier key makes one.',
  );
};
