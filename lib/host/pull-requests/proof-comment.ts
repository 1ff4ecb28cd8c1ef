import { sha256 } from '../../../store/base/sha256.ts';
import { fenceOff } from '../../../store/base/text.ts';
import { changePull, type StoredPull } from '../../../store/codehost/pulls.ts';
import type { ChecklistItem, Gate, Proof } from '../../../store/records/proof.ts';
import type { PostedProof } from '../../../store/records/pull-status.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import { afterDone, ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { counted, fairShare } from '../../text/wording.ts';
import { minuteOf } from '../../work/cases/text.ts';
import { getGate, listChecklist } from '../../work/proof/checklist.ts';
import { verifiedProofs } from './compose.ts';
import { checkedLine, listed, MAX_BODY } from './compose-body.ts';
import { hostedToWrite } from './own-pull.ts';
import { getPull, underPullLock, writeOrVerify } from './record.ts';

/**
 * Posts the verified proofs as one comment of the pull request, or updates it. Throws 422 while no proof is verified.
 */
export const commentProof = (
  service: HostedNeeds & WithLog,
  caseId: string,
): Promise<PostedProof> =>
  underPullLock(
    service.store,
    caseId,
    async () => (await postProof(service, getPull(service.store, caseId))).posted,
  );

/** The same under the lock of the pull request; also returns the record. */
export const postProof = async (
  service: HostedNeeds & WithLog,
  kept: StoredPull,
): Promise<{ posted: PostedProof; kept: StoredPull }> => {
  const { case_id, matter } = kept;
  const proofs = await verifiedProofs(service.store, case_id);
  if (proofs.length === 0) throw nothingVerified(await getGate(service, case_id));
  refuseVerifiedElsewhere(proofs);
  const checklist = await listChecklist(service.store, case_id);
  const body = proofText({ proofs, checklist });
  const marker = `dossier:proof ${case_id}`;
  const digest = sha256(body);
  const hosted = await hostedToWrite(service, kept);
  const { id, url, updated } = await writeOrVerify(
    () => hosted.comment(matter.number, { marker, body }),
    async () => {
      const found = await hosted.findComment(matter.number, { marker, body });
      return found && { ...found, updated: found.id === matter.proof_comment?.id };
    },
  );
  const at = service.store.clock().toISOString();
  const proof_comment = { id, url, sha256: digest, at };
  const changed = await afterDone(`the proof was posted (${url})`, () =>
    changePull(service.store, case_id, { changes: { proof_comment } }),
  );
  const posted = { id, url, sha256: digest, updated, proofs: proofs.length };
  return { posted, kept: changed ?? kept };
};

/**
 * Throws 409 `verified_elsewhere`: reviewers see these proofs as verified by the operator, who must have done so on this
 * machine.
 */
export const refuseVerifiedElsewhere = (proofs: readonly Proof[]): void => {
  const elsewhere = proofs.filter(({ verified_elsewhere }) => verified_elsewhere === true);
  if (elsewhere.length === 0) return;
  const named = elsewhere.map(({ type, id }) => `${type} ${id}`).join(', ');
  throw new ServiceError(
    'verified_elsewhere',
    `Not verified on this machine: ${named}. Check each proof and verify it again with PUT …/proof/ID/verify, then try again.`,
    { members: { proofs: elsewhere.map(({ id }) => id) } },
  );
};

const nothingVerified = ({ missing }: Gate): ServiceError =>
  new ServiceError(
    'proof_gate_blocked',
    'No proof is verified yet. Attach proof, verify it, then try again.',
    { members: { missing } },
  );

/** The content of the proof comment. */
interface Shown {
  /** The verified proofs, oldest first. */
  proofs: readonly Proof[];
  checklist: readonly ChecklistItem[];
}

/**
 * The proof comment in Markdown. Contents are in code blocks that they cannot close, so they notify nobody and are
 * shown verbatim. Long contents are cut in the middle, with the length of the cut.
 */
export const proofText = ({ proofs, checklist }: Shown): string => {
  const shown = proofs.slice(0, MOST_PROOFS);
  const lines = checklist.slice(0, MOST_LINES).map(checkedLine);
  const head = [
    '### Proof',
    `${counted(proofs.length, 'verified proof')}, verified by the operator.`,
    ...(lines.length > 0 ? [listed(lines, checklist.length)] : []),
    ...(proofs.length > shown.length
      ? [
          `The first ${shown.length} are shown; ${proofs.length - shown.length} more are kept with the work.`,
        ]
      : []),
  ].join('\n\n');
  const room = MAX_BODY - RESERVE - head.length - shown.length * EACH;
  const most = fairShare(
    shown.map((proof) => textOf(proof).length),
    room,
  );
  return `${[head, ...shown.map((proof) => block(proof, most))].join('\n\n')}\n`;
};

const MOST_PROOFS = 40;
const MOST_LINES = 50;
// For the marker, and for the markup around a proof.
const RESERVE = 1000;
const EACH = 600;

const block = (proof: Proof, most: number): string => {
  const { type, verified_at, commit } = proof;
  const words = [
    `<code>${type}</code>`,
    ...(verified_at === null ? [] : [`verified ${minuteOf(verified_at)}`]),
    ...(commit === null ? [] : [`made on ${commit.slice(0, 12)}`]),
  ].join(' · ');
  const text = fenceOff(shortened(unmarked(textOf(proof)), most), 'text');
  return `<details><summary>${words}</summary>\n\n${text}\n\n</details>`;
};

// The file itself is not posted; its hash identifies it.
const textOf = ({ file, file_sha256, content }: Proof): string =>
  file === null ? content : `${file}\nsha256 ${file_sha256}\n${content}`;

// The comment is found by its marker, so its content must not contain one.
const unmarked = (content: string): string =>
  content.replaceAll('<!-- dossier:', '<!-\u2060- dossier:');

/** Keeps the beginning and a longer end, because the end of a log says most. */
const shortened = (text: string, most: number): string => {
  if (text.length <= most) return text;
  const head = Math.floor(most / 3);
  const tail = most - head;
  const out = text.length - most;
  return `${whole(text.slice(0, head))}\n[… ${out} characters left out; the full text is kept with the work …]\n${whole(text.slice(-tail))}`;
};

// Removes half of a surrogate pair at a cut.
const whole = (text: string): string => text.replace(/^[\uDC00-\uDFFF]|[\uD800-\uDBFF]$/g, '');
