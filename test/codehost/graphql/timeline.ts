import { closingPulls, readPull } from '../pulls.ts';
import { userOf } from '../repositories.ts';
import type { RestComment, RestEvent, RestIssue, RestPull, RestReview } from '../rest.ts';
import { type Told, toldOf } from '../world.ts';
import { commitNodes } from './commits.ts';
import { connection, type Window } from './connection.ts';
import { userNode } from './people.ts';
import { reviewNode } from './review.ts';
import type { Node, Scope } from './scope.ts';

interface TimelineArguments extends Window {
  itemTypes?: string[] | null;
  since?: Date | string | null;
}

/** What happened to an issue or pull request, oldest first, of the kinds that are asked for. */
export const timelineItems =
  (scope: Scope, issue: RestIssue) =>
  async ({ itemTypes, since, ...window }: TimelineArguments) => {
    const all = await itemsOf(scope, issue);
    const wanted = all
      .filter((item) => !itemTypes || itemTypes.includes(constantOf(item.__typename)))
      .filter((item) => !since || timeOf(item) >= String(since));
    const page = await connection('timelineItems', () => wanted)(window);
    const counts = { filteredCount: wanted.length, pageCount: () => page.nodes().length };
    return { ...page, ...counts, updatedAt: issue.updated_at };
  };

// `ReadyForReviewEvent` is asked for as READY_FOR_REVIEW_EVENT.
const constantOf = (typename: string): string =>
  typename.replace(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();

const timeOf = ({ createdAt, commit }: Node): string =>
  String(createdAt ?? (commit as Node).committedDate);

const itemsOf = async (scope: Scope, issue: RestIssue): Promise<Node[]> => {
  const { world, name, login } = scope;
  const base = `/repos/${name}/issues/${issue.number}`;
  const events = await world.emulated.call('GET', `${base}/timeline`);
  const known = events.status === 200 ? (events.body as RestEvent[]) : [];
  const comments = await world.emulated.all<RestComment>(`${base}/comments`);
  const told = toldOf(world, name, issue.number);
  const items = [
    ...known.flatMap(eventItem),
    ...comments.map((comment) => commentNode(comment, login)),
    ...(await Promise.all(told.map((each) => toldItem(scope, each)))),
    ...(await (isPull(issue) ? pullItems(scope, issue) : mentions(scope, issue))),
  ];
  return items.toSorted((a, b) => timeOf(a).localeCompare(timeOf(b)));
};

/** A comment on the whole. */
export const commentNode = (comment: RestComment, login: string): Node => ({
  __typename: 'IssueComment',
  id: comment.node_id,
  databaseId: comment.id,
  fullDatabaseId: String(comment.id),
  body: comment.body,
  bodyText: comment.body,
  author: userNode(comment.user),
  authorAssociation: comment.author_association,
  createdAt: comment.created_at,
  updatedAt: comment.updated_at,
  publishedAt: comment.created_at,
  includesCreatedEdit: comment.created_at !== comment.updated_at,
  isMinimized: false,
  minimizedReason: null,
  reactionGroups: [],
  viewerDidAuthor: comment.user?.login === login,
  url: comment.html_url,
});

const isPull = (issue: RestIssue): issue is RestPull => 'head' in issue;

const pullItems = async (scope: Scope, issue: RestPull): Promise<Node[]> => {
  const path = `/repos/${scope.name}/pulls/${issue.number}/reviews`;
  const reviews = await scope.world.emulated.all<RestReview>(path);
  const commits = await commitNodes(scope, issue);
  return [...commits, ...reviews.map((review) => reviewNode(scope, issue.number, review))];
};

/** A pull request whose text names the issue is told of there. */
const mentions = async ({ world, name, pull }: Scope, issue: RestIssue): Promise<Node[]> => {
  const pulls = await world.emulated.all<RestPull>(`/repos/${name}/pulls?state=all`);
  const naming = pulls.filter(({ body }) => new RegExp(`#${issue.number}\\b`).test(body ?? ''));
  const closing = await closingPulls({ world, name }, issue.number);
  return naming.map((each) => ({
    __typename: 'CrossReferencedEvent',
    id: `CRE_${each.node_id}`,
    createdAt: each.created_at,
    actor: userNode(each.user),
    isCrossRepository: false,
    willCloseTarget: closing.some(({ number }) => number === each.number),
    source: pull(each),
  }));
};

const KINDS: Record<string, string> = {
  closed: 'ClosedEvent',
  reopened: 'ReopenedEvent',
  labeled: 'LabeledEvent',
  unlabeled: 'UnlabeledEvent',
  assigned: 'AssignedEvent',
  unassigned: 'UnassignedEvent',
  milestoned: 'MilestonedEvent',
  renamed: 'RenamedTitleEvent',
};

const eventItem = (event: RestEvent): Node[] => {
  const __typename = KINDS[event.event];
  if (__typename === undefined) return [];
  const { node_id: id, created_at: createdAt, actor } = event;
  return [{ __typename, id, createdAt, actor: userNode(actor) }];
};

const toldItem = async (scope: Scope, { event, at, more, ...told }: Told): Promise<Node> => {
  const actor = userNode(await userOf(scope.world, told.actor));
  const id = `E_${event}_${told.number}_${Date.parse(at)}`;
  const source = event === 'CrossReferencedEvent' ? await sourceOf(scope, Number(more.pull)) : {};
  return { __typename: event, id, createdAt: at, actor, ...more, ...source };
};

const sourceOf = async (scope: Scope, number: number): Promise<object> => {
  const found = await readPull(scope.world, scope.name, number);
  const source = found && scope.pull(found);
  return { source, willCloseTarget: true, isCrossRepository: false };
};
