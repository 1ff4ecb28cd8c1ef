import type { StoredPull } from '../../../store/pulls/pulls.ts';
import { listReviews, saveReviews } from '../../../store/pulls/reviews.ts';
import type { Review } from '../../../store/records/review.ts';
import type { Store } from '../../../store/store.ts';
import { notFound, orNotFound } from '../../errors.ts';
import { getPull, hostedFor, inPullTurn } from '../pull-requests/current.ts';
import type { PullNeeds } from '../pull-requests/needs.ts';
import { recordPull } from '../pull-requests/record.ts';
import { checkRecords } from './checks.ts';
import { servedReviews } from './served.ts';
import { toldReviews } from './told.ts';

/**
 * Reads all reviews, threads and failing checks from the host, with the pull request itself, and records them, oldest
 * first. An error of the host is the answer: nothing is ever an empty list because it could not be read.
 */
export const fetchReviews = ({ store, codeHost }: PullNeeds, caseId: string): Promise<Review[]> =>
  inPullTurn(store, caseId, async () => {
    const pull = getPull(store, caseId);
    const hosted = hostedFor(codeHost, pull);
    const { number } = pull.matter;
    const [now, reviews, threads] = await Promise.all([
      hosted.pull(number),
      hosted.reviews(number),
      hosted.threads(number),
    ]);
    const known = listReviews(store, caseId) ?? [];
    const { failing, checks_unread } = await checkRecords(hosted, now, known);
    const told = [...toldReviews(number, reviews, threads), ...failing];
    const kept = await saveReviews(store, caseId, { pull: number, reviews: told });
    if (kept === undefined) throw notFound('Work item', caseId);
    const besides = { reviews_synced_at: store.clock().toISOString(), checks_unread };
    const recorded = await recordPull(store, caseId, {
      name: hosted.name,
      pull: now,
      besides,
    });
    return servedReviews(store, recorded, kept);
  });

/** The same as they were when the host was last asked. */
export const keptReviews = (store: Store, caseId: string): Review[] =>
  reviewsOf(store, getPull(store, caseId));

/** Those of a pull request. */
export const reviewsOf = (store: Store, pull: StoredPull): Review[] =>
  servedReviews(store, pull, listReviews(store, pull.case_id) ?? []);

/** One by its id; asks the host for one that is not known yet. 404 when it does not know it either. */
export const getReview = async (
  service: PullNeeds,
  caseId: string,
  id: string,
): Promise<Review> => {
  const isIt = (review: Review): boolean => review.id === id;
  const kept = keptReviews(service.store, caseId).find(isIt);
  if (kept !== undefined) return kept;
  return orNotFound((await fetchReviews(service, caseId)).find(isIt), 'review', id);
};
