import { canonical } from '../../consent/seal.ts';
import { EVENT_TYPES, isSent } from '../../records/event.ts';
import type { Settings } from '../../records/settings.ts';
import type { WebhookMatter } from '../../records/webhook.ts';
import { type Aspect, aspectsOf } from './aspects.ts';
import { partAt, trustedParts, withPart } from './keys.ts';

/**
 * The keys that the operator has to confirm before `wanted` applies in place of `held`: each key from which a looser sandbox,
 * network, permission, program or address follows, for anything that the settings apply to. With the value of `held` for these
 * keys, nothing is looser than under `held`. The order of the keys does not matter: of two that loosen only together, both
 * are named. Of settings that apply later the same keys are named again.
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

/** Whether a receiver is sent no more than it was, at the same address; undefined: there is none. */
export const sendsNoMore = (held: unknown, now: unknown): boolean => {
  const [before, after] = [held, now] as (Receiver | undefined)[];
  if (after === undefined) return true;
  if (before?.url !== after.url) return false;
  return EVENT_TYPES.every((type) => isSent(before.events, type) || !isSent(after.events, type));
};
