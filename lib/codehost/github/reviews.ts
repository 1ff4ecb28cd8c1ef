import { ServiceError } from '../../errors.ts';
import {
  type HostedRepository,
  HostReview,
  ReviewThread,
  type ThreadComment,
} from '../code-host.ts';
import { fullNameOf, hostClient, type RepositoryContext } from './client.ts';
import { RESOLVE_THREAD, THREAD_COMMENTS, THREADS } from './documents.ts';
import { collectPages, listOf, queriedPages } from './pages.ts';
import { pullToWrite } from './pulls.ts';
import { formedBy, usableOf } from './usable.ts';
import { type Nodes, nodesOf } from './wire.ts';

const STATES: Record<string, HostReview['state']> = {
  APPROVED: 'approved',
  CHANGES_REQUESTED: 'changes_requested',
  DISMISSED: 'dismissed',
  PENDING: 'pending',
};

export const reviews = async (
  place: RepositoryContext,
  number: number,
): ReturnType<HostedRepository['reviews']> => {
  const route = 'GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews';
  const all = await listOf(place, route, { pull_number: number });
  const found = await formedBy(all, (review) => ({
    number: Number(review.id),
    author: review.user?.login ?? null,
    state: STATES[review.state] ?? 'commented',
    body: review.body ?? '',
    url: review.html_url,
    commit: review.commit_id,
    submitted_at: review.submitted_at ?? null,
  }));
  const { usable, unread } = usableOf(HostReview, found, 'review');
  return { reviews: usable, unread };
};

/** All review threads with all their comments. */
export const threads = async (
  place: RepositoryContext,
  number: number,
): ReturnType<HostedRepository['threads']> => {
  const all = await collectPages(
    place,
    { document: THREADS, number },
    // With those that are null, because one of them may be open. No list is no empty one.
    ({ pullRequest }: Threads) => pullRequest.reviewThreads.nodes as readonly (Thread | null)[],
  );
  const found = await formedBy(all, async (thread) => ({
    ...(thread as Thread),
    comments: (await commentsOf(place, thread as Thread)).map(commentFrom),
  }));
  const { usable, unread } = usableOf(ReviewThread, found, 'thread');
  return { threads: usable, unread };
};

interface Threads {
  pullRequest: { reviewThreads: Nodes<Thread> };
}

interface Thread extends Omit<ReviewThread, 'comments'> {
  comments: Nodes<Comment> & { pageInfo: { hasNextPage: boolean; endCursor: string | null } };
}

interface Comment extends Omit<ThreadComment, 'author'> {
  author: { login: string } | null;
}

const commentsOf = async (
  place: RepositoryContext,
  { node_id: thread, comments }: Thread,
): Promise<Comment[]> => {
  const { pageInfo } = comments;
  const all = nodesOf(comments);
  if (!pageInfo.hasNextPage || pageInfo.endCursor === null) return all;
  const from = { thread, cursor: pageInfo.endCursor };
  type Page = { node: Pick<Thread, 'comments'> };
  for await (const { node } of queriedPages<Page>(place, THREAD_COMMENTS, from))
    all.push(...nodesOf(node.comments));
  return all;
};

const commentFrom = ({ author, ...comment }: Comment): ThreadComment => ({
  ...comment,
  author: author?.login ?? null,
});

// GitHub's error names neither permission.
const RESOLVING = 'contents=write and pull_requests=write';

/** Resolves a thread of a pull request on the host, and verifies the result. */
export const resolveThread = async (
  place: RepositoryContext,
  number: number,
  thread: string,
): Promise<void> => {
  if (place.check !== undefined) await requireThread(place, number, thread);
  const { ask } = await hostClient(place);
  const options = { about: `the thread ${thread}`, needs: RESOLVING };
  const answer = await ask<Resolved>(RESOLVE_THREAD, { thread }, options);
  if (answer.resolveReviewThread?.thread?.isResolved === true) return;
  throw new ServiceError(
    'codehost_conflict',
    `The thread is still open, although ${place.name.host} accepted the request. Check it there, then try again.`,
  );
};

// The id is read from a file, and the host takes that of any repository.
const requireThread = async (
  place: RepositoryContext,
  number: number,
  thread: string,
): Promise<void> => {
  await pullToWrite(place, number);
  if ((await threads(place, number)).threads.some(({ node_id }) => node_id === thread)) return;
  throw new ServiceError(
    'codehost_not_found',
    `${fullNameOf(place.name)}#${number} has no thread ${thread}. List the reviews again.`,
  );
};

interface Resolved {
  resolveReviewThread: { thread: { isResolved: boolean } | null } | null;
}
