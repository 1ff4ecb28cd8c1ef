import type { IncomingHttpHeaders } from 'node:http';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { bearerOf, type CheckKey, type Credential, notLocal } from './local-only.ts';
import { readSessionCookie } from './session-cookie.ts';

interface At {
  path: string;
  port: number;
  checkKey: CheckKey;
  service: Pick<Service, 'consoleSessions'>;
}

/**
 * What a request from this machine shows: a token, else the cookie of a browser that has shown a key. Throws `not_local`, and
 * `unauthorized` for what is no valid key.
 */
export const credentialOf = async (
  headers: IncomingHttpHeaders,
  { path, port, checkKey, service }: At,
): Promise<Credential | undefined> => {
  const refusal = notLocal(headers, port);
  if (refusal !== undefined) throw refusal;
  if (headers.authorization === undefined) {
    const value = readSessionCookie(headers.cookie, port);
    const key = value === undefined ? undefined : service.consoleSessions.keyOf(value);
    return key && { key: { id: key.id, name: key.name } };
  }
  const token = bearerOf(headers.authorization);
  const credential = token === undefined ? undefined : await checkKey(token, path);
  if (credential !== undefined) return credential;
  throw new ServiceError(
    'unauthorized',
    'The API key is unknown or revoked, was not made on this machine (dossier trust asks about it), or was made by hand while a session without a sandbox runs, and counts once that has ended. Calls from this machine need none unless the settings say so: leave Authorization out.',
    { headers: { 'www-authenticate': 'Bearer' } },
  );
};
