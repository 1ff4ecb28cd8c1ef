import type { ChecklistEntry, Gate } from '../records/proof.ts';

/** The fields of a proof that the gate reads. */
export interface Evidence {
  id: string;
  type: string;
  verified: boolean;
  verified_at?: string | null | undefined;
  commit: string | null;
  /** Hash of the worktree's diff against its base. */
  diff_sha256: string | null;
  /** Git tree of the worktree's contents. */
  tree?: string | null;
  /** The command of the check that made the proof, if it passed. */
  passed?: string | undefined;
}

/** The contents of the worktree, as far as they are known. */
export interface WorktreeWork {
  head?: string | undefined;
  diff_sha256?: string | null;
  tree?: string | undefined;
  /** Whether it differs from its base. */
  has_work?: boolean | undefined;
}

/**
 * The proof gate: every required item of the checklist is ticked, waived, or has a verified proof of its type; without a
 * checklist, at least one proof is verified. Proofs of an earlier state of the worktree count, and are listed as stale.
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

// Trees are compared first, since committing does not change the work. Without work a proof is not stale.
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

/** Whether an item is ticked, waived or proven; an item with a command is proven by a passed run of that command. */
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

/** What the operator decided about the proof of a Work item, a text each: verifications, ticks and waivers. */
export const decisionsOf = (
  checklist: readonly ChecklistEntry[],
  proofs: readonly Pick<Evidence, 'id' | 'verified' | 'verified_at'>[],
): string[] => [
  ...proofs.flatMap((proof) => (proof.verified ? verificationOf(proof) : [])),
  ...checklist.flatMap(({ id, done }) => (done === true ? `tick ${id}` : [])),
  ...checklist.flatMap(({ id, waived }) => (waived === undefined ? [] : `waiver ${id}`)),
];

/** The decision that verified a proof. */
export const verificationOf = ({ id, verified_at }: Pick<Evidence, 'id' | 'verified_at'>): string =>
  `proof ${id} ${verified_at ?? ''}`;

/** Whether a decision is neither among these nor an older verification of the same proof. */
export const isDecidedSince = (decision: string, before: readonly string[]): boolean => {
  if (before.includes(decision)) return false;
  const [kind, id = '', at = ''] = decision.split(' ');
  const last = kind === 'proof' ? lastVerified(id, before) : undefined;
  return last === undefined || Date.parse(at) > last;
};

/** The latest time at which these decisions verified a proof, in milliseconds; undefined if none has a time. */
export const lastVerified = (proof: string, decisions: readonly string[]): number | undefined => {
  const times = decisions.flatMap((one) => {
    const [kind, id, at = ''] = one.split(' ');
    return kind === 'proof' && id === proof ? Date.parse(at) : [];
  });
  const known = times.filter((time) => !Number.isNaN(time));
  return known.length === 0 ? undefined : Math.max(...known);
};
