import { type Signal, signal } from '../../../store/base/async.ts';
import {
  changeImport,
  listImports,
  readImport,
  type StoredImport,
} from '../../../store/codehost/imports.ts';
import { readLink } from '../../../store/codehost/links.ts';
import {
  type ImportFilter,
  type ImportResult,
  MAX_ISSUES,
} from '../../../store/records/import-job.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { type HostedNeeds, hostedRepositoryOf } from '../../code/projects/hosted-repository.ts';
import type { HostedRepository } from '../../codehost/code-host.ts';
import type { WithConfig } from '../../config.ts';
import { type ErrorCode, ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import { isUnusable, type LinkNeeds, stopReasonOf } from './background.ts';
import { createCaseFromIssue, fetchIssue } from './import-issue.ts';

/** Runs an import job in the background, unless it is running. The result is in its record. */
export const startImport = (service: LinkNeeds, id: string): void => {
  const { imports } = service.links;
  if (imports.has(id)) return;
  const stopped = signal();
  const done = run(service, { id, stopped })
    .catch((error: unknown) =>
      service.log.error({ err: error, job: id }, 'running an import job failed'),
    )
    .finally(() => imports.delete(id));
  const stop = (): Promise<void> => {
    stopped.raise();
    return done;
  };
  imports.set(id, { stop });
};

/** Pauses import jobs that the end of the daemon interrupted; the operator resumes them. */
export const pauseImports = async (store: Store): Promise<void> => {
  for (const { matter } of listImports(store))
    if (matter.status === 'running') await pause(store, matter.id);
};

interface Run {
  id: string;
  stopped: Signal;
}

const run = async (service: LinkNeeds, given: Run): Promise<void> => {
  const { id } = given;
  try {
    if (await importAll(service, given)) await finish(service.store, id);
    else await pause(service.store, id);
  } catch (error) {
    await halt(service, id, error);
  }
};

// False when the run was stopped.
const importAll = async (service: HostedNeeds, given: Run): Promise<boolean> => {
  const { id, stopped } = given;
  const job = readImport(service.store, id);
  if (job === undefined) return false;
  const { matter } = job;
  const hosted = await Promise.race([hostedRepositoryOf(service, matter.project), stopped.raised]);
  if (!hosted) return false;
  const numbers = matter.numbers ?? (await listed(service.store, given, hosted, matter.filter));
  if (numbers === undefined) return false;
  const done = new Set(job.results.map(({ number }) => number));
  for (const number of numbers.filter((one) => !done.has(one))) {
    const result = await importOne(service, given, hosted, { number, matter });
    if (result === undefined) return false;
    const now = await changeImport(service.store, id, () => ({ result }));
    if (now?.matter.status !== 'running') return false;
  }
  return true;
};

// Stored before anything is imported, so that a restart continues with the same issues.
const listed = async (
  store: Store,
  { id, stopped }: Run,
  hosted: HostedRepository,
  { limit = MAX_ISSUES, ...filter }: ImportFilter = {},
): Promise<number[] | undefined> => {
  const numbers = new Set<number>();
  let pages = 0;
  for (let cursor: string | null = ''; cursor !== null && numbers.size < limit; ) {
    if (pages === MAX_ISSUES) throw endless(hosted);
    pages += 1;
    const from: { cursor?: string } = cursor === '' ? {} : { cursor };
    const page = await Promise.race([
      hosted.issueNumbers({ ...filter, ...from, limit: 100 }),
      stopped.raised,
    ]);
    if (!page) return undefined;
    for (const number of page.numbers) numbers.add(number);
    cursor = page.next_cursor;
  }
  const found = [...numbers].slice(0, limit);
  await changeImport(store, id, () => ({ changes: { numbers: found } }));
  return found;
};

// Each page has an issue, so an honest list has come to its end.
const endless = ({ name: { host, owner, name } }: HostedRepository): ServiceError =>
  new ServiceError(
    'codehost_upstream',
    `${host} listed fewer than ${MAX_ISSUES} issues of ${owner}/${name} on ${MAX_ISSUES} pages, so the list was not read to its end. Create an import job with numbers instead.`,
  );

const importOne = async (
  service: WithConfig & WithStore,
  { id, stopped }: Run,
  hosted: HostedRepository,
  { number, matter: { project, type } }: Pick<StoredImport, 'matter'> & { number: number },
): Promise<ImportResult | undefined> => {
  try {
    const issue = await Promise.race([fetchIssue(service.store, hosted, number), stopped.raised]);
    if (!issue || stopped.isRaised) return undefined;
    const wanted = { ...(project && { project }), ...(type && { type }), import_job: id };
    const { case_id, notes } = await createCaseFromIssue(service, hosted.name, {
      ...wanted,
      issue,
    });
    const detail = notes.length === 0 ? {} : { detail: notes.join(' ') };
    return { number, outcome: 'imported', case_id, ...detail };
  } catch (error) {
    return failed(service.store, id, { number, error });
  }
};

/** Errors of a single issue; the next one may succeed. */
const OF_ONE: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'codehost_gone',
  'codehost_not_found',
  'codehost_rejected',
  'invalid_state',
  'too_large',
  'bad_request',
]);

const failed = (
  store: Store,
  id: string,
  { number, error }: { number: number; error: unknown },
): ImportResult => {
  if (!(error instanceof ServiceError)) throw error;
  const { case_id } = error.members as { case_id?: string };
  if (error.code === 'already_exists' && case_id !== undefined) {
    // This job created it and was killed before it recorded that.
    const isOwn = readLink(store, case_id)?.issue?.import_job === id;
    return { number, outcome: isOwn ? 'imported' : 'exists', case_id };
  }
  if (!OF_ONE.has(error.code) && !isUnusable(error)) throw error;
  return { number, outcome: 'failed', detail: `${error.code}: ${error.message}` };
};

const finish = (store: Store, id: string): Promise<unknown> =>
  changeRunning(store, id, { status: 'completed', ended_at: store.clock().toISOString() });

const pause = (store: Store, id: string): Promise<unknown> =>
  changeRunning(store, id, { status: 'pending' });

const halt = async (
  { store, log }: WithLog & WithStore,
  id: string,
  error: unknown,
): Promise<void> => {
  const { resume_at = null, ...why } = stopReasonOf(error, store.clock()) ?? { ...UNFORESEEN };
  if (why.code === UNFORESEEN.code) log.error({ err: error, job: id }, 'import job failed');
  await changeRunning(
    store,
    id,
    resume_at === null
      ? { status: 'failed', error: why, ended_at: store.clock().toISOString() }
      : { status: 'pending', error: why, resume_at },
  );
};

const UNFORESEEN = {
  code: 'internal',
  detail: "An internal error stopped the import. See the daemon's log, then resume the job.",
  resume_at: null,
};

// The operator may have changed the status meanwhile.
const changeRunning = (
  store: Store,
  id: string,
  changes: Partial<StoredImport['matter']>,
): Promise<unknown> =>
  changeImport(store, id, ({ matter }) => (matter.status === 'running' ? { changes } : undefined));
