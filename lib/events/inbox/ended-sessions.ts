import { inUtc } from '../../../store/base/names.ts';
import { visible } from '../../../store/base/visible.ts';
import { mergedOf, proofsOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { ProofMatter } from '../../../store/records/proof.ts';
import { isEnded, type Session } from '../../../store/records/session.ts';
import type { Store } from '../../../store/store.ts';
import { CONFLICT } from '../../code/worktrees/rebase/rebase-state.ts';
import { FEEDBACK } from '../../host/reviews/feedback-session.ts';
import { ownError, someOf } from '../../text/wording.ts';
import { type AttentionEntry, post } from './entry.ts';

// Failed commands come first, before the plain message.
export const withFailures = (
  { commands }: Pick<Session, 'commands'>,
  message: string,
): Pick<AttentionEntry, 'message' | 'output'> => {
  const [first] = commands?.failed ?? [];
  if (commands == null || commands.message === null || first === undefined) return { message };
  return {
    message: `${commands.message}. ${message}`,
    ...(first.output !== '' && { output: first.output }),
  };
};

/** Adds the number of files that a session which did not complete left uncommitted. */
export const withUncommitted = ({ commit }: Session, message: string): string => {
  if (commit?.message == null) return message;
  // An error may end with the output of a program.
  return `${message}${message.includes('\n') ? '\n' : ' '}${commit.message}.`;
};

// A later session, a merge, or a proof verified since, resolves the entry.
export const completedEntries = (
  store: Store,
  caseId: string,
  sessions: readonly Session[],
): AttentionEntry[] => {
  const newest = sessions.at(-1);
  if (newest?.status !== 'completed' || newest.dismissed_at !== undefined) return [];
  const { id, ended_at, created_at } = newest;
  const since = ended_at ?? created_at;
  const item = itemOf(store, caseId);
  const proofs = (item === undefined ? [] : proofsOf(item)).map(({ file }) => file.matter);
  const isMerged = item !== undefined && (mergedOf(item)?.at ?? '') >= since;
  if (isMerged || isVerifiedSince(proofs, since)) return [];
  return [
    {
      id: `done/${id}`,
      kind: 'done',
      session_id: id,
      since,
      ...withFailures(newest, checked(proofs, since) + withUncommitted(newest, DONE)),
      answer: post(`/cases/${caseId}/sessions/${id}/dismiss`),
    },
  ];
};

const DONE = 'The work is completed. Review its diff, then verify a proof.';

// The checks of which the last run since then failed, as a sentence with a final space.
const checked = (proofs: readonly ProofMatter[], since: string): string => {
  const runs = proofs
    .flatMap(({ run }) => run ?? [])
    .filter(({ started_at }) => started_at >= since)
    .toSorted((a, b) => (a.started_at < b.started_at ? -1 : 1));
  const last = new Map(runs.map((run) => [run.command, run]));
  const failed = [...last.values()].filter(({ status }) => status === 'failed');
  const named = failed.map(
    ({ command, exit_code }) =>
      `\`${visible(command)}\` (${exit_code === null ? 'killed' : `exit ${exit_code}`})`,
  );
  return named.length === 0 ? '' : `A check failed: ${someOf(named)}. `;
};

const isVerifiedSince = (proofs: readonly ProofMatter[], since: string): boolean =>
  proofs.some(
    ({ verified, verified_at }) =>
      verified && verified_at != null && inUtc(verified_at) >= inUtc(since),
  );

// A conflict has its own entry. A later session resolves a failed one.
export const blockedEntries = (sessions: readonly Session[]): AttentionEntry[] => {
  const newest = sessions.findLast(({ status }) => isEnded(status));
  const waits = sessions.find(({ status }) => status === 'queued');
  // The clock may have been set back meanwhile.
  const later = newest === undefined ? [] : sessions.slice(sessions.indexOf(newest) + 1);
  const isAnswered = later.some(({ created_at }) => created_at > (newest?.ended_at ?? created_at));
  if (newest?.status === 'failed' && newest.type !== CONFLICT && !isAnswered)
    return [failedEntry(newest, waits !== undefined)];
  if (waits === undefined || sessions.some(({ type, status }) => isAtConflict(type, status)))
    return [];
  const { case_id, id: session_id, created_at: since } = waits;
  return [
    {
      id: `blocked/${session_id}`,
      kind: 'blocked',
      session_id,
      since,
      message: 'A session is queued, and the Work item is BLOCKED.',
      answer: unblockCall(case_id),
    },
  ];
};

const isAtConflict = (type: string, status: Session['status']): boolean =>
  type === CONFLICT && !isEnded(status);

const failedEntry = (session: Session, isWaitedFor: boolean): AttentionEntry => {
  const { id, case_id, type, provider, ended_at, created_at } = session;
  return {
    id: `failed/${id}`,
    kind: 'failed',
    session_id: id,
    since: ended_at ?? created_at,
    ...withFailures(session, withUncommitted(session, ownError(session) ?? 'The session failed.')),
    answer: isWaitedFor ? unblockCall(case_id) : restartCall(case_id, type, provider),
  };
};

const restartCall = (case_id: string, type: string, provider: string): AttentionEntry['answer'] =>
  type === FEEDBACK
    ? post(`/api/cases/${case_id}/pr/address-feedback`, { provider })
    : post(`/cases/${case_id}/sessions`, { type, provider });

const unblockCall = (case_id: string): AttentionEntry['answer'] => ({
  method: 'PUT',
  path: `/cases/${case_id}/state`,
  body: { state: 'OPEN' },
});
