import { caseOf, checklistOf, type Item, proofsOf, stateOf } from '../../store/items/item.ts';
import type { ChecklistEntry, Gate } from '../../store/records/proof.ts';
import type { Changes } from '../../store/text/splice.ts';
import { moveTo } from '../cases/moves.ts';

/** What the gate looks at of a proof. */
export interface Evidence {
  id: string;
  type: string;
  verified: boolean;
  commit: string | null;
}

/**
 * The proof gate: every required item of the checklist has a verified proof of its type; without a checklist, at least
 * one proof is verified. `head` is the worktree's newest commit: proofs of an older one still count, and are named.
 */
export const evaluateGate = (
  checklist: readonly ChecklistEntry[],
  proofs: readonly Evidence[],
  head?: string,
): Gate => {
  const verified = proofs.filter((proof) => proof.verified);
  const required = checklist.filter((item) => item.required);
  const missing = required
    .filter((item) => !isSatisfied(item, verified))
    .map(({ id, type, description }) => ({ checklist_id: id, type, description }));
  const bare = checklist.length === 0 && verified.length === 0;
  const stale = verified
    .filter(({ commit }) => head !== undefined && commit !== null && commit !== head)
    .map(({ id }) => id);
  return { satisfied: missing.length === 0 && !bare, missing: bare ? [ANY_PROOF] : missing, stale };
};

const ANY_PROOF = {
  checklist_id: null,
  type: null,
  description: 'Attach a proof of any type and verify it',
};

export const isSatisfied = (item: ChecklistEntry, proofs: readonly Evidence[]): boolean =>
  proofs.some(({ type, verified }) => verified && type === item.type);

export const evidenceOf = (item: Item): Evidence[] =>
  proofsOf(item).map(({ file: { matter } }) => ({
    id: matter.id,
    type: matter.type,
    verified: matter.verified,
    commit: matter.commit ?? null,
  }));

/** The gate of a Work item as its files are. A checklist that cannot be read opens no gate: it is what is missing. */
export const gateOf = (item: Item, head?: string): Gate => {
  const gate = evaluateGate(checklistOf(item), evidenceOf(item), head);
  const problem = item.files.checklist?.problem;
  if (problem === undefined) return gate;
  const description = `proof/checklist.md cannot be read (${problem.message}): mend it in an editor`;
  const unreadable = { checklist_id: null, type: null, description };
  return { ...gate, satisfied: false, missing: [unreadable, ...gate.missing] };
};

/**
 * What follows from a Work item's records, whoever wrote them: once its gate is satisfied, one that is VERIFYING is
 * RESOLVED.
 */
export const followUp = (item: Item): Changes | undefined => {
  if (stateOf(item) !== 'VERIFYING' || !gateOf(item).satisfied) return undefined;
  // A proof by hand is told, and what it lacks written, before anything follows from it.
  if (proofsOf(item).some(({ file }) => file.adopt !== undefined)) return undefined;
  const { outcome = null } = caseOf(item).matter;
  return { ...moveTo({ state: 'VERIFYING', outcome }, 'RESOLVED') };
};
