import { newId } from '../../../store/base/new-id.ts';
import {
  changeImport,
  createImport,
  type ImportChange,
  listImports,
  readImport,
  type StoredImport,
} from '../../../store/codehost/imports.ts';
import type {
  ImportFilter,
  ImportJob,
  ImportJobMatter,
} from '../../../store/records/import-job.ts';
import type { Store } from '../../../store/store.ts';
import { hostedRepositoryOf } from '../../code/projects/hosted-repository.ts';
import { checkProject } from '../../code/projects/project.ts';
import { badField, invalidState, notFound, orNotFound, type ServiceError } from '../../errors.ts';
import type { LinkNeeds } from './background.ts';
import { startImport } from './import-run.ts';

interface TaggedImport {
  job: ImportJob;
  etag: string;
}

/** The readable import jobs, oldest first; diagnostics report the others. */
export const importJobs = (store: Store): ImportJob[] =>
  listImports(store).map((kept) => served(kept).job);

/** One import job. */
export const importJob = (store: Store, id: string): TaggedImport => {
  const kept = orNotFound(readImport(store, id), 'import job', id);
  return served(kept);
};

interface NewImport {
  numbers?: number[];
  filter?: ImportFilter;
  project?: string;
  type?: string;
}

/** Creates and starts an import job, which continues after the response, one issue after another. */
export const createImportJob = async (
  service: LinkNeeds,
  { numbers, filter, project, type }: NewImport,
): Promise<TaggedImport> => {
  if ((numbers === undefined) === (filter === undefined)) throw eitherOr();
  const id = newId();
  const known = readImport(service.store, id);
  if (known !== undefined && known.matter.status !== 'pending') return served(known);
  if (known !== undefined) return setImportStatus(service, id, 'running');
  checkProject(service, project);
  await hostedRepositoryOf(service, project);
  const matter: ImportJobMatter = {
    id,
    status: 'pending',
    ...(project !== undefined && { project }),
    ...(type !== undefined && { type }),
    ...(filter !== undefined && { filter }),
    ...(numbers !== undefined && { numbers: [...new Set(numbers)] }),
    created_at: service.store.clock().toISOString(),
  };
  await createImport(service.store, matter);
  return setImportStatus(service, matter.id, 'running');
};

const eitherOr = (): ServiceError =>
  badField('/numbers', 'send either this or filter', 'Send either numbers or a filter.');

export type WantedStatus = 'running' | 'completed' | 'cancelled';

/**
 * Resumes, completes or cancels an import job. A completed or cancelled job creates no further Work item; those it
 * created stay. Throws 422 where it has ended.
 */
export const setImportStatus = async (
  service: LinkNeeds,
  id: string,
  wanted: WantedStatus,
  ifMatch?: string,
): Promise<TaggedImport> => {
  const now = service.store.clock().toISOString();
  // A stopped run has to end before the next run of the same job begins.
  if (wanted === 'running' && readImport(service.store, id)?.matter.status !== 'running')
    await service.links.imports.get(id)?.stop();
  const kept = await changeImport(
    service.store,
    id,
    (job) => nextImportStatus(job, wanted, now),
    ifMatch,
  );
  if (kept === undefined) throw notFound('import job', id);
  if (wanted === 'running') startImport(service, id);
  else void service.links.imports.get(id)?.stop();
  return served(kept);
};

/** The change for a wanted status; undefined where the job has it. Throws `invalid_state`. */
export const nextImportStatus = (
  { matter: { status, started_at = undefined } }: Pick<StoredImport, 'matter'>,
  wanted: WantedStatus,
  now: string,
): ImportChange | undefined => {
  if (status === wanted) return undefined;
  if (status === 'completed' || status === 'cancelled')
    throw invalidState(`The import job is ${status} and cannot change. Create a new import job.`);
  const again = { error: undefined, resume_at: undefined, ended_at: undefined };
  if (wanted === 'running')
    return { changes: { ...again, status: wanted, started_at: started_at ?? now } };
  return { changes: { status: wanted, resume_at: undefined, ended_at: now } };
};

const served = ({ matter, results, etag }: StoredImport): TaggedImport => {
  const { id, status, project = 'default', type = null, numbers = null, filter = null } = matter;
  const { error = null, resume_at = null, created_at } = matter;
  const { started_at = null, ended_at = null } = matter;
  const job = {
    id,
    status,
    project,
    type,
    numbers,
    filter,
    done: results.length,
    total: numbers?.length ?? null,
    results,
    error,
    resume_at,
    created_at,
    started_at,
    ended_at,
  };
  return { job, etag };
};
