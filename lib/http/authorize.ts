import type { IncomingHttpHeaders } from 'node:http';
import { Socket } from 'node:net';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import type { Caller } from '../tools/process/caller.ts';
import { readSessionCookie } from './cookies.ts';
import { bearerOf, type CheckKey, type Credential, notLocal } from './local-only.ts';

/**
 * Lets the operator in, and nobody else. Throws `unauthorized` without the API key that the settings ask for unless it is
 * `keyless`, and `not_operator`: for another user of the machine always, for a process of a
 * run or who cannot be told from one unless it shows an API key.
 */
export const admitOperator = async (
  socket: unknown,
  credential: Credential | undefined,
  { requiresKey, callers }: Pick<Service, 'callers' | 'requiresKey'>,
  keyless = false,
): Promise<void> => {
  if (!keyless && credential?.key === undefined && requiresKey()) throw keyNeeded();
  // Asked for from within, there is no connection.
  if (!(socket instanceof Socket)) return;
  const caller = await callers.callerOf(socket);
  const why = REFUSED[caller];
  const isOpened = credential !== undefined && OPENED_BY_KEY.includes(caller);
  if (why !== undefined && !isOpened) throw new ServiceError('not_operator', why);
};

const keyNeeded = (): ServiceError =>
  new ServiceError(
    'unauthorized',
    'The settings ask for an API key with every call (require_key). dossier key NAME makes one; send it as Authorization: Bearer dossier_…, or open /dashboard/login in a browser.',
    { headers: { 'www-authenticate': 'Bearer' } },
  );

const OPENED_BY_KEY: readonly Caller[] = ['run', 'untold', 'elsewhere', 'unseen'];

const WITH_A_KEY =
  'If you make it yourself, send an API key: dossier key NAME makes one, and Authorization: Bearer dossier_… shows it (dossier takes it from DOSSIER_KEY). Callers by ssh -L, and programs that changed their user, need one, too.';

const REFUSED: Readonly<Record<Caller, string | undefined>> = {
  operator: undefined,
  other_user:
    'This call comes from another user of this machine. Only the user who runs the daemon may call it; a key changes nothing.',
  gone: 'Nobody has the other end of this connection any more, so nobody can tell whose call it is. Make it again, and wait for the answer.',
  run: 'This call comes from a process of a session that is running. Make it from a shell of your own: an agent decides nothing.',
  untold: `A session without a sandbox is running, and it cannot be told that this call is not its own. ${WITH_A_KEY}`,
  elsewhere: `Another daemon of yours has a session without a sandbox, and it cannot be told that this call is not that session's own. ${WITH_A_KEY}`,
  unseen: `A session without a sandbox is running, and this system does not tell whose call this is. ${WITH_A_KEY}`,
};

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
