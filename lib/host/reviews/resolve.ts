import { changeReview } from '../../../store/codehost/reviews.ts';
import type { Review } from '../../../store/records/review.ts';
import type { HostedRepository } from '../../codehost/code-host.ts';
import { getPull, hostedFor, inPullTurn, type PullNeeds } from '../pull-requests/current.ts';
import { writeOnce } from '../pull-requests/record.ts';
import { getReview } from './read.ts';
import { feedbackOf } from './served.ts';

interface ResolvedReview extends Review {
  /** Whether the host was told. */
  resolved_on_host: boolean;
  note: string;
}

/**
 * Marks a review as resolved: a thread on the host, a review or a check here alone, for the host ends one only by its
 * author, a dismissal or another run. Either leaves the queue for feedback, unless a session has it.
 */
export const resolveReview = async (
  service: PullNeeds,
  caseId: string,
  id: string,
): Promise<ResolvedReview> => {
  const review = await getReview(service, caseId, id);
  const isThread = review.kind === 'thread';
  if (isThread) await resolveThread(service, caseId, review);
  const resolved_at = service.store.clock().toISOString();
  await changeReview(service.store, caseId, id, (current) => ({
    ...(isThread ? { state: 'resolved' } : { resolved_at: current.resolved_at ?? resolved_at }),
    // One of an aborted session has its id still, and is in the queue.
    ...(feedbackOf(service.store, caseId, current) === 'queued' && { queued_at: null }),
  }));
  const now = await getReview(service, caseId, id);
  return { ...now, resolved_on_host: isThread, note: NOTES[review.kind] };
};

const NOTES: Record<Review['kind'], string> = {
  thread: 'The thread is resolved on the host.',
  review:
    'Marked here alone: on the host the review stands until its author reviews again or it is dismissed there.',
  check: 'Marked here alone: on the host the check fails until it is run again and passes.',
};

const resolveThread = (
  { store, codeHost }: PullNeeds,
  caseId: string,
  { id, pull }: Review,
): Promise<void> =>
  inPullTurn(store, caseId, async () => {
    const hosted = hostedFor(codeHost, getPull(store, caseId));
    const thread = id.slice('thread:'.length);
    await writeOnce<unknown>(
      () => hosted.resolveThread(thread).then(() => true),
      () => findResolved(hosted, pull, thread),
    );
  });

const findResolved = async (
  hosted: HostedRepository,
  pull: number,
  thread: string,
): Promise<unknown> =>
  (await hosted.threads(pull)).find(({ node_id, resolved }) => node_id === thread && resolved);
