import { canonical, trustHash } from '../consent/canonical.ts';
import { type Book, type TrustVerdict, trustOf } from './book.ts';
import { patternOf, trustedParts, withPart } from './keys.ts';

/** A value that stands in a file and does not hold until the operator says so. */
export interface WaitingPart {
  key: string;
  /** Undefined: what was there was taken away. */
  value: unknown;
  /** What holds meanwhile; undefined: nothing. */
  trusted_value: unknown;
  hash: string;
}

export interface Effective<T> {
  settings: T;
  waiting: WaitingPart[];
  verdicts: TrustVerdict[];
}

/** The settings as far as the operator has said so. The very same object where all of them hold. */
export const effectiveOf = <T extends object>(settings: T, book: Book): Effective<T> => {
  const parts = trustedParts(settings);
  const known = [...book.log.list().keys()].filter(isSetting);
  const effective: Effective<T> = { settings, waiting: [], verdicts: [] };
  for (const key of new Set([...parts.keys(), ...known])) {
    const value = parts.get(key);
    const verdict = trustOf(book, key, value);
    effective.verdicts.push(verdict);
    if (verdict.holds) continue;
    effective.waiting.push(waitingPart(key, value, verdict.in_force));
    if (canonical(value) !== canonical(verdict.in_force))
      effective.settings = withPart(effective.settings, key, verdict.in_force);
  }
  return effective;
};

export const waitingPart = (key: string, value: unknown, held: unknown): WaitingPart => ({
  key,
  value,
  trusted_value: held,
  hash: trustHash(value),
});

// Of registrations, the other keys, somebody else looks after.
const isSetting = (key: string): boolean => patternOf(key) !== undefined;
