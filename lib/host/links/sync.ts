import { type Synced, syncLink } from '../../../store/cases/sync-issue.ts';
import { DEFAULT_HOST, issueKey } from '../../../store/codehost/link-index.ts';
import { readLink } from '../../../store/codehost/links.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { Issue } from '../../../store/records/code-host.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { SyncResult } from '../../../store/records/sync.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { hostedRepositoryNamed } from '../../code/projects/hosted-repository.ts';
import {
  type MissingIssue,
  type RepositoryName,
  repositoryNamed,
  type WithCodeHost,
} from '../../codehost/code-host.ts';
import { notFound, ServiceError } from '../../errors.ts';
import type { Preference } from './merge.ts';
import { planWith, planWithout, type SyncWish } from './sync-plan.ts';

/**
 * Syncs a Work item with its issue. Nothing is written to the host. What changed on both sides is 409 `sync_conflict`,
 * unless the operator prefers a side; an issue that is not there any more is 404 `codehost_gone`, and kept in the link.
 */
export const syncCase = async (
  { store, codeHost }: WithCodeHost & WithStore,
  caseId: string,
  prefer?: Preference,
): Promise<SyncResult> => {
  const link = linkedIssue(store, caseId);
  const { number } = link;
  const issues = await hostedRepositoryNamed(codeHost, linkRepository(link)).issuesByNumber([
    number,
  ]);
  const issue = issues.get(number) ?? { missing: 'deleted' };
  const result = await applySync(store, caseId, { link, issue, trigger: 'sync', prefer });
  if ('missing' in issue) throw gone(link, issue);
  if (result.outcome === 'conflict') throw inConflict(result);
  return result;
};

/** The issue that a Work item is linked to. 404 without the Work item, 422 `not_linked` without the link. */
const linkedIssue = (store: Store, caseId: string): IssueLinkMatter => {
  if (itemOf(store, caseId) === undefined) throw notFound('Work item', caseId);
  const issue = readLink(store, caseId)?.issue;
  if (issue !== undefined) return issue;
  throw new ServiceError(
    'not_linked',
    'This Work item is linked to no issue. Import one with its case_id, or write link.md with the repository and number of the issue.',
  );
};

/** The repository that an issue is in. */
export const linkRepository = ({
  host = DEFAULT_HOST,
  repository,
}: IssueLinkMatter): RepositoryName => repositoryNamed(host, repository);

interface FoundIssue extends Omit<SyncWish, 'at'> {
  /** As it was when the host was asked. */
  link: IssueLinkMatter;
  issue: Issue | MissingIssue;
}

/** Brings a Work item up to date with what was found on the host. A conflict is an outcome here. */
export const applySync = async (
  store: Store,
  caseId: string,
  { link, issue, ...wish }: FoundIssue,
): Promise<SyncResult> => {
  const at = store.clock().toISOString();
  const plan =
    'missing' in issue ? planWithout(issue, { ...wish, at }) : planWith(issue, { ...wish, at });
  const synced = await syncLink(store, caseId, (standing) => {
    if (issueKey(standing.link) !== issueKey(link)) throw linkedElsewhere();
    return plan(standing);
  });
  if (synced === undefined)
    throw new ServiceError(
      'not_linked',
      'The link was removed meanwhile. Import the issue with its case_id to have it again.',
    );
  return resultOf(caseId, at, synced);
};

const linkedElsewhere = (): ServiceError =>
  new ServiceError(
    'file_busy',
    'link.md names another issue than when the host was asked. Nothing was changed; sync again.',
  );

const resultOf = (case_id: string, synced_at: string, { plan, sync_id }: Synced): SyncResult => ({
  case_id,
  outcome: plan.record.outcome,
  synced_at,
  sync_id,
  fields: plan.record.fields,
});

const inConflict = ({ case_id, sync_id, fields }: SyncResult): ServiceError => {
  const conflicts = fields.filter(({ outcome }) => outcome === 'conflict');
  const names = conflicts.map(({ field }) => field).join(', ');
  return new ServiceError(
    'sync_conflict',
    `Changed here and on the host since the last sync: ${names}. What is here was kept. Sync again with prefer local or remote, or edit the Work item until both are alike.`,
    { members: { case_id, sync_id, fields } },
  );
};

const gone = (link: IssueLinkMatter, { missing, url }: MissingIssue): ServiceError => {
  const issue = `${link.repository}#${link.number}`;
  const detail =
    missing === 'moved'
      ? `${issue} was moved${url === undefined ? '' : ` to ${url}`}. Write where it is now into link.md, as repository and number, to follow it.`
      : `${issue} is gone from the host, or the token may not see it any more. The Work item is as it was.`;
  return new ServiceError('codehost_gone', detail, {
    members: url === undefined ? {} : { moved_to: url },
  });
};
