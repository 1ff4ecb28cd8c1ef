import { lockOn } from '../../../store/base/locks.ts';
import { newId } from '../../../store/base/new-id.ts';
import { visible } from '../../../store/base/visible.ts';
import { changeReview } from '../../../store/codehost/reviews.ts';
import type { Review } from '../../../store/records/review.ts';
import { isEnded, type Session } from '../../../store/records/session.ts';
import { readSession, sessionsOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import type { ModelChoice } from '../../agents/model-choice.ts';
import type { HostedNeeds } from '../../code/projects/hosted-repository.ts';
import type { HostedRepository } from '../../codehost/code-host.ts';
import { afterDone, invalidState, notFound, ServiceError } from '../../errors.ts';
import { capText } from '../../text/cap-text.ts';
import { counted, oneLine } from '../../text/wording.ts';
import { checkTexts } from '../../work/cases/text.ts';
import { createSession } from '../../work/sessions/lifecycle/create.ts';
import type { SessionNeeds } from '../../work/sessions/live/needs.ts';
import { hostedToWrite } from '../pull-requests/own-pull.ts';
import {
  getOpenPull,
  getPull,
  type PullNeeds,
  underPullLock,
  writeOrVerify,
} from '../pull-requests/record.ts';
import { FEEDBACK } from './feedback-session.ts';
import { fetchReviews, fetchThread, getReview, reviewsOf } from './read.ts';
import { feedbackOf } from './serve.ts';

interface Wanted extends ModelChoice {
  provider?: string;
  /** The operator's comment for the session. */
  comment?: string;
}

/**
 * Creates a session for the queued reviews, as they are on the host now, in Plan mode like any other. They leave the
 * queue when it completes. Throws 422 when no review is queued that is open on the host, and 409 `session_active` while
 * another such session has not ended.
 */
export const addressFeedback = (
  service: SessionNeeds,
  caseId: string,
  wanted: Wanted,
): Promise<FeedbackSession> => {
  checkTexts({ comment: wanted.comment });
  const id = newId();
  return service.store.locks.take(lockOn.feedback(caseId), async () => {
    const known = readSession(service.store, caseId, id);
    if (known !== undefined) return known.session;
    refuseSecond(service.store, caseId);
    const { queued, left_out } = await queuedOnHost(service, caseId);
    // The reviews are assigned first, because the session reads them at once. If it is not created, they stay queued.
    for (const review of queued)
      await changeReview(service.store, caseId, review.id, () => ({
        session_id: id,
        told_sha256: null,
      }));
    const wants = { id, type: FEEDBACK, reopen: true, ...wanted };
    const session = await createSession(service, caseId, wants);
    if (left_out.length === 0) return session;
    const kept = readSession(service.store, caseId, id);
    if (kept !== undefined)
      service.engine.transcript(kept).append('error', { message: leftOutText(left_out) });
    return { ...session, left_out };
  });
};

interface FeedbackSession extends Session {
  /** Queued reviews that the session did not get, and why. */
  left_out?: LeftOut[];
}

const leftOutText = (left_out: readonly LeftOut[]): string =>
  `Left out, and no longer queued: ${left_out.map(({ id, why }) => `review ${id} ${why}`).join(', ')}.`;

interface LeftOut {
  id: string;
  why: string;
}

/**
 * The queued reviews as they are on the host now, because the operator's decision may be old. Those that are over there
 * leave the queue.
 */
const queuedOnHost = async (
  service: PullNeeds,
  caseId: string,
): Promise<{ queued: Review[]; left_out: LeftOut[] }> => {
  // Refuses an empty queue without a request to the host.
  queuedReviews(service.store, caseId);
  await fetchReviews(service, caseId);
  const all = queuedReviews(service.store, caseId);
  const left_out = all.flatMap(({ id, ...review }) => {
    const why = whyOver(review);
    return why === undefined ? [] : { id, why };
  });
  for (const { id } of left_out)
    await changeReview(service.store, caseId, id, () => ({ queued_at: null }));
  const queued = all.filter(({ id }) => !left_out.some((one) => one.id === id));
  if (queued.length > 0) return { queued, left_out };
  const told = left_out.map(({ id, why }) => `${id} ${why}`).join(', ');
  throw invalidState(
    `No queued review is open: ${told}. They were removed from the queue. List what is open with GET /api/cases/${caseId}/pr/reviews/unresolved.`,
  );
};

const whyOver = ({ kind, state, on_host, ...review }: Omit<Review, 'id'>): string | undefined => {
  // What is queued after it was resolved here is wanted.
  if ((review.resolved_at ?? '') > (review.queued_at ?? '')) return 'is resolved here';
  if (state === 'resolved' || state === 'dismissed') return `is ${state} on the host`;
  return kind !== 'check' && !on_host ? 'was deleted on the host' : undefined;
};

const queuedReviews = (store: Store, caseId: string): Review[] => {
  const pull = getOpenPull(store, caseId);
  const queued = reviewsOf(store, pull).filter(({ feedback }) => feedback === 'queued');
  if (queued.length > 0) return queued;
  throw invalidState(
    `No review is queued. List them with GET /api/cases/${caseId}/pr/reviews/unresolved, and queue those to address with POST …/pr/reviews/<id>/add-to-feedback.`,
  );
};

const refuseSecond = (store: Store, caseId: string): void => {
  const other = (sessionsOf(store, caseId) ?? []).find(
    ({ session: { type, status, elsewhere } }) =>
      type === FEEDBACK && !isEnded(status) && elsewhere !== true,
  );
  if (other === undefined) return;
  throw new ServiceError(
    'session_active',
    `The feedback session ${other.session.id} is ${other.session.status}. Wait for it to end, or abort it, then try again.`,
    { members: { session_id: other.session.id } },
  );
};

/**
 * Queues a review for the next feedback session. A queued one, or one in a running session, does not change; an
 * addressed one is queued again. Throws 422 for one that is resolved or dismissed on the host, or gone: no session would
 * get it.
 */
export const addToFeedback = async (
  service: PullNeeds,
  caseId: string,
  id: string,
): Promise<Review> => {
  const review = await getReview(service, caseId, id);
  const queued_at = service.store.clock().toISOString();
  const why = whyOver({ ...review, queued_at });
  if (why !== undefined) throw feedbackOver(caseId, id, why);
  const kept = await changeReview(service.store, caseId, id, (current) => {
    const feedback = feedbackOf(service.store, caseId, current);
    if (feedback === 'queued' || feedback === 'in_session') return undefined;
    return { queued_at, session_id: null };
  });
  if (kept === undefined) throw notFound('review', id);
  return getReview(service, caseId, id);
};

const feedbackOver = (caseId: string, id: string, why: string): ServiceError =>
  invalidState(
    `${id} ${why}, so no session would get it. If that has changed there, list the reviews again with GET /api/cases/${caseId}/pr/reviews.`,
  );

interface ResolvedReview extends Review {
  /** Whether it was resolved on the host, too. */
  resolved_on_host: boolean;
  note: string;
}

/**
 * Marks a review as resolved: a thread on the host, if it says there what the record says; a review or check only here, because on the host only its author, a
 * dismissal or another run can end it. It leaves the queue, unless a session has it.
 */
export const resolveReview = async (
  service: HostedNeeds,
  caseId: string,
  id: string,
): Promise<ResolvedReview> => {
  const review = await getReview(service, caseId, id);
  const isThread = review.kind === 'thread';
  if (isThread) {
    await refuseNewWords(service, caseId, review);
    await resolveThread(service, caseId, review);
  }
  const resolved_at = service.store.clock().toISOString();
  const now = await afterDone(
    isThread ? 'the thread was resolved on the host' : undefined,
    async () => {
      await changeReview(service.store, caseId, id, (current) => ({
        ...(isThread ? { state: 'resolved' } : { resolved_at: current.resolved_at ?? resolved_at }),
        // A review of an aborted session still has the session's id and is in the queue.
        ...(feedbackOf(service.store, caseId, current) === 'queued' && { queued_at: null }),
      }));
      return getReview(service, caseId, id);
    },
  );
  return { ...now, resolved_on_host: isThread, note: NOTES[review.kind] };
};

/**
 * Throws `codehost_conflict` where the thread on the host has comments that the record did not have: the operator has not
 * read them. The record has them from then on, so a second call resolves the thread.
 */
const refuseNewWords = async (
  service: HostedNeeds,
  caseId: string,
  { id, comments: read }: Review,
): Promise<void> => {
  const now = await fetchThread(service, caseId, id);
  const known = new Set(read.map(wordsOf));
  const comments = (now?.comments ?? []).filter((one) => !known.has(wordsOf(one)));
  const newest = comments.at(-1);
  if (newest === undefined) return;
  const said = capText(oneLine(visible(newest.body)), MOST_QUOTED).output;
  throw new ServiceError(
    'codehost_conflict',
    `The thread has ${counted(comments.length, 'comment')} that you have not read. The newest is by ${newest.author ?? 'unknown'}: ${said} Nothing was resolved; to resolve the thread anyway, send the same request again.`,
    { members: { comments } },
  );
};

const MOST_QUOTED = 1000;

const wordsOf = ({ author, body, url }: Review['comments'][number]): string =>
  JSON.stringify([author, body, url]);

const NOTES: Record<Review['kind'], string> = {
  thread: 'The thread is resolved on the host.',
  review:
    'Resolved only here: on the host the review counts until its author reviews again or it is dismissed.',
  check: 'Resolved only here: on the host the check fails until another run passes.',
};

const resolveThread = (service: HostedNeeds, caseId: string, { id, pull }: Review): Promise<void> =>
  underPullLock(service.store, caseId, async () => {
    const hosted = await hostedToWrite(service, getPull(service.store, caseId));
    const thread = id.slice('thread:'.length);
    await writeOrVerify<unknown>(
      () => hosted.resolveThread(pull, thread).then(() => true),
      () => findResolved(hosted, pull, thread),
    );
  });

const findResolved = async (
  hosted: HostedRepository,
  pull: number,
  thread: string,
): Promise<unknown> =>
  (await hosted.threads(pull)).threads.find(
    ({ node_id, resolved }) => node_id === thread && resolved,
  );
