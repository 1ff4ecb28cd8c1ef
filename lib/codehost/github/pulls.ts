import type { LinkedPull } from '../../../store/records/code-host.ts';
import { ServiceError } from '../../errors.ts';
import {
  type HostedRepository,
  type NewPull,
  type Pull,
  PullEvent,
  type PullRule,
} from '../code-host.ts';
import {
  apiPath,
  fullNameOf,
  hostClient,
  isSameName,
  type RepositoryContext,
  variablesOf,
} from './client.ts';
import {
  CLOSING_PULLS,
  COMMIT_CHECKS,
  MARK_READY,
  MENTIONING_PULLS,
  PULL_EVENTS,
  PULL_REQUEST,
} from './documents.ts';
import { collectPages, listOf } from './pages.ts';
import { formedBy, readFirst, unusable, usableOf } from './usable.ts';
import {
  type CheckedCommit,
  type GraphqlPull,
  type Nodes,
  newPullFromRest,
  nodesOf,
  pullFromGraphql,
  stateFrom,
} from './wire.ts';

/** The current state of a pull request, with its review decision and combined checks. */
export const pull = async (place: RepositoryContext, number: number): Promise<Pull> => {
  const { ask } = await hostClient(place);
  const answer = await ask<Answered>(PULL_REQUEST, { ...variablesOf(place), number });
  const found = pullFromGraphql(await withHead(place, answer.repository.pullRequest));
  if (found.number === number) return found;
  const { host } = place.name;
  const about = `${fullNameOf(place.name)}#${number}`;
  throw unusable(host, about, `it describes the pull request ${found.number}`);
};

// The number of commits that GitHub lists of a pull request.
const MOST_COMMITS = 250;

// A head beyond them is read from the repository, which has that of a fork, too.
const withHead = async (place: RepositoryContext, answer: GraphqlPull): Promise<GraphqlPull> => {
  const { head_sha: oid, commits } = answer;
  const isListed = nodesOf(commits)[0]?.commit.oid === oid;
  if (isListed || !(commits.totalCount >= MOST_COMMITS)) return answer;
  const { ask } = await hostClient(place);
  const { repository } = await ask<Head>(COMMIT_CHECKS, { ...variablesOf(place), oid });
  const commit = repository.object;
  return commit?.oid === oid ? { ...answer, commits: { ...commits, nodes: [{ commit }] } } : answer;
};

interface Head {
  repository: { object: CheckedCommit | null };
}

/** The same before a write to it. Throws where its caller may not write to it. */
export const pullToWrite = async (place: RepositoryContext, number: number): Promise<Pull> => {
  const { host } = place.name;
  const about = `${fullNameOf(place.name)}#${number}`;
  const found = await readFirst({ host, about }, pull(place, number));
  place.check?.(found);
  return found;
};

interface Answered {
  repository: { pullRequest: GraphqlPull };
}

/** The open pull request of an owner's branch: one into `base` if there is one, else any. */
export const findPull = async (
  place: RepositoryContext,
  { owner, branch, base }: { owner: string; branch: string; base?: string },
): Promise<Pull | undefined> => {
  const head = `${owner}:${branch}`;
  const open = await listOf(place, 'GET /repos/{owner}/{repo}/pulls', { state: 'open', head });
  // Without a label where the account or the fork that had the branch is deleted.
  const own = open.filter(
    ({ head: { ref, label } }) => ref === branch && isSameName(label ?? '', head),
  );
  const found = own.find((each) => each.base.ref === base) ?? own[0];
  return found && pull(place, found.number);
};

/** Creates a pull request. 422 `codehost_rejected` if the branch has one. */
export const postPull = async (place: RepositoryContext, wanted: NewPull): Promise<Pull> => {
  const { title, body, head, base, draft } = wanted;
  const { api } = await hostClient(place);
  const { data } = await api.request('POST /repos/{owner}/{repo}/pulls', {
    ...apiPath(place),
    title,
    body,
    head,
    base,
    draft,
  });
  return newPullFromRest(data);
};

/** Changes only the title or body. Reads the pull request first, and writes nothing if that fails. */
export const updatePull = async (
  place: RepositoryContext,
  number: number,
  rule: PullRule,
): Promise<Pull> => {
  const before = await pullToWrite(place, number);
  const change = await rule(before);
  if (change === undefined) return before;
  const { api } = await hostClient(place);
  const { data } = await api.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', {
    ...apiPath(place),
    pull_number: number,
    ...change,
  });
  // Others may have changed more of it meanwhile. What the answer does not tell is of the commit that was read.
  const { review_decision, checks } = before;
  const now = newPullFromRest(data);
  if (now.head_sha !== before.head_sha) return now;
  const mergeable = now.base_ref === before.base_ref ? before.mergeable : null;
  return { ...now, mergeable, review_decision, checks };
};

