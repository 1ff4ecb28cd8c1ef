import { readProofs } from '../../../store/proofs.ts';
import type { Proof } from '../../../store/records/proof.ts';
import type { Store } from '../../../store/store.ts';
import { findWorktree } from '../../code/worktrees/read.ts';
import { getItemWithProofs } from '../../work/proof/attach.ts';

/**
 * The proofs of a Work item that are verified, oldest first, as they are shown to reviewers. One that was made before the
 * work was committed names no commit: that was the base, and would be taken for what was proved.
 */
export const verifiedProofs = async (store: Store, caseId: string): Promise<Proof[]> => {
  const proofs = readProofs(store, await getItemWithProofs(store, caseId));
  const base = findWorktree(store, caseId)?.base_commit;
  return proofs
    .filter(({ verified }) => verified)
    .map((proof) => (proof.commit === base ? { ...proof, commit: null } : proof));
};
