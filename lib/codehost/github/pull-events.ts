import type { PullEvent } from '../code-host.ts';
import { hostClient, type RemoteRepositoryAccess, variablesOf } from './client.ts';
import { PULL_EVENTS } from './documents.ts';
import { type Nodes, nodesOf } from './wire-issue.ts';

/** What has happened to a pull request, oldest first. */
export const pullEvents = async (
  place: RemoteRepositoryAccess,
  number: number,
): Promise<PullEvent[]> => {
  const { pages } = await hostClient(place);
  const all: PullEvent[] = [];
  for await (const { repository } of pages<Page>(PULL_EVENTS, { ...variablesOf(place), number }))
    all.push(...nodesOf(repository.pullRequest.timelineItems).flatMap(eventFrom));
  return all;
};

interface Page {
  repository: { pullRequest: { timelineItems: Nodes<Item> } };
}

type Who = { login: string } | null;

/** Every field that one of them has. */
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
  // A review that is not submitted yet is its author's alone.
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
