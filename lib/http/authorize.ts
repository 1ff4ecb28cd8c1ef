import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { ServiceError } from '../errors.ts';
import { validKey } from '../guard/api-keys/keys.ts';
import type { Service } from '../service.ts';
import type { Caller } from '../tools/process/caller.ts';
import { readSessionCookie } from './cookies.ts';
import { type ApiKeyRef, bearerOf, notLocal } from './local-only.ts';

/**
 * Refuses every caller but the operator. Throws `unauthorized` if the settings require an API key and there is none, unless
 * the page is `keyless`. Throws `not_operator` for another user of the machine, and, without an API key, for a process of
 * a run or one that may be part of a run.
 */
export const requireOperator = async (
  socket: unknown,
  key: ApiKeyRef | undefined,
  { requiresKey, callers }: Pick<Service, 'callers' | 'requiresKey'>,
  keyless = false,
): Promise<void> => {
  if (!keyless && key === undefined && requiresKey()) throw keyNeeded();
  // A request that the daemon injects into itself has no connection.
  if (!(socket instanceof Socket)) return;
  const caller = await callers.callerOf(socket);
  const why = REFUSED[caller];
  const isOpened = key !== undefined && OPENED_BY_KEY.includes(caller);
  if (why !== undefined && !isOpened) throw new ServiceError('not_operator', why);
};

const keyNeeded = (): ServiceError =>
  new ServiceError(
    'unauthorized',
    'The settings require an API key with every call (require_key). Create one with dossier key NAME, and send it as Authorization: Bearer dossier_…, or open /dashboard/login in a browser.',
    { headers: { 'www-authenticate': 'Bearer' } },
  );

const OPENED_BY_KEY: readonly Caller[] = ['run', 'untold', 'elsewhere', 'unseen'];

const WITH_A_KEY =
  'If you are the caller, send an API key: create one with dossier key NAME, and send it as Authorization: Bearer dossier_… (dossier reads it from DOSSIER_KEY). Calls by ssh -L, and from programs that changed their user, need one too.';

const REFUSED: Readonly<Record<Caller, string | undefined>> = {
  operator: undefined,
  other_user:
    'The call comes from another user of this machine. Only the user who runs the daemon may call it, with an API key or without.',
  gone: 'The caller closed the connection, so the daemon cannot identify it. Call again, and wait for the answer.',
  run: 'The call comes from a process of a running session, and agents may not decide. Call from a shell of your own.',
  untold: `A session without a sandbox is running, and this call may come from it. ${WITH_A_KEY}`,
  elsewhere: `A session without a sandbox is running in another daemon of yours, and this call may come from it. ${WITH_A_KEY}`,
  unseen: `A session without a sandbox is running, and this system does not identify callers. ${WITH_A_KEY}`,
};

/**
 * Reads the API key of a request: its bearer token, else that of the session cookie of a browser that logged in with a key.
 * Throws `not_local`, and `unauthorized` for a token that is not valid.
 */
export const readKey = async (
  headers: IncomingHttpHeaders,
  port: number,
  service: Pick<Service, 'consoleSessions' | 'keyring' | 'log' | 'store'>,
): Promise<ApiKeyRef | undefined> => {
  const refusal = notLocal(headers, port);
  if (refusal !== undefined) throw refusal;
  if (headers.authorization === undefined) {
    const value = readSessionCookie(headers.cookie, port);
    const key = value === undefined ? undefined : service.consoleSessions.keyOf(value);
    return key && refTo(key);
  }
  const token = bearerOf(headers.authorization);
  const key = token === undefined ? undefined : await validKey(service, token);
  if (key !== undefined) return refTo(key);
  throw new ServiceError(
    'unauthorized',
    'The API key is unknown, revoked or not confirmed on this machine. Confirm it with dossier trust, or send another. A key added by hand while a session without a sandbox runs becomes valid when that ends. Unless the settings require a key, you can leave Authorization out.',
    { headers: { 'www-authenticate': 'Bearer' } },
  );
};

const refTo = ({ id, name, sha256 }: ApiKeyRef): ApiKeyRef => ({ id, name, sha256 });
