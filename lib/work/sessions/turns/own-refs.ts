import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { Engine } from '../live/engine.ts';

/**
 * The branches, tags and stashes that earlier turns of a session made in their repositories, as its stream tells them:
 * a later turn of it has them again. What the operator's repository had is the operator's, and not among them.
 */
export const ownRefs = async (
  engine: Engine,
  kept: StoredSession,
): Promise<ReadonlyMap<string, string>> => {
  const own = new Map<string, string>();
  for await (const events of engine.transcript(kept).soFar(0))
    for (const { event, data } of events)
      for (const each of event === 'error' ? keptIn(data) : []) hear(own, each);
  return own;
};

const keptIn = ({ code, refs }: Record<string, unknown>): readonly unknown[] =>
  code === 'refs_kept' && Array.isArray(refs) ? refs : [];

const hear = (own: Map<string, string>, told: unknown): void => {
  if (typeof told !== 'object' || told === null) return;
  const { ref, before, after, kept_ref } = told as Record<string, unknown>;
  if (typeof ref !== 'string' || !OWN.test(ref)) return;
  if (typeof after !== 'string' || typeof kept_ref !== 'string') own.delete(ref);
  else if (before === null || own.has(ref)) own.set(ref, after);
};

const OWN = /^refs\/(?:heads\/|tags\/|stash@\{)/;
