import { trustHash } from '../../consent/seal.ts';
import type { Settings } from '../../records/settings.ts';
import { patternOf, trustedParts, withPart } from './keys.ts';
import { looseningKeys } from './tightening.ts';
import { type TrustLog, type TrustVerdict, trustOf } from './trust-log.ts';

/** A value in a file that is ignored until the operator trusts it. */
export interface WaitingPart {
  key: string;
  /** Undefined if the key was removed. */
  value: unknown;
  /** The value in force meanwhile; undefined if there is none. */
  trusted_value: unknown;
  hash: string;
}

interface Effective {
  settings: Settings;
  waiting: WaitingPart[];
  verdicts: TrustVerdict[];
}

/** The settings in force, and the untrusted ones. Returns the same object if all are trusted. */
export const computeEffective = (settings: Settings, trustLog: TrustLog): Effective => {
  const parts = trustedParts(settings);
  const known = [...trustLog.log.list().keys()].filter(isSetting);
  const keys = [...new Set([...parts.keys(), ...known])];
  const loosening = looseningIn(settings, trustLog, keys);
  const effective: Effective = { settings, waiting: [], verdicts: [] };
  for (const key of keys) {
    const value = parts.get(key);
    const verdict = trustOf(trustLog, key, value, () => !loosening.has(key));
    effective.verdicts.push(verdict);
    if (verdict.holds) continue;
    effective.waiting.push(waitingPart(key, value, verdict.in_force));
    effective.settings = withPart(effective.settings, key, verdict.in_force);
  }
  return effective;
};

// Compares with the settings of which only the trusted values apply.
const looseningIn = (
  settings: Settings,
  trustLog: TrustLog,
  keys: readonly string[],
): Set<string> => {
  const parts = trustedParts(settings);
  let trusted = settings;
  for (const key of keys) {
    const { holds, in_force } = trustOf(trustLog, key, parts.get(key), () => false);
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

// The other keys are webhooks, commands and approvals.
const isSetting = (key: string): boolean => patternOf(key) !== undefined;
