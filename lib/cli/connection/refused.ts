import { NoConnection, Problem } from '../../client/client.ts';
import { type Config, UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import { NoDaemon, Refusal } from '../args/refusal.ts';
import { shellCommand } from '../args/shell-command.ts';

/** Turns a refusal of the daemon into a Refusal, or into a UsageError if it is about an option. Returns other errors unchanged. */
export const toRefusal = (error: unknown, config: Config, values: Values): unknown => {
  if (error instanceof NoConnection) return new NoDaemon(error.message);
  if (!(error instanceof Problem)) return error;
  const { status, code, message } = error;
  if (status === UNAUTHORIZED) return new Refusal(keyRefusal(config));
  return code === 'bad_request' ? badInput(message, values) : new Refusal(message);
};

const keyRefusal = (config: Config): string => {
  const another = shellCommand(config, 'key NAME');
  return config.env.DOSSIER_KEY
    ? `The API key in DOSSIER_KEY is unknown, revoked or not confirmed on this machine. Create another with ${another}; or stop the daemon, and confirm this one with ${shellCommand(config, 'trust')}.`
    : `The settings require an API key with every call (require_key). Create one with ${another}, and set it as DOSSIER_KEY in the environment.`;
};

// The message begins with the place of the value: `/title must …`.
const badInput = (message: string, values: Values): Error => {
  const [, field = '', why = ''] = /^(?:query)?\/(\w+) (.*?)\.?$/s.exec(message) ?? [];
  if (Object.hasOwn(values, field)) return new UsageError(`--${field} ${why}`);
  const name = ARGUMENTS[field];
  return new Refusal(name === undefined ? message : `${name} ${why}`);
};

/** What a command calls a field of the API that is no option of the same name. */
const ARGUMENTS: Readonly<Record<string, string>> = {
  title: 'The title',
  description: 'The description',
  search: 'The text to find',
  comment: 'The comment',
  text: 'The message',
  command: 'The command',
  number: 'The number of the issue',
};

const UNAUTHORIZED = 401;