/** Marks a draft as ready for review. Does nothing if it is open; 422 `codehost_rejected` if it is closed or merged. */
export const postReady = async (place: RepositoryContext, number: number): Promise<Pull> => {
  const before = await pullToWrite(place, number);
  if (before.state === 'open') return before;
  const about = `${fullNameOf(place.name)}#${number}`;
  if (before.state !== 'draft') {
    const detail = `${about} is ${before.state} and cannot be marked as ready for review. See it on ${place.name.host}.`;
    throw new ServiceError('codehost_rejected', detail, { members: { host_errors: [] } });
  }
  const { ask } = await hostClient(place);
  const answer = await ask<Readied>(
    MARK_READY,
    { id: before.node_id },
    { about, needs: 'pull_requests=write' },
  );
  // What it was before may be out of date: others may have pushed since.
  const after = answer.markPullRequestReadyForReview?.pullRequest;
  if (after?.isDraft === false) return pullFromGraphql(after);
  const detail = `${about} is still a draft, although ${place.name.host} accepted the request. Check it there, then try again.`;
  throw new ServiceError('codehost_conflict', detail);
};

interface Readied {
  markPullRequestReadyForReview: { pullRequest: GraphqlPull | null } | null;
}

/** The events of a pull request, oldest first. */
export const pullEvents = async (
  place: RepositoryContext,
  number: number,
): ReturnType<HostedRepository['pullEvents']> => {
  const all = await collectPages(
    place,
    { document: PULL_EVENTS, number },
    ({ pullRequest }: Page) => nodesOf(pullRequest.timelineItems),
  );
  const found = await formedBy(all, eventFrom);
  const told = found.flatMap((each) => each ?? [undefined]);
  const { usable, unread } = usableOf(PullEvent, told, 'event');
  return { events: usable, unread };
};

interface Page {
  pullRequest: { timelineItems: Nodes<Item> };
}

type Who = { login: string } | null;

/** The union of the fields of all event types. */
interface Item {
  __typename: string;
  id: string;
  createdAt?: string;
  submittedAt?: string | null;
  actor?: Who;
  author?: Who;
  afterCommit?: { oid: string } | null;
  commit?: { oid: string } | null;
  pushed?: { oid: string; committedDate: string; author: { user: Who } | null };
}

const KINDS: Record<string, PullEvent['kind']> = {
  ReadyForReviewEvent: 'ready',
  ConvertToDraftEvent: 'draft',
  ClosedEvent: 'closed',
  ReopenedEvent: 'reopened',
  MergedEvent: 'merged',
  HeadRefForcePushedEvent: 'head_pushed',
  PullRequestCommit: 'head_pushed',
  PullRequestReview: 'review',
  RenamedTitleEvent: 'renamed',
};

const eventFrom = (item: Item): PullEvent[] => {
  const kind = KINDS[item.__typename];
  const at = timeOf(item);
  // A pending review is only visible to its author.
  if (kind === undefined || at === undefined) return [];
  return [{ id: item.id, kind, actor: actorOf(item)?.login ?? null, at, head_sha: headOf(item) }];
};

const timeOf = ({ __typename, createdAt, submittedAt, pushed }: Item): string | undefined =>
  __typename === 'PullRequestReview'
    ? (submittedAt ?? undefined)
    : (createdAt ?? pushed?.committedDate);

const actorOf = ({ actor, author, pushed }: Item): Who =>
  actor ?? author ?? pushed?.author?.user ?? null;

const headOf = ({ afterCommit, commit, pushed }: Item): string | null =>
  (afterCommit ?? commit ?? pushed)?.oid ?? null;

/** The pull requests of an issue: first those that close it on merge, as linked by GitHub, then those that mention it. */
export const linkedPulls = async (
  place: RepositoryContext,
  number: number,
): Promise<LinkedPull[]> => {
  const closing = await collectPages(
    place,
    { document: CLOSING_PULLS, number },
    ({ issue }: Closing) => nodesOf(issue.closedByPullRequestsReferences),
  );
  const naming = { document: MENTIONING_PULLS, number };
  const mentioning = await collectPages(place, naming, ({ issue }: Mentioning) =>
    nodesOf(issue.timelineItems)
      .map(({ source }) => source)
      .filter((source): source is Linked => 'url' in source),
  );
  const known = new Map(closing.map((pull) => [pull.url, linked(pull, 'closes')]));
  for (const pull of mentioning)
    if (!known.has(pull.url)) known.set(pull.url, linked(pull, 'mentions'));
  return [...known.values()];
};

interface Linked extends Pick<LinkedPull, 'number' | 'title' | 'url'> {
  state: string;
  isDraft: boolean;
  repository: { nameWithOwner: string };
}

interface Closing {
  issue: { closedByPullRequestsReferences: Nodes<Linked> | null };
}

interface Mentioning {
  /** For an issue as the source, the fields are missing. */
  issue: { timelineItems: Nodes<{ source: Linked | Record<string, never> }> };
}

const linked = (
  { isDraft, repository, ...pull }: Linked,
  relation: LinkedPull['relation'],
): LinkedPull => ({
  ...pull,
  repository: repository.nameWithOwner,
  state: stateFrom(pull.state, isDraft),
  relation,
});
