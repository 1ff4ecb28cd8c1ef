import { trustHash } from '../../consent/seal.ts';
import type { Settings } from '../../records/settings.ts';
import { patternOf, trustedParts, withPart } from './keys.ts';
import { looseningKeys } from './tightening.ts';
import { type Book, type TrustVerdict, trustOf } from './trust-log.ts';

/** A value that stands in a file and does not hold until the operator says so. */
export interface WaitingPart {
  key: string;
  /** Undefined: what was there was taken away. */
  value: unknown;
  /** What holds meanwhile; undefined: nothing. */
  trusted_value: unknown;
  hash: string;
}

export interface Effective {
  settings: Settings;
  waiting: WaitingPart[];
  verdicts: TrustVerdict[];
}

/** The settings as far as the operator has said so. The very same object where all of them hold. */
export const effectiveOf = (settings: Settings, book: Book): Effective => {
  const parts = trustedParts(settings);
  const known = [...book.log.list().keys()].filter(isSetting);
  const keys = [...new Set([...parts.keys(), ...known])];
  const loosening = looseningIn(settings, book, keys);
  const effective: Effective = { settings, waiting: [], verdicts: [] };
  for (const key of keys) {
    const value = parts.get(key);
    const verdict = trustOf(book, key, value, () => !loosening.has(key));
    effective.verdicts.push(verdict);
    if (verdict.holds) continue;
    effective.waiting.push(waitingPart(key, value, verdict.in_force));
    effective.settings = withPart(effective.settings, key, verdict.in_force);
  }
  return effective;
};

// Compared with what applies when all that the operator has trusted does, and nothing else of the file.
const looseningIn = (settings: Settings, book: Book, keys: readonly string[]): Set<string> => {
  const parts = trustedParts(settings);
  let trusted = settings;
  for (const key of keys) {
    const { holds, in_force } = trustOf(book, key, parts.get(key), () => false);
    if (!holds) trusted = withPart(trusted, key, in_force);
  }
  return looseningKeys(trusted, settings);
};

export const waitingPart = (key: string, value: unknown, held: unknown): WaitingPart => ({
  key,
  value,
  trusted_value: held,
  hash: trustHash(value),
});

// Of registrations, the other keys, somebody else looks after.
const isSetting = (key: string): boolean => patternOf(key) !== undefined;
