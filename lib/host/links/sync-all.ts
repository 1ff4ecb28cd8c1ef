import { StoreError } from '../../../store/base/errors.ts';
import { groupBy } from '../../../store/base/group-by.ts';
import { allLinks, DEFAULT_HOST } from '../../../store/codehost/link-index.ts';
import type { Issue } from '../../../store/records/code-host.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { SyncedAll } from '../../../store/records/sync.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import type { MissingIssue, WithCodeHost } from '../../codehost/code-host.ts';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import { isUnusable, stopReasonOf, type WithLinks } from './background.ts';
import { applySync, linkRepository } from './sync.ts';

type SyncOutcome = SyncedAll['outcomes'][number];

/**
 * Syncs all linked Work items, the least recently synced first, so that a second call continues where a rate limit
 * stopped the first. Throws an error only when it occurs before the first batch.
 */
export const syncAll = async (
  service: WithCodeHost & WithLinks & WithStore,
): Promise<SyncedAll> => {
  const { links } = service;
  if (links.syncingAll)
    throw new ServiceError(
      'sync_running',
      'A sync of all Work items is already running. Wait for it to end.',
    );
  links.syncingAll = true;
  try {
    return await syncBatches(service, batchesOf(await allLinks(service.store)));
  } finally {
    links.syncingAll = false;
  }
};

interface Linked {
  case_id: string;
  link: IssueLinkMatter;
}

const BATCH = 50;

// Each batch is of one repository.
const batchesOf = (links: ReadonlyMap<string, IssueLinkMatter>): Linked[][] => {
  const waiting = [...links]
    .toSorted(([, a], [, b]) => (syncedAt(a) < syncedAt(b) ? -1 : 1))
    .map(([case_id, link]) => ({ case_id, link }));
  const byRepository = groupBy(waiting, ({ link }) =>
    `${link.host ?? DEFAULT_HOST}/${link.repository}`.toLowerCase(),
  );
  return [...byRepository.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / BATCH) }, (_, at) =>
      all.slice(at * BATCH, (at + 1) * BATCH),
    ),
  );
};

const syncedAt = ({ synced_at = '' }: IssueLinkMatter): string => synced_at;

const syncBatches = async (
  service: WithCodeHost & WithStore,
  batches: Linked[][],
): Promise<SyncedAll> => {
  const outcomes: SyncOutcome[] = [];
  for (const [at, batch] of batches.entries()) {
    try {
      outcomes.push(...(await syncBatch(service, batch)));
    } catch (error) {
      const stopped = stopReasonOf(error, service.store.clock());
      if (stopped === undefined || at === 0) throw error;
      const left = batches.slice(at).flat();
      return { outcomes: [...outcomes, ...left.map((one) => told(one, NOT_REACHED))], stopped };
    }
  }
  return { outcomes, stopped: null };
};

type Told = Pick<SyncOutcome, 'outcome' | 'sync_id' | 'detail'>;

const NOT_REACHED: Told = { outcome: 'not_reached', sync_id: null, detail: null };

const told = ({ case_id, link: { repository, number } }: Linked, rest: Told): SyncOutcome => ({
  case_id,
  repository,
  number,
  ...rest,
});

const syncBatch = async (
  { codeHost, store }: WithCodeHost & WithStore,
  batch: readonly Linked[],
): Promise<SyncOutcome[]> => {
  const [{ link } = { link: undefined }] = batch;
  if (link === undefined) return [];
  const numbers = [...new Set(batch.map((one) => one.link.number))];
  const hosted = codeHost().repository(linkRepository(link));
  const issues = await hosted.issuesByNumber(numbers).catch((error: unknown) => failureOf(error));
  const outcomes: SyncOutcome[] = [];
  for (let from = 0; from < batch.length; from += AT_ONCE) {
    const some = batch.slice(from, from + AT_ONCE);
    const done = some.map(async (one) => told(one, await syncOne(store, one, issues)));
    outcomes.push(...(await Promise.all(done)));
  }
  return outcomes;
};

// The number of records that are written at once.
const AT_ONCE = 8;

/** Errors of a single repository; the next one may succeed. */
const OF_REPOSITORY: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'codehost_not_found',
  'codehost_gone',
  'codehost_forbidden',
  'codehost_sso_required',
  'codehost_rejected',
]);

const failureOf = (error: unknown): Told => {
  if (!(error instanceof ServiceError)) throw error;
  if (!OF_REPOSITORY.has(error.code) && !isUnusable(error)) throw error;
  return failed(error);
};

const failed = ({ code, message }: ServiceError | StoreError): Told => ({
  outcome: 'failed',
  sync_id: null,
  detail: `${code}: ${message}`,
});

const syncOne = async (
  store: Store,
  { case_id, link }: Linked,
  issues: ReadonlyMap<number, Issue | MissingIssue> | Told,
): Promise<Told> => {
  if (!(issues instanceof Map)) return issues as Told;
  const issue = (issues.get(link.number) as Issue | undefined) ?? { missing: 'deleted' as const };
  try {
    const found = { link, issue, trigger: 'sync_all' as const };
    const { outcome, sync_id } = await applySync(store, case_id, found);
    return { outcome, sync_id, detail: null };
  } catch (error) {
    if (error instanceof ServiceError || error instanceof StoreError) return failed(error);
    throw error;
  }
};
