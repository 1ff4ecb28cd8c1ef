import type { MatterChanges } from '../front-matter/splice.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import type { CaseMatter } from '../records/case.ts';
import type { Store } from '../store.ts';
import { type Granted, standingIn } from './held-changes.ts';
import { caseOf, type Item } from './item.ts';

/** What the daemon has just written, or was told to take, holds whatever runs. */
export const grant = (store: Store, item: Item, granted: Granted): void => {
  if (!isGateShut(gateOf(store)) && item.held === undefined) return;
  const proofs = { ...item.granted?.proofs, ...granted.proofs };
  item.granted = { ...item.granted, ...granted, proofs };
};

/**
 * The whole of where an item stands after changes to it, as they are to be written where something in the file waits:
 * and what then holds. Undefined where they are about something else.
 */
export const standingAfter = (
  item: Item,
  changes: object,
): { changes: MatterChanges; grants: Granted } | undefined => {
  if (!STANDING.some((key) => key in changes)) return undefined;
  const matter = { ...caseOf(item).matter, ...changes } as CaseMatter;
  const now = standingIn(matter);
  const isWaiting = item.held?.case !== undefined;
  const { outcome, blocked_from } = matter;
  const whole = isWaiting ? { state: now.state, outcome, blocked_from } : {};
  return { changes: { ...whole, ...changes }, grants: { standing: now } };
};

const STANDING = ['state', 'outcome', 'blocked_from'];
