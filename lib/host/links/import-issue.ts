import { basename } from 'node:path';
import { lockOn } from '../../../store/base/locks.ts';
import { isRepeatedCall } from '../../../store/base/new-id.ts';
import { issueText } from '../../../store/codehost/issue-copy.ts';
import { type IssueName, issueKey, linkedTo } from '../../../store/codehost/link-index.ts';
import { createLink, linkText, readLink } from '../../../store/codehost/links.ts';
import { issueFile, linkFile } from '../../../store/layout.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { Issue } from '../../../store/records/code-host.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { type HostedNeeds, hostedRepositoryOf } from '../../code/projects/hosted-repository.ts';
import { checkProject } from '../../code/projects/project.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import {
  type HostedRepository,
  pageOfIssue,
  type RepositoryName,
} from '../../codehost/code-host.ts';
import type { WithConfig } from '../../config.ts';
import { afterDone, invalidState, ServiceError } from '../../errors.ts';
import { createCase } from '../../work/cases/change.ts';
import { fieldsOf, notesOf, storableCopy } from './issue-fields.ts';
import { applySync } from './sync.ts';

interface Imported {
  case_id: string;
  /** Sentences on what the Work item could not store unchanged. */
  notes: string[];
}

interface ImportWish {
  number: number;
  project?: string;
  /** The type of the Work item; by default from the issue's labels. */
  type?: string;
  /** Links this Work item instead of creating one. */
  case_id?: string;
}

/** Creates a Work item from an issue. Throws 409 `already_exists`, with its id, where one is linked to the issue. */
export const importIssue = async (service: HostedNeeds, wish: ImportWish): Promise<Imported> => {
  checkProject(service, wish.project);
  const { case_id } = wish;
  if (case_id !== undefined && !isRepeatedCall()) refuseLinked(service.store, case_id);
  const hosted = await hostedRepositoryOf(service, projectOf(service.store, wish));
  const made = await importedBefore(service.store, hosted, wish);
  if (made !== undefined) return made;
  if (case_id !== undefined) refuseLinked(service.store, case_id);
  const issue = await fetchIssue(service.store, hosted, wish.number);
  return case_id === undefined
    ? createCaseFromIssue(service, hosted.name, { ...wish, issue })
    : linkTo(service.store, hosted.name, { case_id, issue });
};

const importedBefore = async (
  store: Store,
  hosted: HostedRepository,
  { number, case_id: wanted }: ImportWish,
): Promise<Imported | undefined> => {
  if (!isRepeatedCall()) return undefined;
  const [case_id] = await linkedTo(store, nameOf(hosted.name, number));
  if (case_id === undefined || case_id !== (wanted ?? case_id)) return undefined;
  const issue = await hosted.issue(number);
  return { case_id, notes: notesOf(issue, storableCopy(issue)) };
};

const projectOf = (store: Store, { project, case_id = '' }: ImportWish): string | undefined =>
  project ?? itemOf(store, case_id)?.files.case.value?.matter.project;

const refuseLinked = (store: Store, caseId: string): void => {
  checkCase(store, caseId);
  if (readLink(store, caseId) === undefined) return;
  throw new ServiceError(
    'already_exists',
    'The Work item is already linked: it has a link.md. Remove or edit that file to link it to another issue.',
    { members: { case_id: caseId } },
  );
};

/**
 * Reads an issue that is not imported yet; for an imported one no request is made. Throws 422 `invalid_state` for the
 * number of a pull request.
 */
export const fetchIssue = async (
  store: Store,
  hosted: HostedRepository,
  number: number,
): Promise<Issue> => {
  await refuseImported(store, nameOf(hosted.name, number));
  return hosted.issue(number).catch((error: unknown) => {
    throw isOfPull(error) ? invalidState(error.message) : error;
  });
};

const isOfPull = (error: unknown): error is ServiceError =>
  error instanceof ServiceError && error.members.is_pull_request === true;

const nameOf = ({ host, owner, name }: RepositoryName, number: number): IssueName => ({
  host,
  repository: `${owner}/${name}`,
  number,
});

const refuseImported = async (store: Store, issue: IssueName): Promise<void> => {
  const [case_id] = await linkedTo(store, issue);
  if (case_id === undefined) return;
  throw new ServiceError(
    'already_exists',
    `${issue.repository}#${issue.number} is already imported as the Work item ${case_id}. Sync that one to update it.`,
    { members: { case_id } },
  );
};

