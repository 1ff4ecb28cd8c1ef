import { Type } from 'typebox';
import { addressFeedback, addToFeedback, resolveReview } from '../lib/host/reviews/feedback.ts';
import { fetchReviews, keptReviews } from '../lib/host/reviews/read.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import type { Service } from '../lib/service.ts';
import { Review } from '../store/records/review.ts';
import { ProviderChoice, Session } from '../store/records/session.ts';
import { createdSession, optionalBody } from './fields.ts';
import { CREATING, GIT, HOST_ERRORS, PULL_WRITE } from './problems.ts';

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
    Type.String({ minLength: 1, description: 'The id of the last entry of the previous page' }),
  ),
  local: Type.Optional(
    Type.Boolean({
      description: 'Return the recorded reviews, without a request to the code host',
    }),
  ),
});
const ASKING = ['unreadable_record', 'file_busy', 'pull_mismatch', ...HOST_ERRORS] as const;

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
      'Reads from the code host and records the result. For a check of GitHub Actions, `check` has the failed step and the end of its log, or why the log cannot be read. Fails if the code host fails, so an empty list means that there are none. A review, thread or check in a form that cannot be used is left out: the notes of `…/pr/status` and `…/pr/ready-check` name it. `local=true` returns the records.',
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
      'Open threads, failing checks of the head commit, and the latest decision of each author if it requests changes and was not dismissed. Excludes those that were marked as resolved here, and those in a form that cannot be used, which the notes of `…/pr/status` and `…/pr/ready-check` name.',
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
    description:
      'Has no effect if the review is queued. A review that was addressed is queued again. One that is recorded as resolved or dismissed on the code host, or as deleted, is refused.',
    params: ReviewPath,
    response: Review,
    errors: ASKING,
    handler: ({ params }, service) => addToFeedback(service, params.id, params.review_id),
  }),
  route('POST /api/cases/{id}/pr/reviews/{review_id}/resolve', {
    summary: 'Mark a review as resolved: a thread on the host, a review here',
    description:
      'Removes it from the feedback queue, unless a session has it. A thread with comments on the code host that were not recorded is not resolved: `codehost_conflict` has them in `comments`, and a second request resolves it. On the code host, only its author or a dismissal ends a review, and only another run ends a check: these are only marked here, and no longer block.',
    params: ReviewPath,
    response: Type.Object({
      ...Review.properties,
      resolved_on_host: Type.Boolean(),
      note: Type.String(),
    }),
    errors: ['codehost_conflict', 'unreadable_record', ...GIT, ...PULL_WRITE],
    handler: ({ params }, service) => resolveReview(service, params.id, params.review_id),
  }),
  route('POST /api/cases/{id}/pr/address-feedback', {
    summary: 'Start a session on the queued reviews',
    description:
      'Creates a session of type `feedback`, which receives the queued reviews with file and line, as they are on the code host now. Reviews that are resolved, dismissed or deleted there are left out. It plans, and changes files only after the approval of the plan. The reviews leave the queue when it completes. A RESOLVED Work item becomes OPEN again, also if the session is aborted; a NON_ISSUE one is refused. `…/pr/push` pushes the work.',
    body: optionalBody({
      ...ProviderChoice,
      comment: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 10_000,
          description: 'A comment for the agent',
        }),
      ),
    }),
    response: Type.Object({
      ...Session.properties,
      left_out: Type.Optional(
        Type.Array(Type.Object({ id: Type.String(), why: Type.String() }), {
          description:
            'Queued reviews that it did not get, because they are resolved, dismissed or deleted on the host',
        }),
      ),
    }),
    status: 202,
    errors: ['session_active', 'rebase_in_progress', 'pull_mismatch', ...CREATING, ...HOST_ERRORS],
    handler: async ({ params, body }, service) =>
      createdSession(await addressFeedback(service, params.id, body ?? {})),
  }),
];
