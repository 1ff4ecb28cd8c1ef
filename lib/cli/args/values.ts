import type { Command } from './command.ts';
import type { OptionName } from './options.ts';

/** What an option takes: some words, or what the daemon lists under this name. */
export type Offered = readonly string[] | 'providers' | 'projects';

const LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'];
const STATES = 'open planning investigating implementing verifying blocked resolved non_issue';

const VALUES: Readonly<Partial<Record<OptionName, Offered>>> = {
  state: STATES.split(' '),
  type: ['bug', 'feature', 'docs', 'chore', 'question', 'task'],
  provider: 'providers',
  project: 'projects',
  base: ['current'],
  for: ['plan', 'done'],
  from: ['again', 'next'],
  'log-level': LEVELS,
};

const TYPES: Readonly<Record<string, Offered>> = {
  start: ['implementing', 'investigating', 'verifying'],
  proof: ['tests', 'screenshot', 'log', 'review', 'file', 'check'],
};

/** What completion offers behind an option of a command; undefined where any word may stand. */
export const offeredFor = ({ name }: Command, option: OptionName): Offered | undefined =>
  (option === 'type' ? TYPES[name] : undefined) ?? VALUES[option];
