import { NoConnection, Problem } from '../../client/client.ts';
import { type Config, UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import { NoDaemon, Refusal } from '../args/refusal.ts';
import { shellCommand } from '../args/shell-command.ts';
import { startCommand } from './daemon.ts';

/** Turns a refusal of the daemon into a Refusal, or into a UsageError if it is about an option. Returns other errors unchanged. */
export const toRefusal = (error: unknown, config: Config, values: Values): unknown => {
  if (error instanceof NoConnection) return new NoDaemon(endedText(config));
  if (!(error instanceof Problem)) return error;
  const { status, code, message } = error;
  if (status === UNAUTHORIZED) return new Refusal(keyRefusal(config));
  if (UNKNOWN.includes(code)) return new Refusal(releaseText(message, config));
  return code === 'bad_request' ? badInput(message, values) : new Refusal(message);
};

const endedText = (config: Config): string =>
  `No connection to the daemon of ${config.workspace}: it ended before it answered. A change may have been made: look before you repeat it. ${startCommand(config)} starts one.`;

// Every call of a command is in the API of its own release.
const UNKNOWN = ['route_not_found', 'method_not_allowed'];

const releaseText = (message: string, config: Config): string =>
  `The daemon is of another release than this command: ${message} Start it again: ${shellCommand(config, 'stop')}, then ${shellCommand(config, 'up')}`;

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