interface Arrival extends Pick<ImportWish, 'project' | 'type'> {
  issue: Issue;
  import_job?: string;
}

/**
 * Creates the Work item of an issue, its link and the copy of the issue with one rename, so that it never exists
 * without its link. Of two concurrent calls one creates it, the other throws 409 `already_exists`.
 */
export const createCaseFromIssue = async (
  service: WithConfig & WithStore,
  repository: RepositoryName,
  { issue, project, type, import_job }: Arrival,
): Promise<Imported> => {
  const place = placeOf(repository, issue);
  const copy = storableCopy(issue);
  const notes = notesOf(issue, copy);
  const { title, description, ...fields } = fieldsOf(copy);
  const at = service.store.clock().toISOString();
  const line = [notes.length === 0 ? 'imported' : 'imported.', ...notes].join(' ');
  const link = { ...linkFrom(place, issue, at), ...fields, ...(import_job && { import_job }) };
  const files = {
    [LINK]: linkText({ issue: link as IssueLinkMatter, at, line }),
    [ISSUE]: issueText({ repository: place.repository, number: place.number, ...copy }),
  };
  const wanted = { title, description, type: type ?? typeFromLabels(issue.labels) };
  return underIssueLock(service.store, place, async () => {
    const { id } = await createCase(service, { ...wanted, ...(project && { project }) }, files);
    return { case_id: id, notes };
  });
};

const [LINK, ISSUE] = [basename(linkFile('')), basename(issueFile(''))] as const;

// The repository's current name on the host: under its former name the issue would be imported twice.
const placeOf = (name: RepositoryName, { number, url }: Issue): IssueName => {
  const place = pageOfIssue(url);
  const known = nameOf(name, number);
  return place?.number === number ? { ...known, repository: place.repository } : known;
};

const linkFrom = (place: IssueName, { node_id, url }: Issue, at: string) => ({
  ...place,
  node_id,
  url,
  status: 'linked' as const,
  imported_at: at,
  synced_at: at,
});

const underIssueLock = <T>(store: Store, place: IssueName, work: () => Promise<T>): Promise<T> =>
  store.locks.take(lockOn.issue(issueKey(place)), async () => {
    await refuseImported(store, place);
    return work();
  });

// The link is written first; its first sync compares both sides, after a crash later.
const linkTo = (
  store: Store,
  repository: RepositoryName,
  { case_id, issue }: { case_id: string; issue: Issue },
): Promise<Imported> => {
  const place = placeOf(repository, issue);
  return underIssueLock(store, place, async () => {
    const at = store.clock().toISOString();
    const link = { ...place, status: 'stale' as const, imported_at: at };
    const isNew = await createLink(store, case_id, { issue: link, at, line: 'linked' });
    if (isNew !== true) refuseLinked(store, case_id);
    await afterDone(`the Work item was linked to ${place.repository}#${place.number}`, () =>
      applySync(store, case_id, { link, issue, trigger: 'link', prefer: 'local' }),
    );
    return { case_id, notes: [] };
  });
};

/**
 * The type of a Work item from the labels of its issue: the first label that names a type counts, else `task`. A label
 * may have a prefix such as `type: bug`, `kind/bug` or `C-bug`.
 */
export const typeFromLabels = (labels: readonly string[]): string => {
  for (const label of labels) {
    const type = TYPES.get(label.trim().toLowerCase().replace(PREFIX, ''));
    if (type !== undefined) return type;
  }
  return 'task';
};

const PREFIX = /^(?:issue[ -]?type|type|kind|category|t|c)\s*[:/-]+\s*/;

const NAMES: Readonly<Record<string, readonly string[]>> = {
  bug: ['bug', 'bugs', 'defect', 'regression', 'crash', 'fix'],
  feature: ['feature', 'features', 'feature request', 'feature-request', 'enhancement', 'story'],
  docs: ['docs', 'doc', 'documentation'],
  chore: ['chore', 'maintenance', 'dependencies', 'cleanup', 'refactor', 'tech debt', 'tech-debt'],
  question: ['question', 'support'],
};

const TYPES: ReadonlyMap<string, string> = new Map(
  Object.entries(NAMES).flatMap(([type, names]) => names.map((name) => [name, type] as const)),
);
