import { etagOf } from '../../../store/base/names.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { DEFAULT_HOST, lastLink } from '../../../store/codehost/link-index.ts';
import { readPull } from '../../../store/codehost/pulls.ts';
import { listSyncs } from '../../../store/codehost/syncs.ts';
import type { FileProblem } from '../../../store/front-matter/problem.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { ExtractedIssue } from '../../../store/records/extracted.ts';
import type { IssueLink, IssueLinkMatter } from '../../../store/records/link.ts';
import type { PullMatter } from '../../../store/records/pull-request.ts';
import type { Sync } from '../../../store/records/sync.ts';
import type { Store } from '../../../store/store.ts';
import {
  type HostedNeeds,
  hostedRepositoryOf,
  isHosted,
} from '../../code/projects/hosted-repository.ts';
import { checkProject, type ProjectNeeds } from '../../code/projects/project.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import { badField, orNotFound } from '../../errors.ts';
import { extractIssue } from '../../work/issue-text/extract.ts';

interface LinkRecord {
  case_id: string;
  issue: IssueLink | null;
  pr: PullLink | null;
  /** Set where link.md cannot be read; the issue is then the last one that was read. */
  problems?: FileProblem[];
  /** Whether the project has a repository on a code host. */
  hosted?: boolean;
}

type PullLink = Pick<PullMatter, 'host' | 'repository' | 'number' | 'title' | 'state'> & {
  url: string | null;
  stale: boolean;
};

/**
 * The links of a Work item, from its files, with their ETag. Throws `unreadable_record` for a file that could never be
 * read.
 */
export const getLink = (store: Store, case_id: string): { record: LinkRecord; etag: string } => {
  checkCase(store, case_id);
  const { issue, problems } = lastLink(store, case_id);
  const pull = readPull(store, case_id);
  const record = {
    case_id,
    issue: issue === undefined ? null : served(issue),
    pr: pull === undefined ? null : pullLink(pull.matter),
    ...(problems.length > 0 && { problems }),
  };
  return withEtag(record);
};

/** As getLink, and whether the project has a repository on a code host, which git's configuration tells. */
export const getHostedLink = async (
  service: ProjectNeeds,
  case_id: string,
): Promise<{ record: LinkRecord; etag: string }> => {
  const { record } = getLink(service.store, case_id);
  const { project } = itemOf(service.store, case_id)?.files.case.value?.matter ?? {};
  const hosted = await isHosted(service, project ?? 'default');
  return withEtag({ ...record, ...(hosted !== undefined && { hosted }) });
};

const withEtag = (record: LinkRecord): { record: LinkRecord; etag: string } => ({
  record,
  etag: etagOf(sha256(JSON.stringify(record))),
});

const served = (issue: IssueLinkMatter): IssueLink => {
  const { host = DEFAULT_HOST, repository, number, moved_to, status = 'stale' } = issue;
  const { node_id = null, url = null, imported_at = null, synced_at = null } = issue;
  const { state = null, labels = [], assignees = [], milestone = null } = issue;
  return {
    host,
    repository,
    number,
    node_id,
    url,
    status,
    ...(moved_to !== undefined && { moved_to }),
    imported_at,
    synced_at,
    state,
    labels,
    assignees,
    milestone,
  };
};

const pullLink = (pull: PullMatter): PullLink => {
  const { host, repository, number, title, state, url = null, stale = false } = pull;
  return { host, repository, number, title, state, url, stale };
};

/** The results of syncs, oldest first. Throws `unreadable_record`. */
export const syncLog = (store: Store, caseId: string): Sync[] =>
  orNotFound(listSyncs(store, caseId), 'Work item', caseId);

interface Extraction {
  body?: string;
  number?: number;
  project?: string;
}

/** Extracts the parts of a given text, or of an issue on the host. */
export const extractFrom = async (
  service: HostedNeeds,
  { body, number, project }: Extraction,
): Promise<ExtractedIssue> => {
  if ((body === undefined) === (number === undefined))
    throw badField('/body', 'send either this or number', EITHER);
  if (number === undefined) return extractIssue(body ?? '');
  checkProject(service, project);
  const issue = await (await hostedRepositoryOf(service, project)).issue(number);
  return extractIssue(issue.body, issue.title);
};

const EITHER = 'Send either a body or the number of an issue.';
