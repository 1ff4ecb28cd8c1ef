import { type Approved, inForceOf, isGateShut } from '../gate/gate.ts';
import { gateOf, saveGate } from '../gate/gate-files.ts';
import type { PlanningMatter } from '../records/planning.ts';
import type { Store } from '../store.ts';

/** What is approved of a Work item's planning, whose file says `found`. */
export const approvedOf = (
  store: Store,
  caseId: string,
  found: Approved | undefined,
): Pick<PlanningMatter, 'approved'> => {
  const gate = gateOf(store);
  const part = gate.planning.get(caseId) ?? (isGateShut(gate) ? { holds: null } : undefined);
  const approved = inForceOf(gate, part, found ?? null);
  return approved === (found ?? null) ? {} : { approved };
};

/** The operator approved it, or took that back, by way of the daemon: it holds. */
export const holdApproved = (store: Store, caseId: string, approved: Approved): void => {
  const gate = gateOf(store);
  if (!isGateShut(gate) && !gate.planning.has(caseId)) return;
  gate.planning.set(caseId, { holds: approved });
  saveGate(store);
};
