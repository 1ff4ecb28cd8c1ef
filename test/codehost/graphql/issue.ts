import { closingPulls, mendedPull } from '../pulls.ts';
import type { RestComment, RestIssue } from '../rest.ts';
import { keyOf } from '../world.ts';
import { connection, hostError, type Window } from './connection.ts';
import { labelNode, milestoneNode, userNode } from './people.ts';
import type { Node, Scope } from './scope.ts';
import { commentNode, timelineItems } from './timeline.ts';

/** One issue of a repository; null with GitHub's error when there is none. */
export const issueAt = async (scope: Scope, number: number): Promise<Node> => {
  const found = await readIssue(scope, number);
  if (found !== undefined) return issueNode(scope, found);
  throw hostError('NOT_FOUND', `Could not resolve to an Issue with the number of ${number}.`);
};

export const readIssue = async (
  { world, name }: Scope,
  number: number,
): Promise<RestIssue | undefined> => {
  if (world.moved.has(keyOf(name, number))) return undefined;
  const answer = await world.emulated.call('GET', `/repos/${name}/issues/${number}`);
  return answer.status === 200 ? (answer.body as RestIssue) : undefined;
};

export const issueNode = (scope: Scope, issue: RestIssue): Node => ({
  ...sharedFields(scope, issue),
  __typename: 'Issue',
  state: issue.state.toUpperCase(),
  stateReason: issue.state_reason?.toUpperCase() ?? null,
  closedByPullRequestsReferences: ({ includeClosedPrs, ...window }: ClosingArguments) =>
    connection('closedByPullRequestsReferences', async () => {
      const all = await closingPulls(scope, issue.number);
      const wanted = all.filter(({ state }) => includeClosedPrs || state === 'open');
      const pulls = await Promise.all(wanted.map((pull) => mendedPull(scope.world, pull)));
      return pulls.map(scope.pull);
    })(window),
});

interface ClosingArguments extends Window {
  includeClosedPrs?: boolean | null;
}

/** What issues and pull requests have in common. */
export const sharedFields = (scope: Scope, issue: RestIssue) => ({
  id: issue.node_id,
  databaseId: issue.id,
  fullDatabaseId: String(issue.id),
  number: issue.number,
  title: issue.title,
  body: issue.body ?? '',
  bodyText: issue.body ?? '',
  url: issue.html_url,
  resourcePath: new URL(issue.html_url).pathname,
  closed: issue.state === 'closed',
  locked: issue.locked,
  createdAt: issue.created_at,
  updatedAt: issue.updated_at,
  closedAt: issue.closed_at,
  author: userNode(issue.user),
  authorAssociation: 'MEMBER',
  milestone: milestoneNode(issue.milestone),
  labels: connection('labels', () => issue.labels.map(labelNode)),
  assignees: connection('assignees', () => issue.assignees.map(userNode)),
  comments: connection('comments', () => commentsOf(scope, issue.number)),
  timelineItems: timelineItems(scope, issue),
  repository: scope.repository,
  projectItems: connection('projectItems', () => []),
  projectCards: connection('projectCards', () => []),
  reactionGroups: [],
});

const commentsOf = async ({ world, name, login }: Scope, number: number): Promise<Node[]> => {
  const path = `/repos/${name}/issues/${number}/comments`;
  const comments = await world.emulated.all<RestComment>(path);
  return comments.map((comment) => commentNode(comment, login));
};
