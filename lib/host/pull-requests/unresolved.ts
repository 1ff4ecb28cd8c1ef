import type { HostReview, ReviewThread } from '../../codehost/code-host.ts';

/** Something a reviewer still waits for. */
export interface Unresolved {
  /** `review:<number>` or `thread:<node id>`. */
  id: string;
  author: string | null;
  /** For an operator, in one line. */
  detail: string;
}

type Decision = Pick<HostReview, 'number' | 'author' | 'state' | 'submitted_at'>;

/** As much of a thread as the rule looks at. */
interface OpenThread extends Pick<ReviewThread, 'node_id' | 'resolved' | 'path' | 'line'> {
  comments: readonly { author: string | null }[];
}

/**
 * What blocks: of each author the newest decision, where it asks for changes and was not dismissed; and every thread that
 * is not resolved. A comment decides nothing.
 */
export const unresolvedOf = (
  reviews: readonly Decision[],
  threads: readonly OpenThread[],
): Unresolved[] => [
  ...newestDecisions(reviews)
    .filter(({ state }) => state === 'changes_requested')
    .map(({ number, author }) => ({
      id: `review:${number}`,
      author,
      detail: `${author ?? 'somebody'} asks for changes`,
    })),
  ...threads.filter(({ resolved }) => !resolved).map(ofThread),
];

const newestDecisions = (reviews: readonly Decision[]): Decision[] => {
  const newest = new Map<string | null, Decision>();
  const decisions = reviews.filter(({ state }) => DECISIONS.has(state));
  for (const review of decisions.toSorted(bySubmission)) newest.set(review.author, review);
  return [...newest.values()];
};

const DECISIONS = new Set<HostReview['state']>(['approved', 'changes_requested', 'dismissed']);

const bySubmission = (a: Decision, b: Decision): number =>
  (a.submitted_at ?? '').localeCompare(b.submitted_at ?? '') || a.number - b.number;

const ofThread = ({ node_id, path, line, comments: [first] }: OpenThread): Unresolved => ({
  id: `thread:${node_id}`,
  author: first?.author ?? null,
  detail: `a thread on ${path}${line === null ? '' : `:${line}`} is not resolved`,
});
