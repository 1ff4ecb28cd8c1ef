import type { Consent } from '../../consent/decisions.ts';
import { type ConsentLog, openConsentLog } from '../../consent/log.ts';
import { canonical } from '../../consent/seal.ts';
import type { Layout } from '../../layout.ts';
import { EVENT_TYPES, isSent } from '../../records/event.ts';
import type { Settings } from '../../records/settings.ts';
import type { WebhookMatter } from '../../records/webhook.ts';
import { type Aspect, aspectsOf } from './aspects.ts';
import { partAt, patternOf, trustedParts, withPart } from './keys.ts';

/**
 * The keys that the operator must confirm before `wanted` replaces `held`: every key that leads to a looser sandbox,
 * network, permission, program or address. With the values of `held` for these keys, nothing is looser than under `held`. The
 * order of keys does not matter: if two keys loosen only together, both are returned.
 */
export const looseningKeys = (held: Settings, wanted: Settings): Set<string> => {
  const changed = changedKeys(held, wanted);
  const aspects = changed.flatMap((key) => aspectsOf(key, { held, wanted }));
  const waiting = new Set<string>();
  for (let before = -1; before < waiting.size; ) {
    before = waiting.size;
    const mixed = [...waiting].reduce((mix, key) => withPart(mix, key, partAt(held, key)), wanted);
    const looser = aspects.filter((aspect) => isLooser(aspect, held, mixed));
    for (const key of looser.flatMap(({ keys }) => keys))
      if (changed.includes(key)) waiting.add(key);
  }
  return waiting;
};

const changedKeys = (held: Settings, wanted: Settings): string[] => {
  const [before, after] = [trustedParts(held), trustedParts(wanted)];
  const all = new Set([...before.keys(), ...after.keys()]);
  return [...all].filter((key) => canonical(before.get(key)) !== canonical(after.get(key)));
};

const isLooser = ({ of, opensNoMore }: Aspect, held: Settings, now: Settings): boolean => {
  const [before, after] = [of(held), of(now)];
  return canonical(before) !== canonical(after) && !opensNoMore(before, after);
};

type Receiver = Pick<WebhookMatter, 'url' | 'events'>;

/** Whether a webhook gets no more events than before, at the same address. Undefined means no webhook. */
export const sendsNoMore = (held: unknown, now: unknown): boolean => {
  const [before, after] = [held, now] as (Receiver | undefined)[];
  if (after === undefined) return true;
  if (before?.url !== after.url) return false;
  return EVENT_TYPES.every((type) => isSent(before.events, type) || !isSent(after.events, type));
};

/**
 * Opens the consent log of a workspace; `holds` as for `openConsentLog`. A new workspace at the path of an earlier one takes
 * over settings that were stricter than the defaults, such as `require_key`.
 */
export const openTrustLog = (layout: Layout, holds = false): ConsentLog =>
  openConsentLog(layout, { stricter, holds });

/** The decisions about settings that are stricter than the defaults. */
export const stricter = (decisions: ReadonlyMap<string, Consent>): Consent[] => {
  const settings = [...decisions.values()].filter(({ key }) => patternOf(key) !== undefined);
  const all = settings.reduce<Settings>((made, { key, value }) => withPart(made, key, value), {});
  const loosening = looseningKeys({}, all);
  return settings
    .filter(({ key }) => !loosening.has(key))
    .map(({ key, value }) => ({ key, value, by: 'tightening' }));
};
