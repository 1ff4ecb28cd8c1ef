import { changePull, type KeptPull } from '../../store/pulls/pulls.ts';
import { listReviews, saveReviews } from '../../store/pulls/reviews.ts';
import type { Review } from '../../store/records/review.ts';
import { notFound } from '../errors.ts';
import { getPull, hostedFor, inPullTurn } from '../pull-requests/current.ts';
import type { Service } from '../service.ts';
import { servedReviews } from './served.ts';
import { toldReviews } from './told.ts';

/**
 * Reads all reviews and threads from the host and records them, oldest first. An error of the host is the answer: nothing
 * is ever an empty list because it could not be read.
 */
export const fetchReviews = (service: Service, caseId: string): Promise<Review[]> =>
  inPullTurn(service, caseId, async () => {
    const pull = getPull(service, caseId);
    const hosted = hostedFor(service, pull);
    const { number } = pull.matter;
    const [reviews, threads] = await Promise.all([hosted.reviews(number), hosted.threads(number)]);
    const told = toldReviews(number, reviews, threads);
    const kept = await saveReviews(service.store, caseId, { pull: number, reviews: told });
    const now = await changePull(service.store, caseId, {
      changes: { reviews_synced_at: service.clock().toISOString() },
    });
    if (kept === undefined) throw notFound('Work item', caseId);
    return servedReviews(service, now ?? pull, kept);
  });

/** The same as they were when the host was last asked. */
export const keptReviews = (service: Service, caseId: string): Review[] =>
  reviewsOf(service, getPull(service, caseId));

/** Those of a pull request. */
export const reviewsOf = (service: Service, pull: KeptPull): Review[] =>
  servedReviews(service, pull, listReviews(service.store, pull.case_id) ?? []);

/** One by its id; asks the host for one that is not known yet. 404 when it does not know it either. */
export const getReview = async (service: Service, caseId: string, id: string): Promise<Review> => {
  const isIt = (review: Review): boolean => review.id === id;
  const kept = keptReviews(service, caseId).find(isIt);
  if (kept !== undefined) return kept;
  const fetched = (await fetchReviews(service, caseId)).find(isIt);
  if (fetched === undefined) throw notFound('review', id);
  return fetched;
};
