import type { LinkedPull } from '../../../store/records/code-host.ts';
import { hostClient, type RemoteRepositoryAccess, variablesOf } from './client.ts';
import { CLOSING_PULLS, MENTIONING_PULLS } from './documents.ts';
import { type Nodes, nodesOf } from './wire-issue.ts';
import { stateFrom } from './wire-pull.ts';

/**
 * The pull requests of an issue: those that close it when they are merged, as GitHub itself links them, then those that
 * only mention it.
 */
export const linkedPulls = async (
  place: RemoteRepositoryAccess,
  number: number,
): Promise<LinkedPull[]> => {
  const closing = await gather<Closing>(place, { number, document: CLOSING_PULLS }, ({ issue }) =>
    nodesOf(issue.closedByPullRequestsReferences),
  );
  const mentioning = await gather<Mentioning>(
    place,
    { number, document: MENTIONING_PULLS },
    ({ issue }) => nodesOf(issue.timelineItems).map(({ source }) => source),
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
  /** An issue that mentions it has none of the fields. */
  issue: { timelineItems: Nodes<{ source: Linked | Record<string, never> }> };
}

const gather = async <T>(
  place: RemoteRepositoryAccess,
  { number, document }: { number: number; document: string },
  pick: (repository: T) => (Linked | Record<string, never>)[],
): Promise<Linked[]> => {
  const { pages } = await hostClient(place);
  const all: Linked[] = [];
  for await (const { repository } of pages<{ repository: T }>(document, {
    ...variablesOf(place),
    number,
  }))
    all.push(...pick(repository).filter((pull): pull is Linked => 'url' in pull));
  return all;
};

const linked = (
  { isDraft, repository, ...pull }: Linked,
  relation: LinkedPull['relation'],
): LinkedPull => ({
  ...pull,
  repository: repository.nameWithOwner,
  state: stateFrom(pull.state, isDraft),
  relation,
});
