import { readLink } from '../../../store/links/links.ts';
import { sha256 } from '../../../store/names.ts';
import { type KeptPullDraft, readPullDraft } from '../../../store/pulls/drafts.ts';
import type { PullDraft } from '../../../store/records/pull-request.ts';
import { listSessions, sessionSummary } from '../../../store/sessions/sessions.ts';
import { listChecklist } from '../../work/proof/checklist.ts';
import type { Service } from '../../service.ts';
import { itemOf } from '../../code/projects/item.ts';
import { composeBody, type Told } from './compose-body.ts';
import { partsOf } from './own-words.ts';
import { wordsOf } from './session-words.ts';
import { verifiedProofs } from './verified-proofs.ts';

/** What is to be proposed: the draft as it is kept, edits by hand included; without one it is composed now. */
export const pullDraft = async (service: Service, caseId: string): Promise<PullDraft> => {
  await itemOf(service, caseId);
  const kept = readPullDraft(service.store, caseId);
  if (kept === undefined) return composeDraft(service, caseId);
  return draftFrom(kept);
};

/** A kept draft as it is served. What the operator wrote below its line is no edit of what was composed. */
export const draftFrom = ({ matter, body }: KeptPullDraft): PullDraft => {
  const { title, labels = [], composed_at = null, composed_sha256 = null } = matter;
  const edited = composed_sha256 !== null && composed_sha256 !== sha256(partsOf(body).composed);
  return { title, body, labels, composed_at, edited };
};

/** Composes title, body and labels from the Work item, its sessions and its proof. Writes nothing. `room` is for the body, in characters. */
export const composeDraft = async (
  service: Service,
  caseId: string,
  room?: number,
): Promise<PullDraft> => {
  const { title } = await itemOf(service, caseId);
  const labels = readLink(service.store, caseId)?.issue?.labels ?? [];
  const body = composeBody(await toldOf(service, caseId), room);
  return { title, body, labels, composed_at: null, edited: false };
};

/** All that the body of a pull request is composed from. */
const toldOf = async (service: Service, caseId: string): Promise<Told> => {
  const { store } = service;
  const { title, description } = await itemOf(service, caseId);
  const sessions = (listSessions(store, caseId) ?? [])
    .filter(({ session: { status, mode } }) => status === 'completed' && mode === 'work')
    .map((kept) => ({ session: kept.session, words: wordsOf(sessionSummary(store, kept)) }));
  const issue = readLink(store, caseId)?.issue;
  return {
    ...{ title, description, sessions, issue },
    proofs: await verifiedProofs(service, caseId),
    checklist: await listChecklist(service, caseId),
  };
};
