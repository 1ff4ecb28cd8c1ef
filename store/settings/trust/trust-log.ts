import type { Consent } from '../../consent/decisions.ts';
import type { ConsentLog } from '../../consent/log.ts';
import { canonical, trustHash } from '../../consent/seal.ts';
import type { TrustedValue } from '../../records/trust.ts';
import { isAllowedKey } from './allowed.ts';
import { patternOf } from './keys.ts';
import { stricter } from './tightening.ts';

/** Decides which values are trusted, from the consent log of this machine. */
export interface TrustLog {
  readonly log: ConsentLog;
  /** All values in the files are trusted: `serve --trust`. */
  readonly all: boolean;
  /** A program runs without a sandbox and could have written the files; see FileGate. */
  closed: boolean;
  /** Values (`key hash`) first seen while one ran, which `all` does not trust. */
  readonly doubted: Set<string>;
}

export const createTrustLog = (log: ConsentLog, all = false): TrustLog => ({
  log,
  all,
  closed: false,
  doubted: new Set(),
});

/** The last trusted value of a key; undefined if there is none. */
export const heldValue = ({ log }: TrustLog, key: string): unknown => log.list().get(key)?.value;

/** The decision about a value in a file. */
export interface TrustVerdict {
  holds: boolean;
  /** The value itself, or the last trusted one. */
  in_force: unknown;
  /** The decision to add to the log, if any. */
  line?: Consent;
}

/**
 * Decides about a value. It applies if it is the last trusted one, if it was trusted before (but for `sandbox`), if all is
 * trusted, or if the caller says that it is not looser than the last trusted one.
 */
export const trustOf = (
  trustLog: TrustLog,
  key: string,
  value: unknown,
  opensNoMore: (held: unknown) => boolean,
): TrustVerdict => {
  const held = heldValue(trustLog, key);
  if (canonical(held) === canonical(value)) return { holds: true, in_force: value };
  const isSaid = isTaken(trustLog, key, value) || wasTrusted(trustLog, key, value);
  const by = isSaid ? 'operator' : 'tightening';
  if (by === 'tightening' && !opensNoMore(held)) return { holds: false, in_force: held };
  return { holds: true, in_force: value, line: lineFor(key, value, by) };
};

// An older workspace.md, as of another branch or a stash, does not turn the sandbox off by itself.
const wasTrusted = ({ log }: TrustLog, key: string, value: unknown): boolean =>
  key !== 'sandbox' && log.wasGranted(key, trustHash(value));

// With `serve --trust` all values are trusted, except those that came while an unsandboxed program ran.
const isTaken = ({ all, closed, doubted }: TrustLog, key: string, value: unknown): boolean => {
  const one = `${key} ${trustHash(value)}`;
  if (closed) doubted.add(one);
  return all && !doubted.has(one);
};

const lineFor = (key: string, value: unknown, by: Consent['by']): Consent => ({
  key,
  ...(value !== undefined && { value }),
  by,
});

/** Logs the decisions. If the disk fails, they apply in memory, and the next change tries again. */
export const logVerdicts = ({ log }: TrustLog, verdicts: Iterable<TrustVerdict>): void => {
  const lines = [...verdicts].flatMap(({ line }) => line ?? []);
  try {
    for (const by of ['operator', 'tightening'] as const)
      log.grant(
        lines.filter((line) => line.by === by),
        by,
      );
  } catch {
    log.assume(lines);
  }
};

/** The trusted settings, webhooks and commands in force on this machine, by key. */
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
 * Revokes the trust in a key: its values need trust again, except one stricter than the defaults. False if the key is not
 * trusted.
 */
export const revokeTrusted = (
  { log, doubted }: Pick<TrustLog, 'log' | 'doubted'>,
  key: string,
): boolean => {
  const found = trustedValues(log).find((one) => one.key === key);
  if (found === undefined) return false;
  doubted.add(`${key} ${trustHash(found.value)}`);
  const [kept] = stricter(new Map([[key, { key, value: found.value, by: 'operator' }]]));
  log.revoke(key, kept?.value);
  return true;
};
