import { Type } from 'typebox';
import { addressFeedback, addToFeedback, resolveReview } from '../lib/host/reviews/feedback.ts';
import { fetchReviews, keptReviews } from '../lib/host/reviews/read.ts';
import { created } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import type { Service } from '../lib/service.ts';
import { Review } from '../store/records/review.ts';
import { ProviderChoice, Session } from '../store/records/session.ts';
import { optionalBody } from './fields.ts';
import { CREATING, HOST_ERRORS } from './problems.ts';

const ReviewPath = {
  review_id: Type.String({
    minLength: 1,
    maxLength: 300,
    description: '`review:<number>`, `thread:<id>` or `check:<number>`',
  }),
};
const Query = Type.Object({
  ...PageQuery,
  after: Type.Optional(
    Type.String({ minLength: 1, description: 'The id of the last one of the page before' }),
  ),
  local: Type.Optional(
    Type.Boolean({ description: 'As they were when the host was last asked, which is not asked' }),
  ),
});
const ASKING = ['unreadable_record', 'file_busy', ...HOST_ERRORS] as const;

const reviewsFor = (
  service: Service,
  caseId: string,
  { local = false }: { local?: boolean },
): Review[] | Promise<Review[]> =>
  local ? keptReviews(service.store, caseId) : fetchReviews(service, caseId);

export const reviewRoutes = [
  route('GET /api/cases/{id}/pr/reviews', {
    summary: 'List all reviews, threads and failing checks of the pull request, oldest first',
    description:
      'Read from the host, and recorded. Of a check of GitHub Actions the step that failed and the end of its log are in `check`; a log that cannot be read says why there. An error of the host is the answer: never an empty list because it could not be asked. `local=true` answers the records.',
    query: Query,
    response: Type.Array(Review),
    errors: ASKING,
    handler: async ({ params: { id }, query }, service) =>
      page(await reviewsFor(service, id, query), query, `/api/cases/${id}/pr/reviews`),
  }),
  route('GET /api/cases/{id}/pr/reviews/unresolved', {
    operationId: 'listUnresolvedCasePrReviews',
    summary: 'List the reviews, threads and checks that block the pull request',
    description:
      'Threads that are open, checks of the head that fail, and of each author the latest decision where that asks for changes and was not dismissed. Not those that were marked as resolved here.',
    query: Query,
    response: Type.Array(Review),
    errors: ASKING,
    handler: async ({ params: { id }, query }, service) => {
      const blocking = (await reviewsFor(service, id, query)).filter((one) => one.blocking);
      return page(blocking, query, `/api/cases/${id}/pr/reviews/unresolved`);
    },
  }),
  route('POST /api/cases/{id}/pr/reviews/{review_id}/add-to-feedback', {
    summary: 'Queue a review for the next feedback session',
    description: 'Once, however often it is asked. One that was addressed is queued anew.',
    params: ReviewPath,
    response: Review,
    errors: ASKING,
    handler: ({ params }, service) => addToFeedback(service, params.id, params.review_id),
  }),
  route('POST /api/cases/{id}/pr/reviews/{review_id}/resolve', {
    summary: 'Mark a review as resolved: a thread on the host, a review here',
    description:
      'It leaves the queue for feedback, unless a session has it. The host lets a review be ended only by its author or a dismissal, and a check by another run: here it blocks no more.',
    params: ReviewPath,
    response: Type.Object({
      ...Review.properties,
      resolved_on_host: Type.Boolean(),
      note: Type.String(),
    }),
    errors: ['codehost_conflict', ...ASKING],
    handler: ({ params }, service) => resolveReview(service, params.id, params.review_id),
  }),
  route('POST /api/cases/{id}/pr/address-feedback', {
    summary: 'Start a session on the queued reviews',
    description:
      'A session of type `feedback`: it is told the reviews with file and line, plans, and changes files only after the operator has approved the plan. They leave the queue when it completes. A Work item that is RESOLVED is OPEN again with it, and stays so if the session is aborted; one that is NON_ISSUE is refused. Then `…/pr/push` brings its work to the host.',
    body: optionalBody({
      ...ProviderChoice,
      comment: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 10_000,
          description: 'What the operator says to it',
        }),
      ),
    }),
    response: Session,
    status: 202,
    errors: ['session_active', 'rebase_in_progress', 'file_busy', ...CREATING],
    handler: async ({ params, body }, service) => {
      const session = await addressFeedback(service, params.id, body ?? {});
      return created(`/cases/${params.id}/sessions/${session.id}`, session);
    },
  }),
];
