import type { PullEvent } from '../code-host.ts';
import { gathered, type RemoteRepositoryAccess } from './client.ts';
import { PULL_EVENTS } from './documents.ts';
import { type Nodes, nodesOf } from './wire-issue.ts';

/** What has happened to a pull request, oldest first. */
export const pullEvents = (place: RemoteRepositoryAccess, number: number): Promise<PullEvent[]> =>
  gathered(place, { document: PULL_EVENTS, number }, ({ pullRequest }: Page) =>
    nodesOf(pullRequest.timelineItems).flatMap(eventFrom),
  );

interface Page {
  pullRequest: { timelineItems: Nodes<Item> };
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
