import { type StoredPull, savePull } from '../../../store/pulls/pulls.ts';
import type { PullMatter } from '../../../store/records/pull-request.ts';
import type { Store } from '../../../store/store.ts';
import type { Pull, RepositoryName } from '../../codehost/code-host.ts';
import { notFound } from '../../errors.ts';

/** What the host tells of a pull request, in the form of its record. */
const matterOf = (
  { host, owner, name }: RepositoryName,
  pull: Pull,
): Omit<PullMatter, 'synced_at'> => ({
  ...{ host, repository: `${owner}/${name}`, number: pull.number, node_id: pull.node_id },
  ...{ url: pull.url, title: pull.title, state: pull.state, author: pull.author },
  ...{ head_ref: pull.head_ref, head_sha: pull.head_sha, base_ref: pull.base_ref },
  ...{ labels: pull.labels, review_decision: pull.review_decision, checks: pull.checks },
  mergeable: pull.mergeable,
  created_at: inMilliseconds(pull.created_at),
  updated_at: inMilliseconds(pull.updated_at),
  merged_at: pull.merged_at === null ? null : inMilliseconds(pull.merged_at),
  closed_at: pull.closed_at === null ? null : inMilliseconds(pull.closed_at),
});

/** The host's times have seconds only. */
export const inMilliseconds = (time: string): string => new Date(time).toISOString();

/** Records what the host has just told, with what is known besides. What the host does not know of stays. */
export const recordPull = async (
  store: Store,
  caseId: string,
  told: { name: RepositoryName; pull: Pull; besides?: Partial<PullMatter> },
): Promise<StoredPull> => {
  const { name, pull, besides } = told;
  const synced_at = store.clock().toISOString();
  const matter = { ...matterOf(name, pull), stale: false, synced_at, ...besides };
  const kept = await savePull(store, caseId, { matter, body: pull.body });
  if (kept === undefined) throw notFound('Work item', caseId);
  return kept;
};
