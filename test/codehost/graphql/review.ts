import type { RestComment, RestReview } from '../rest.ts';
import { mendedComment } from '../reviews.ts';
import { mayWrite, type World } from '../world.ts';
import { connection } from './connection.ts';
import { userNode } from './people.ts';
import type { Node, Scope } from './scope.ts';

/** Who said what of the whole; its comments on lines belong to threads too. */
export const reviewNode = (scope: Scope, number: number, review: RestReview): Node => ({
  __typename: 'PullRequestReview',
  id: review.node_id,
  databaseId: review.id,
  fullDatabaseId: String(review.id),
  author: userNode(review.user),
  authorAssociation: review.author_association,
  body: review.body,
  bodyText: review.body,
  state: review.state,
  submittedAt: review.submitted_at,
  createdAt: review.submitted_at,
  updatedAt: review.submitted_at,
  url: review.html_url,
  includesCreatedEdit: false,
  reactionGroups: [],
  commit: { __typename: 'Commit', id: `C_${review.commit_id}`, oid: review.commit_id },
  comments: connection('comments', async () => {
    const all = await lineComments(scope, number);
    const mine = all.filter((each) => each.pull_request_review_id === review.id);
    return mine.map((comment) => lineNode(scope, comment));
  }),
});

/** The first comment on a place of a file and the answers to it are a thread: REST knows of none. */
export const threadNodes = async (scope: Scope, number: number): Promise<Node[]> => {
  const all = await lineComments(scope, number);
  const roots = all.filter(({ in_reply_to_id }) => in_reply_to_id == null);
  return roots.map((root) => {
    const replies = all.filter(({ in_reply_to_id }) => in_reply_to_id === root.id);
    return threadNode(scope, number, [root, ...replies]);
  });
};

const threadNode = (scope: Scope, number: number, comments: RestComment[]): Node => {
  const { world, login } = scope;
  const [root] = comments as [RestComment];
  const id = threadId(world, scope.name, number, root.id);
  const isResolved = world.resolved.has(id);
  const at = world.lines.get(root.id);
  const may = mayWrite(world, login);
  return {
    ...{ __typename: 'PullRequestReviewThread', id, isResolved, path: root.path },
    ...{ isOutdated: at?.outdated ?? false, isCollapsed: isResolved, subjectType: 'LINE' },
    ...{ line: root.line ?? null, originalLine: at?.line ?? null, diffSide: 'RIGHT' },
    ...{ startLine: root.start_line ?? null, originalStartLine: at?.start_line ?? null },
    ...{ startDiffSide: root.start_line == null ? null : 'RIGHT', viewerCanReply: true },
    ...{ viewerCanResolve: may && !isResolved, viewerCanUnresolve: may && isResolved },
    resolvedBy: null,
    comments: connection('comments', () => comments.map((each) => lineNode(scope, each))),
  };
};

/** Opaque, as GitHub's; the same when the repository is renamed. */
export const threadId = ({ ids }: World, name: string, number: number, root: number): string => {
  const repository = [...ids].find(([, known]) => known === name)?.[0];
  return `PRRT_${Buffer.from(`${repository}#${number}:${root}`).toString('base64url')}`;
};

/** Which one an id is. */
export const threadOf = (
  { ids }: World,
  id: string,
): { name: string; number: number; root: number } | undefined => {
  const text = Buffer.from(id.replace(/^PRRT_/, ''), 'base64url').toString();
  const [, repository, number, root] = /^(\d+)#(\d+):(\d+)$/.exec(text) ?? [];
  const name = ids.get(Number(repository));
  return name === undefined ? undefined : { name, number: Number(number), root: Number(root) };
};

export const lineNode = (scope: Scope, comment: RestComment): Node => {
  const root = comment.in_reply_to_id ?? comment.id;
  const at = scope.world.lines.get(root);
  return {
    __typename: 'PullRequestReviewComment',
    id: comment.node_id,
    databaseId: comment.id,
    fullDatabaseId: String(comment.id),
    author: userNode(comment.user),
    authorAssociation: comment.author_association,
    body: comment.body,
    bodyText: comment.body,
    createdAt: comment.created_at,
    updatedAt: comment.updated_at,
    publishedAt: comment.created_at,
    path: comment.path ?? '',
    line: comment.line ?? null,
    originalLine: at?.line ?? null,
    startLine: comment.start_line ?? null,
    originalStartLine: at?.start_line ?? null,
    diffHunk: at?.diff_hunk ?? '',
    outdated: at?.outdated ?? false,
    state: 'SUBMITTED',
    subjectType: 'LINE',
    url: comment.html_url,
    viewerDidAuthor: comment.user?.login === scope.login,
    commit: { __typename: 'Commit', oid: comment.commit_id },
    originalCommit: { __typename: 'Commit', oid: comment.commit_id },
    replyTo: comment.in_reply_to_id == null ? null : { databaseId: root },
    reactionGroups: [],
    pullRequestReview: reviewOf(comment),
  };
};

const reviewOf = ({ pull_request_review_id: id }: RestComment): Node | null =>
  id == null
    ? null
    : { __typename: 'PullRequestReview', databaseId: id, fullDatabaseId: String(id) };

export const lineComments = async (
  { world, name }: Scope,
  number: number,
): Promise<RestComment[]> => {
  const path = `/repos/${name}/pulls/${number}/comments`;
  const comments = await world.emulated.all<RestComment>(path);
  return comments.map((comment) => mendedComment(world, comment));
};
