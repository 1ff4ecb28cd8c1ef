import { randomUUID } from 'node:crypto';
import type { Item } from '../../store/items/item.ts';
import {
  createProof,
  itemWithProofs,
  readProof,
  readProofs,
  type TaggedProof,
  updateProof,
} from '../../store/proofs.ts';
import type { Proof, ProofMatter } from '../../store/records/proof.ts';
import { saidBy } from '../api-keys/said-by.ts';
import { checkTexts } from '../cases/text.ts';
import { notFound, ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { headOf } from '../worktrees/look/head.ts';

const MAX_BYTES = 1_048_576;

export interface NewProof {
  type: string;
  content: string;
  /** Whose agent attaches it. */
  session_id?: string;
}

/** Attaches a proof, not verified, with the commit that the worktree stands on. Throws `too_large` beyond 1 MiB. */
export const attachProof = async (
  service: Service,
  caseId: string,
  { type, content, session_id }: NewProof,
): Promise<TaggedProof> => {
  if (Buffer.byteLength(content) > MAX_BYTES) throw tooLarge();
  checkTexts({ content });
  const commit = (await headOf(service, caseId)) ?? null;
  const matter = {
    id: randomUUID(),
    type,
    verified: false,
    commit,
    ...(session_id !== undefined && { session_id }),
    created_at: service.clock().toISOString(),
  };
  const proof = await createProof(service.store, caseId, { matter, content });
  if (proof === undefined) throw notFound('Work item', caseId);
  return proof;
};

const tooLarge = () =>
  new ServiceError('too_large', 'Attach 1 MiB of UTF-8 or less: the part that shows it.', {
    errors: [{ path: '/content', message: `must have ${MAX_BYTES} bytes or fewer` }],
    members: { max_bytes: MAX_BYTES },
  });

/** Only the operator verifies. The verification binds to the content: editing it takes the verification back. */
export const verifyProof = async (
  service: Service,
  caseId: string,
  id: string,
  { ifMatch, key }: { ifMatch?: string | undefined; key?: { name: string } | undefined } = {},
): Promise<TaggedProof> => {
  const at = service.clock().toISOString();
  const said = { at, by: saidBy(key) };
  const rule = (current: ProofMatter, content: string) => markVerified(current, content, said);
  const proof = await updateProof(service.store, caseId, id, { rule, ifMatch });
  if (proof === undefined) throw notFound('proof', id);
  return proof;
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

export const listProofs = async (service: Service, caseId: string): Promise<Proof[]> =>
  readProofs(service.store, await itemOf(service, caseId));

export const getProof = async (
  service: Service,
  caseId: string,
  id: string,
): Promise<TaggedProof> => {
  const proof = readProof(service.store, await itemOf(service, caseId), id);
  if (proof === undefined) throw notFound('proof', id);
  return proof;
};

/** The Work item with its proofs and checklist as they are on disk this moment. */
export const itemOf = async ({ store }: Service, caseId: string): Promise<Item> => {
  const item = await itemWithProofs(store, caseId);
  if (item === undefined) throw notFound('Work item', caseId);
  return item;
};
