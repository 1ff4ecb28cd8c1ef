import { NoConnection, Problem } from '../../client/client.ts';
import { type Config, UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import { NoDaemon, Refusal } from '../args/refusal.ts';

/** The message if an API key is required and none was given. */
const NO_KEY =
  'The settings require an API key with every call (require_key). Create one with dossier key NAME, and set it as DOSSIER_KEY in the environment.';
const WRONG_KEY =
  'The API key in DOSSIER_KEY is unknown, revoked or not confirmed on this machine. Create another with dossier key NAME; or stop the daemon, and confirm this one with dossier trust.';

/** Turns a refusal of the daemon into a Refusal, or into a UsageError if it is about an option. Returns other errors unchanged. */
export const toRefusal = (error: unknown, { env }: Config, values: Values): unknown => {
  if (error instanceof NoConnection) return new NoDaemon(error.message);
  if (!(error instanceof Problem)) return error;
  const { status, code, message } = error;
  if (status === UNAUTHORIZED) return new Refusal(env.DOSSIER_KEY ? WRONG_KEY : NO_KEY);
  const [, field = '', why = ''] = /^(?:query)?\/(\w+) (.*?)\.?$/s.exec(message) ?? [];
  const isOption = code === 'bad_request' && Object.hasOwn(values, field);
  return isOption ? new UsageError(`--${field} ${why}`) : new Refusal(message);
};

const UNAUTHORIZED = 401;
