import type { LinkedPull } from '../../../store/records/code-host.ts';
import { gathered, type RemoteRepositoryAccess } from './client.ts';
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
  const closing = await gathered(place, { document: CLOSING_PULLS, number }, ({ issue }: Closing) =>
    nodesOf(issue.closedByPullRequestsReferences),
  );
  const naming = { document: MENTIONING_PULLS, number };
  const mentioning = await gathered(place, naming, ({ issue }: Mentioning) =>
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
  /** An issue that mentions it has none of the fields. */
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
