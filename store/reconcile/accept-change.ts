import type { MatterChanges } from '../front-matter/splice.ts';
import { isGateShut } from '../held/held.ts';
import { gateOf } from '../held/held-file.ts';
import type { CaseMatter } from '../records/case.ts';
import type { Store } from '../store.ts';
import { type AcceptedValues, decidedStateOf } from './held-changes.ts';
import { caseOf, type Item } from './item.ts';

/** Notes values that the daemon wrote, or the operator accepted, so that they are not held. */
export const acceptChange = (store: Store, item: Item, accepted: AcceptedValues): void => {
  if (!isGateShut(gateOf(store)) && item.held === undefined) return;
  const proofs = { ...item.accepted?.proofs, ...accepted.proofs };
  item.accepted = { ...item.accepted, ...accepted, proofs };
};

/**
 * The changes to write, with all decided fields while the file has a held state, and the values that are accepted by the
 * write. Undefined if the changes decide nothing.
 */
export const resultingState = (
  item: Item,
  changes: object,
): { changes: MatterChanges; accepts: AcceptedValues } | undefined => {
  if (!DECIDED_FIELDS.some((key) => key in changes)) return undefined;
  const matter = { ...caseOf(item).matter, ...changes } as CaseMatter;
  const now = decidedStateOf(matter);
  const isWaiting = item.held?.case !== undefined;
  const { outcome, blocked_from } = matter;
  const whole = isWaiting ? { state: now.state, outcome, blocked_from } : {};
  return { changes: { ...whole, ...changes }, accepts: { decided: now } };
};

const DECIDED_FIELDS = ['state', 'outcome', 'blocked_from'];
