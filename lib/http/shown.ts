import type { IncomingHttpHeaders } from 'node:http';
import type { Service } from '../service.ts';
import { type CheckKey, type Credential, checkCredential } from './local-only.ts';
import { readSessionCookie } from './session-cookie.ts';

interface At {
  path: string;
  port: number;
  checkKey: CheckKey;
  service: Pick<Service, 'consoleSessions'>;
}

/** What a request shows: a token, else the cookie of a browser that has shown a key. Throws `unauthorized` for a bad token. */
export const credentialOf = async (
  headers: IncomingHttpHeaders,
  { path, port, checkKey, service }: At,
): Promise<Credential | undefined> => {
  if (headers.authorization !== undefined)
    return checkCredential(headers.authorization, path, checkKey);
  const value = readSessionCookie(headers.cookie, port);
  const key = value === undefined ? undefined : service.consoleSessions.keyOf(value);
  return key && { key: { id: key.id, name: key.name } };
};
