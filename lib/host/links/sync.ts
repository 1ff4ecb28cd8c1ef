import { type Synced, syncLink } from '../../../store/cases/sync-issue.ts';
import { DEFAULT_HOST, issueKey } from '../../../store/codehost/link-index.ts';
import { readLink } from '../../../store/codehost/links.ts';
import type { Issue } from '../../../store/records/code-host.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { SyncResult } from '../../../store/records/sync.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { checkCase } from '../../code/worktrees/read.ts';
import {
  type MissingIssue,
  type RepositoryName,
  repositoryNamed,
  type WithCodeHost,
} from '../../codehost/code-host.ts';
import { ServiceError } from '../../errors.ts';
import type { Preference } from './merge.ts';
import { planForIssue, planForMissing, type SyncWish } from './sync-plan.ts';

/**
 * Syncs a Work item with its issue, without writing to the host. Throws 409 `sync_conflict` for changes on both sides,
 * unless the operator prefers a side, and 404 `codehost_gone` for an issue that no longer exists, which the link
 * records.
 */
export const syncCase = async (
  { store, codeHost }: WithCodeHost & WithStore,
  caseId: string,
  prefer?: Preference,
): Promise<SyncResult> => {
  const link = linkedIssue(store, caseId);
  const { number } = link;
  const issues = await codeHost().repository(linkRepository(link)).issuesByNumber([number]);
  const issue = issues.get(number) ?? { missing: 'deleted' };
  const result = await applySync(store, caseId, { link, issue, trigger: 'sync', prefer });
  if ('missing' in issue) throw gone(link, issue);
  if (result.outcome === 'conflict') throw inConflict(result);
  return result;
};

/** The linked issue. Throws 404 without the Work item and 422 `not_linked` without the link. */
const linkedIssue = (store: Store, caseId: string): IssueLinkMatter => {
  checkCase(store, caseId);
  const issue = readLink(store, caseId)?.issue;
  if (issue !== undefined) return issue;
  throw new ServiceError(
    'not_linked',
    'The Work item is not linked to an issue. Import one with its case_id, or write link.md with the repository and number of the issue.',
  );
};

/** The repository of a linked issue. */
export const linkRepository = ({
  host = DEFAULT_HOST,
  repository,
}: IssueLinkMatter): RepositoryName => repositoryNamed(host, repository);

interface FoundIssue extends Omit<SyncWish, 'at'> {
  /** The link when the host was asked. */
  link: IssueLinkMatter;
  issue: Issue | MissingIssue;
}

/** Updates a Work item from the host. A conflict is an outcome, not an error. */
export const applySync = async (
  store: Store,
  caseId: string,
  { link, issue, ...wish }: FoundIssue,
): Promise<SyncResult> => {
  const at = store.clock().toISOString();
  const plan =
    'missing' in issue
      ? planForMissing(issue, { ...wish, at })
      : planForIssue(issue, { ...wish, at });
  const synced = await syncLink(store, caseId, (standing) => {
    if (issueKey(standing.link) !== issueKey(link)) throw linkedElsewhere();
    return plan(standing);
  });
  if (synced === undefined)
    throw new ServiceError(
      'not_linked',
      'The link was removed during the sync. Import the issue with its case_id to restore it.',
    );
  return resultOf(caseId, at, synced);
};

const linkedElsewhere = (): ServiceError =>
  new ServiceError(
    'file_busy',
    'link.md was changed to another issue during the sync. Nothing was changed. Sync again.',
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
    `Changed both here and on the host since the last sync: ${names}. The values here were kept. Sync again with prefer local or remote, or edit the Work item until both sides are equal.`,
    { members: { case_id, sync_id, fields } },
  );
};

const gone = (link: IssueLinkMatter, { missing, url }: MissingIssue): ServiceError => {
  const issue = `${link.repository}#${link.number}`;
  const detail =
    missing === 'moved'
      ? `${issue} was moved${url === undefined ? '' : ` to ${url}`}. Set the new repository and number in link.md to follow it.`
      : `${issue} was deleted on the host, or the token can no longer read it. The Work item was not changed. To unlink it, remove its link.md.`;
  return new ServiceError('codehost_gone', detail, {
    members: url === undefined ? {} : { moved_to: url },
  });
};
