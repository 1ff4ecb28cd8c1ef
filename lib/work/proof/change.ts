import {
  deleteProof as dropProof,
  grantVerification,
  type ProofChange,
  type ProofRule,
  type TaggedProof,
  updateProof,
} from '../../../store/cases/proofs.ts';
import type { ProofMatter } from '../../../store/records/proof.ts';
import type { Store } from '../../../store/store.ts';
import { invalidState, notFound, orNotFound } from '../../errors.ts';
import { saidBy } from '../../guard/api-keys/keys.ts';
import { checkContent } from './attach.ts';

/** Which proof, or which item of the checklist, and how that was when the caller read it. */
export interface Which {
  caseId: string;
  id: string;
  ifMatch?: string | undefined;
}

/**
 * Only the operator verifies. The verification binds to the content: editing it takes the verification back. One that came
 * with the file becomes this machine's.
 */
export const verifyProof = (
  store: Store,
  which: Which,
  key?: { name: string },
): Promise<TaggedProof> => {
  const said = { at: store.clock().toISOString(), by: saidBy(key) };
  return update(store, which, (current, { sha256 }) => {
    if (current.run?.status === 'running')
      throw invalidState(
        'The check is still running. Wait for its end, then verify what it wrote.',
      );
    grantVerification(store, which.caseId, current, sha256);
    return markVerified(current, sha256, said);
  });
};

/** Undefined when it is verified already: verifying twice is one verification, and one event. */
export const markVerified = (
  current: ProofMatter,
  content: string,
  { at, by }: { at: string; by: string },
): Partial<ProofMatter> | undefined =>
  current.verified
    ? undefined
    : { verified: true, verified_at: at, verified_by: by, verified_sha256: content };

/** Takes a verification back, also one that stands in the file and waits. What was resolved by it stays so, and is told. */
export const unverifyProof = (store: Store, which: Which): Promise<TaggedProof> =>
  update(store, which, () => UNVERIFIED);

const UNVERIFIED = {
  verified: false,
  verified_at: undefined,
  verified_by: undefined,
  verified_sha256: undefined,
} as unknown as ProofChange;

/** Changes type, content or both; what differs afterwards is not verified. */
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

/** Takes a proof away; it is kept in `.dossier/undo` for some days. */
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
