import { type StoredPull, savePull } from '../../../store/codehost/pulls.ts';
import type { PullMatter } from '../../../store/records/pull-request.ts';
import type { Store } from '../../../store/store.ts';
import type { HostedRepository, Pull, RepositoryName } from '../../codehost/code-host.ts';
import { notFound, ServiceError } from '../../errors.ts';

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

/** Whether a write may have taken effect all the same: the host was asked, and nobody knows what became of it. */
const isUnsure = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.members.outcome === 'unknown';

/**
 * Makes a write that is not repeated: where its outcome is unknown, `look` says what is there now, and undefined when
 * it was not done. While nobody can tell, the error of the write stands, with `outcome: unknown`.
 */
export const writeOnce = async <T>(
  write: () => Promise<T>,
  look: () => Promise<T | undefined>,
): Promise<T> => {
  try {
    return await write();
  } catch (error) {
    if (!isUnsure(error)) throw error;
    const found = await look().catch(() => undefined);
    if (found === undefined) throw error;
    return found;
  }
};

/** The same for a write of a pull request, which is read again where nobody knows: it `isDone`, or the error stands. */
export const writePull = (
  { hosted, number }: { hosted: HostedRepository; number: number },
  write: () => Promise<Pull>,
  isDone: (now: Pull) => boolean,
): Promise<Pull> =>
  writeOnce(write, async () => {
    const now = await hosted.pull(number);
    return isDone(now) ? now : undefined;
  });

/** What a step that is not the point of a call told when it failed, as a warning in its answer. */
export const warningOf = (what: string, error: unknown): string => {
  if (error instanceof ServiceError) return `${what}: ${error.message}`;
  throw error;
};
