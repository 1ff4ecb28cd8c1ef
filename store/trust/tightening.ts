import { canonical } from '../consent/canonical.ts';
import { patternOf, type TrustedSetting } from './keys.ts';

/** Whether a value opens no more than the one that held; undefined is a setting that is not there. */
type Tightens = (held: unknown, now: unknown) => boolean;

/**
 * True for what holds without a word of the operator's: what is taken away or made narrower than it was, or says what
 * holds anyway. `webhook` is a registration: an address and its events.
 */
export const tightens = (key: string, held: unknown, now: unknown): boolean => {
  if (canonical(held) === canonical(now)) return true;
  const pattern = patternOf(key);
  return pattern === undefined ? fewerEvents(held, now) : TABLE[pattern](held, now);
};

const removed: Tightens = (_held, now) => now === undefined;

const oneOf =
  (...values: unknown[]): Tightens =>
  (_held, now) =>
    values.includes(now);

/** Each in the order in which it was, so that steps that follow from one another do not change places. */
const fewer: Tightens = (held, now) => {
  if (now === undefined) return true;
  if (!Array.isArray(now)) return false;
  const known = Array.isArray(held) ? held.map(canonical) : [];
  let at = 0;
  return now.map(canonical).every((each) => {
    at = known.indexOf(each, at) + 1;
    return at > 0;
  });
};

const subset: Tightens = (held, now) => {
  if (now === undefined) return true;
  const known = Array.isArray(held) ? held.map(canonical) : [];
  return Array.isArray(now) && now.every((each) => known.includes(canonical(each)));
};

// Running shut in again holds at once; any other way of being shut in has to be looked at.
const sandbox: Tightens = (held, now) =>
  (now === undefined || now === 'auto') && [undefined, 'auto', 'off'].includes(held as never);

const allowed = (value: unknown): unknown =>
  typeof value === 'object' && value !== null ? (value as { allow?: unknown }).allow : undefined;

/** 0: all that this machine reaches. 1: by the proxy. 2: named domains alone. */
const reach = (value: unknown): number | undefined => {
  if (value === 'host') return 0;
  if (value === undefined || value === 'proxy') return 1;
  return Array.isArray(allowed(value)) ? 2 : undefined;
};

const network: Tightens = (held, now) => {
  const [before, after] = [reach(held), reach(now)];
  if (before === undefined || after === undefined || after < before) return false;
  return after > before || after === 1 || subset(allowed(held), allowed(now));
};

// An entry that kept an agent to some domains did something that is missed when it is gone.
const provider: Tightens = (held, now) =>
  now === undefined && reach((held as { network?: unknown } | undefined)?.network) !== 2;

const permission: Tightens = (held, now) => {
  if (now === undefined || now === 'ask') return true;
  return Array.isArray(now) && (held === 'allow' || subset(held, now));
};

const requireKey: Tightens = (held, now) => now === true || held !== true;

const TABLE: Readonly<Record<TrustedSetting, Tightens>> = {
  provider: oneOf(undefined, 'runbook', 'manual'),
  'providers.*': provider,
  'projects.*': removed,
  sandbox,
  sandbox_readable: subset,
  network,
  allow_local: subset,
  'permissions.*': permission,
  'worktrees.root': removed,
  'worktrees.setup': fewer,
  'worktrees.copy_files': subset,
  'language_servers.*': removed,
  'codehost.*': removed,
  require_key: requireKey,
};

const fewerEvents: Tightens = (held, now) => {
  if (now === undefined) return true;
  const [before, after] = [held, now] as ({ url?: string; events?: string[] } | undefined)[];
  if (before === undefined || before.url !== after?.url) return false;
  return before.events === undefined || before.events.includes('*')
    ? true
    : after?.events !== undefined && subset(before.events, after.events);
};
