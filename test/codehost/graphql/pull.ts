import { closedBy, readPull } from '../pulls.ts';
import type { RestPull, RestReview, RestSide } from '../rest.ts';
import { rollupOf } from './checks.ts';
import { commitNode, commitNodes } from './commits.ts';
import { connection, hostError } from './connection.ts';
import { readIssue, sharedFields } from './issue.ts';
import { userNode } from './people.ts';
import { reviewNode, threadNodes } from './review.ts';
import type { Node, Scope } from './scope.ts';

/** One pull request; null with GitHub's error when there is none. */
export const pullAt = async (scope: Scope, number: number): Promise<Node> => {
  const found = await readPull(scope.world, scope.name, number);
  if (found !== undefined) return pullNode(scope, found);
  throw hostError('NOT_FOUND', `Could not resolve to a PullRequest with the number of ${number}.`);
};

export const pullNode = (scope: Scope, pull: RestPull): Node => ({
  ...sharedFields(scope, pull),
  ...sides(scope, pull),
  __typename: 'PullRequest',
  state: pull.merged ? 'MERGED' : pull.state.toUpperCase(),
  isDraft: pull.draft,
  merged: pull.merged,
  mergedAt: pull.merged_at,
  mergedBy: userNode(pull.merged_by),
  mergeCommit: pull.merge_commit_sha && commitNode(scope, pull.merge_commit_sha),
  mergeable: mergeableOf(pull),
  mergeStateStatus: pull.mergeable ? 'CLEAN' : 'UNKNOWN',
  canBeRebased: true,
  maintainerCanModify: true,
  autoMergeRequest: null,
  additions: pull.additions,
  deletions: pull.deletions,
  changedFiles: pull.changed_files,
  reviewDecision: () => decisionOf(scope, pull),
  statusCheckRollup: () => rollupOf(scope, pull.head.sha),
  commits: connection('commits', () => commitNodes(scope, pull)),
  reviews: connection('reviews', () => reviewsOf(scope, pull)),
  latestReviews: connection('latestReviews', async () => [
    ...new Map((await reviewsOf(scope, pull)).map((each) => [loginOf(each), each])).values(),
  ]),
  reviewThreads: connection('reviewThreads', () => threadNodes(scope, pull.number)),
  reviewRequests: connection('reviewRequests', () =>
    pull.requested_reviewers.map((user) => ({
      __typename: 'ReviewRequest',
      requestedReviewer: userNode(user),
    })),
  ),
  files: connection('files', () => []),
  closingIssuesReferences: connection('closingIssuesReferences', () => closing(scope, pull)),
  viewerCanUpdate: true,
});

const sides = ({ repository }: Scope, { head, base }: RestPull) => ({
  baseRefName: base.ref,
  baseRefOid: base.sha,
  headRefName: head.ref,
  headRefOid: head.sha,
  headRepository: repositoryOf(head),
  headRepositoryOwner: userNode(head.user),
  baseRepository: repository,
  isCrossRepository: head.repo?.full_name !== base.repo?.full_name,
});

const repositoryOf = ({ repo }: RestSide): Node | null =>
  repo && {
    __typename: 'Repository',
    id: repo.node_id,
    name: repo.name,
    nameWithOwner: repo.full_name,
    owner: userNode(repo.owner),
    url: repo.html_url,
  };

const mergeableOf = ({ mergeable }: RestPull): string => {
  if (mergeable === null) return 'UNKNOWN';
  return mergeable ? 'MERGEABLE' : 'CONFLICTING';
};

const reviewsOf = async (scope: Scope, { number }: RestPull): Promise<Node[]> => {
  const path = `/repos/${scope.name}/pulls/${number}/reviews`;
  const reviews = await scope.world.emulated.all<RestReview>(path);
  return reviews.map((review) => reviewNode(scope, number, review));
};

const loginOf = ({ author }: Node): unknown => (author as { login?: string } | null)?.login;

/** What the latest review of each person that is more than a comment comes to. */
const decisionOf = async (scope: Scope, pull: RestPull): Promise<string | null> => {
  const latest = new Map<unknown, unknown>();
  for (const review of await reviewsOf(scope, pull)) {
    if (review.state !== 'COMMENTED' && review.state !== 'PENDING') {
      latest.set(loginOf(review), review.state);
    }
  }
  const states = [...latest.values()];
  if (states.includes('CHANGES_REQUESTED')) return 'CHANGES_REQUESTED';
  if (states.includes('APPROVED')) return 'APPROVED';
  return scope.world.reviews_required ? 'REVIEW_REQUIRED' : null;
};

/** By its body, or linked by hand. */
const closing = async (scope: Scope, pull: RestPull): Promise<Node[]> => {
  const numbers = closedBy(scope.world, pull);
  const issues = await Promise.all(numbers.map((number) => readIssue(scope, number)));
  return issues.filter((issue) => issue !== undefined).map(scope.issue);
};

/** Which pull request an id of the API's is. */
export const pullWithId = async (
  { world, name }: Scope,
  id: string,
): Promise<number | undefined> => {
  const pulls = await world.emulated.all<RestPull>(`/repos/${name}/pulls?state=all`);
  return pulls.find(({ node_id }) => node_id === id)?.number;
};
