import { sha256 } from '../../../base/sha256.ts';
import { readLink } from '../../../store/links/links.ts';
import { readProofs } from '../../../store/proofs.ts';
import { readPullDraft, type StoredPullDraft } from '../../../store/pulls/drafts.ts';
import type { Proof } from '../../../store/records/proof.ts';
import type { PullDraft } from '../../../store/records/pull-request.ts';
import { sessionSummary, sessionsOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { getItem } from '../../code/projects/item.ts';
import { findWorktree } from '../../code/worktrees/read.ts';
import { getItemWithProofs } from '../../work/proof/attach.ts';
import { listChecklist } from '../../work/proof/checklist.ts';
import { type BodyFacts, composeBody, publicWords } from './compose-body.ts';
import { partsOf } from './own-words.ts';

/** What is to be proposed: the draft as it is kept, edits by hand included; without one it is composed now. */
export const pullDraft = async (store: Store, caseId: string): Promise<PullDraft> => {
  await getItem(store, caseId);
  const kept = readPullDraft(store, caseId);
  if (kept === undefined) return composeDraft(store, caseId);
  return draftFrom(kept);
};

/** A kept draft as it is served. What the operator wrote below its line is no edit of what was composed. */
export const draftFrom = ({ matter, body }: StoredPullDraft): PullDraft => {
  const { title, labels = [], composed_at = null, composed_sha256 = null } = matter;
  const edited = composed_sha256 !== null && composed_sha256 !== sha256(partsOf(body).composed);
  return { title, body, labels, composed_at, edited };
};

/** Composes title, body and labels from the Work item, its sessions and its proof. Writes nothing. `room` is for the body, in characters. */
export const composeDraft = async (
  store: Store,
  caseId: string,
  room?: number,
): Promise<PullDraft> => {
  const { title } = await getItem(store, caseId);
  const labels = readLink(store, caseId)?.issue?.labels ?? [];
  const body = composeBody(await toldOf(store, caseId), room);
  return { title, body, labels, composed_at: null, edited: false };
};

/** All that the body of a pull request is composed from. */
const toldOf = async (store: Store, caseId: string): Promise<BodyFacts> => {
  const { title, description } = await getItem(store, caseId);
  const sessions = (sessionsOf(store, caseId) ?? [])
    .filter(({ session: { status, mode } }) => status === 'completed' && mode === 'work')
    .map((kept) => ({ session: kept.session, words: publicWords(sessionSummary(store, kept)) }));
  const issue = readLink(store, caseId)?.issue;
  return {
    ...{ title, description, sessions, issue },
    proofs: await verifiedProofs(store, caseId),
    checklist: await listChecklist(store, caseId),
  };
};

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
