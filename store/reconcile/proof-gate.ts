import type { ChecklistEntry, Gate } from '../records/proof.ts';

/** What the gate looks at of a proof. */
export interface Evidence {
  id: string;
  type: string;
  verified: boolean;
  commit: string | null;
  /** Of what the worktree held against its base. */
  diff_sha256: string | null;
  /** Of all that the worktree held. */
  tree?: string | null;
  /** The command of the check that made it, if that passed. */
  passed?: string | undefined;
}

/** What the worktree holds now, as far as somebody has looked. */
export interface WorktreeWork {
  head?: string | undefined;
  diff_sha256?: string | null;
  tree?: string | undefined;
  /** It holds more than its base. */
  has_work?: boolean | undefined;
}

/**
 * The proof gate: every required item of the checklist is ticked or has a verified proof of its type; without a checklist, at least
 * one proof is verified. Proofs of other work than what is there now still count, and are named.
 */
export const evaluateGate = (
  checklist: readonly ChecklistEntry[],
  proofs: readonly Evidence[],
  now: WorktreeWork = {},
): Gate => {
  const verified = proofs.filter((proof) => proof.verified);
  const required = checklist.filter((item) => item.required);
  const missing = required
    .filter((item) => !isSatisfied(item, verified))
    .map(({ id, type, description }) => ({ checklist_id: id, type, description }));
  const bare = checklist.length === 0 && verified.length === 0;
  const stale = verified.filter((proof) => isStale(proof, now)).map(({ id }) => id);
  return { satisfied: missing.length === 0 && !bare, missing: bare ? [ANY_PROOF] : missing, stale };
};

// Trees are compared: what was not committed yet is the same work once it is. Without work there was nothing to prove.
const isStale = ({ commit, diff_sha256, tree }: Evidence, now: WorktreeWork): boolean => {
  if (tree != null) return now.tree !== undefined && now.tree !== tree;
  if (commit === null && diff_sha256 === null) return now.has_work === true;
  if (diff_sha256 !== null) return now.diff_sha256 !== undefined && now.diff_sha256 !== diff_sha256;
  return commit !== null && now.head !== undefined && now.head !== commit;
};

const ANY_PROOF = {
  checklist_id: null,
  type: null,
  description: 'Attach a proof of any type and verify it',
};

/** It is ticked or waived, or proven; where it names a command, by a run of that which passed. */
export const isSatisfied = (
  { done, waived, type, command }: ChecklistEntry,
  proofs: readonly Evidence[],
): boolean =>
  done === true ||
  waived !== undefined ||
  proofs.some(
    (proof) =>
      proof.verified && (command === undefined ? proof.type === type : proof.passed === command),
  );
