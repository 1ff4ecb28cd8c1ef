import { randomUUID } from 'node:crypto';
import type { Item } from '../../store/item.ts';
import { createProof, itemWithProofs, readProofs, updateProof } from '../../store/proofs.ts';
import type { Proof, ProofMatter } from '../../store/records/proof.ts';
import { notFound } from '../errors.ts';
import type { Service } from '../service.ts';
import { headOf } from '../worktrees/head.ts';

/** Attaches a proof, not verified, with the commit that the worktree stands on. */
export const attachProof = async (
  service: Service,
  caseId: string,
  { type, content }: { type: string; content: string },
): Promise<Proof> => {
  const commit = (await headOf(service, caseId)) ?? null;
  const matter = {
    id: randomUUID(),
    type,
    verified: false,
    commit,
    created_at: service.clock().toISOString(),
  };
  const proof = await createProof(service.store, caseId, { matter, content });
  if (proof === undefined) throw notFound('Work item', caseId);
  return proof;
};

/** Only the operator verifies. The verification binds to the content: editing it takes the verification back. */
export const verifyProof = async (service: Service, caseId: string, id: string): Promise<Proof> => {
  const at = service.clock().toISOString();
  const proof = await updateProof(service.store, caseId, id, (current, content) =>
    markVerified(current, content, at),
  );
  if (proof === undefined) throw notFound('proof', id);
  return proof;
};

/** Undefined when it is verified already: verifying twice is one verification, and one event. */
export const markVerified = (
  current: ProofMatter,
  content: string,
  at: string,
): Partial<ProofMatter> | undefined =>
  current.verified ? undefined : { verified: true, verified_at: at, verified_sha256: content };

export const listProofs = async (service: Service, caseId: string): Promise<Proof[]> =>
  readProofs(service.store, await itemOf(service, caseId));

export const getProof = async (service: Service, caseId: string, id: string): Promise<Proof> => {
  const proof = (await listProofs(service, caseId)).find((each) => each.id === id);
  if (proof === undefined) throw notFound('proof', id);
  return proof;
};

/** The Work item with its proofs and checklist as they are on disk this moment. */
export const itemOf = async ({ store }: Service, caseId: string): Promise<Item> => {
  const item = await itemWithProofs(store, caseId);
  if (item === undefined) throw notFound('Work item', caseId);
  return item;
};
