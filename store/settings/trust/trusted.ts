import { trustHash } from '../../consent/seal.ts';
import type { ConsentLog } from '../../consent/log.ts';
import type { TrustedValue } from '../../records/trust.ts';
import { isAllowedKey } from './allowed.ts';
import { patternOf } from './keys.ts';
import { stricter } from './open-log.ts';
import type { Book } from './trust-log.ts';

/** The settings, receivers of events and commands that the operator has trusted on this machine and that apply, by key. */
export const trustedValues = (log: ConsentLog): TrustedValue[] =>
  [...log.list().values()]
    .flatMap(({ key, value, by, at }): TrustedValue[] => {
      const kind = kindOf(key);
      if (kind === undefined || by !== 'operator') return [];
      return [{ key, kind, value, ...(at !== undefined && { since: at }) }];
    })
    .toSorted((a, b) => Number(a.key > b.key) - Number(a.key < b.key));

const kindOf = (key: string): TrustedValue['kind'] | undefined => {
  if (patternOf(key) !== undefined) return 'setting';
  if (isAllowedKey(key)) return 'command';
  return /^(cases\/[^/]+\/)?webhooks\/[^/]+$/.test(key) ? 'webhook' : undefined;
};

/**
 * Takes the trust in a key back: none of its values applies again before the operator trusts it anew, but what is stricter
 * than the defaults. False where it is not trusted.
 */
export const revokeTrusted = (
  { log, doubted }: Pick<Book, 'log' | 'doubted'>,
  key: string,
): boolean => {
  const found = trustedValues(log).find((one) => one.key === key);
  if (found === undefined) return false;
  doubted.add(`${key} ${trustHash(found.value)}`);
  const [kept] = stricter(new Map([[key, { key, value: found.value, by: 'operator' }]]));
  log.revoke(key, kept?.value);
  return true;
};
