import { NoConnection, Problem } from '../../client/client.ts';
import { type Config, UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import { Refusal } from '../args/refusal.ts';

/** What to type where the settings ask for a key, and none was given. */
export const NO_KEY =
  'The settings ask for an API key with every call (require_key): dossier key NAME makes one. Give it as DOSSIER_KEY in the environment.';
export const WRONG_KEY =
  'The key in DOSSIER_KEY is unknown or revoked, not made on this machine (stop the daemon, and dossier trust asks about it), or made by hand while a session without a sandbox runs: dossier key NAME makes another.';

/** What the daemon refused as a Refusal, or as a UsageError of the option that it is about; another error as it is. */
export const asRefused = (error: unknown, { env }: Config, values: Values): unknown => {
  if (error instanceof NoConnection) return new Refusal(error.message);
  if (!(error instanceof Problem)) return error;
  const { status, code, message } = error;
  if (status === UNAUTHORIZED) return new Refusal(env.DOSSIER_KEY ? WRONG_KEY : NO_KEY);
  const [, field = '', why = ''] = /^(?:query)?\/(\w+) (.*?)\.?$/s.exec(message) ?? [];
  const isOption = code === 'bad_request' && Object.hasOwn(values, field);
  return isOption ? new UsageError(`--${field} ${why}`) : new Refusal(message);
};

const UNAUTHORIZED = 401;
