import type { Consent } from '../../consent/decisions.ts';
import { type ConsentLog, openConsentLog } from '../../consent/log.ts';
import type { Layout } from '../../layout.ts';
import type { Settings } from '../../records/settings.ts';
import { patternOf, withPart } from './keys.ts';
import { looseningKeys } from './tightening.ts';

/**
 * The consent log of a workspace; `holds` as for `openConsentLog`. One at a path where this machine knew another begins with what
 * was stricter there than the defaults, such as `require_key`: without it the operator is asked.
 */
export const openTrustLog = (layout: Layout, holds = false): ConsentLog =>
  openConsentLog(layout, { stricter, holds });

/** What of these decisions is a setting that is stricter than the defaults. */
export const stricter = (decisions: ReadonlyMap<string, Consent>): Consent[] => {
  const settings = [...decisions.values()].filter(({ key }) => patternOf(key) !== undefined);
  const all = settings.reduce<Settings>((made, { key, value }) => withPart(made, key, value), {});
  const loosening = looseningKeys({}, all);
  return settings
    .filter(({ key }) => !loosening.has(key))
    .map(({ key, value }) => ({ key, value, by: 'tightening' }));
};
