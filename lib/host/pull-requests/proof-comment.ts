import { sha256 } from '../../../base/sha256.ts';
import { changePull, type StoredPull } from '../../../store/pulls/pulls.ts';
import type { PostedProof } from '../../../store/records/pull-status.ts';
import type { WithStore } from '../../../store/store.ts';
import type { WithCodeHost } from '../../codehost/code-host.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import { getGate, listChecklist } from '../../work/proof/checklist.ts';
import { getPull, hostedFor, inPullTurn } from './current.ts';
import { proofText } from './proof-text.ts';
import { verifiedProofs } from './verified-proofs.ts';

/** Shows the verified proofs in one comment of the pull request, made or brought up to date. 422 while nothing is verified. */
export const commentProof = (
  service: WithCodeHost & WithGit & WithLog & WithStore,
  caseId: string,
): Promise<PostedProof> =>
  inPullTurn(
    service.store,
    caseId,
    async () => (await postProof(service, getPull(service.store, caseId))).posted,
  );

/** The same within the pull request's turn, with the record after it. */
export const postProof = async (
  service: WithCodeHost & WithGit & WithLog & WithStore,
  kept: StoredPull,
): Promise<{ posted: PostedProof; kept: StoredPull }> => {
  const { case_id, matter } = kept;
  const proofs = await verifiedProofs(service.store, case_id);
  const { missing } = await getGate(service, case_id);
  if (proofs.length === 0) throw nothingVerified(missing);
  const checklist = await listChecklist(service.store, case_id);
  const body = proofText({ proofs, checklist });
  const marker = `dossier:proof ${case_id}`;
  const digest = sha256(body);
  const hosted = hostedFor(service.codeHost, kept);
  // Not repeated where its outcome is unknown: the next call finds it by its marker.
  const { id, url, updated } = await hosted.comment(matter.number, { marker, body });
  const at = service.store.clock().toISOString();
  const proof_comment = { id, url, sha256: digest, at };
  const changed = await changePull(service.store, case_id, { changes: { proof_comment } });
  const posted = { id, url, sha256: digest, updated, proofs: proofs.length };
  return { posted, kept: changed ?? kept };
};

const nothingVerified = (missing: readonly object[]): ServiceError =>
  new ServiceError(
    'proof_gate_blocked',
    'No proof is verified yet, so there is nothing to show. Attach proof, verify it, then try again.',
    { members: { missing } },
  );
