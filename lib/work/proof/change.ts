import {
  deleteProof as dropProof,
  grantVerification,
  type ProofChange,
  type ProofRule,
  type TaggedProof,
  updateProof,
} from '../../../store/cases/proofs.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import {
  isDecidedSince,
  lastVerified,
  verificationOf,
} from '../../../store/reconcile/proof-gate.ts';
import type { ProofMatter } from '../../../store/records/proof.ts';
import type { Store } from '../../../store/store.ts';
import { invalidState, notFound, orNotFound } from '../../errors.ts';
import { saidBy } from '../../guard/api-keys/keys.ts';
import { checkContent } from './attach.ts';

/** A proof or a checklist item, with the ETag that the caller read. */
export interface Which {
  caseId: string;
  id: string;
  ifMatch?: string | undefined;
}

/**
 * Verifies a proof for the operator. The verification binds to the content, so an edit removes it. A verification that
 * came with the file is replaced by this machine's.
 */
export const verifyProof = (
  store: Store,
  which: Which,
  key?: { name: string },
): Promise<TaggedProof> => {
  return update(store, which, (current, { sha256 }) => {
    if (current.run?.status === 'running')
      throw invalidState('The check is still running. Wait for it to end, then verify its result.');
    grantVerification(store, which.caseId, current, sha256);
    const decided = itemOf(store, which.caseId)?.seen?.decided ?? [];
    // A verification that is dated ahead, by hand or by another machine's clock, is older than this one all the same.
    const last = lastVerified(current.id, decided) ?? Number.NEGATIVE_INFINITY;
    return markVerified(current, sha256, {
      at: new Date(Math.max(store.clock().getTime(), last + 1)).toISOString(),
      by: saidBy(key),
      again: !isDecidedSince(verificationOf(current), decided),
    });
  });
};

/** Undefined when it is verified already, so a second call makes no event; `again` after work that ended since. */
export const markVerified = (
  current: ProofMatter,
  content: string,
  { at, by, again = false }: { at: string; by: string; again?: boolean },
): Partial<ProofMatter> | undefined =>
  current.verified && !again
    ? undefined
    : { verified: true, verified_at: at, verified_by: by, verified_sha256: content };

/** Removes a verification, also one in the file that is pending. A Work item that it resolved stays resolved. */
export const unverifyProof = (store: Store, which: Which): Promise<TaggedProof> =>
  update(store, which, () => UNVERIFIED);

const UNVERIFIED = {
  verified: false,
  verified_at: undefined,
  verified_by: undefined,
  verified_sha256: undefined,
} as unknown as ProofChange;

/** Changes type or content, which removes the verification. */
export const changeProof = (
  store: Store,
  which: Which,
  change: { type?: string; content?: string },
): Promise<TaggedProof> => {
  if (change.content !== undefined) checkContent(change.content);
  return update(store, which, (current, { text }) => {
    const { type = current.type, content = text } = change;
    if (type === current.type && content === text) return undefined;
    return { ...UNVERIFIED, type, ...(content !== text && { content }) };
  });
};

/** Deletes a proof; the file is kept in `.dossier/undo` for some days. */
export const removeProof = async (
  store: Store,
  { caseId, id, ifMatch }: Which,
): Promise<undefined> => {
  if (!(await dropProof(store, caseId, id, ifMatch))) throw notFound('proof', id);
};

const update = async (
  store: Store,
  { caseId, id, ifMatch }: Which,
  rule: ProofRule,
): Promise<TaggedProof> =>
  orNotFound(await updateProof(store, caseId, id, { rule, ifMatch }), 'proof', id);
