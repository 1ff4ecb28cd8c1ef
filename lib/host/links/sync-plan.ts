import { randomUUID } from 'node:crypto';
import type { CaseChange } from '../../../store/cases/cases.ts';
import type { SyncPlan, SyncState } from '../../../store/cases/sync-issue.ts';
import type { IssueCopy } from '../../../store/codehost/issue-copy.ts';
import { issueKey } from '../../../store/codehost/link-index.ts';
import type { LinkChange } from '../../../store/codehost/links.ts';
import type { Issue } from '../../../store/records/code-host.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { FieldName, FieldSync, SyncMatter } from '../../../store/records/sync.ts';
import { type MissingIssue, pageOfIssue } from '../../codehost/code-host.ts';
import { type Fields, fieldsOf, storableCopy } from './issue-fields.ts';
import { mergedFields, mergeFields, type Preference } from './merge.ts';

export interface SyncWish {
  trigger: SyncMatter['trigger'];
  at: string;
  prefer?: Preference | undefined;
}

/**
 * Plans a sync with this issue. The plan is recomputed for each state on disk; findings of earlier computations are
 * kept.
 */
export const planForIssue = (issue: Issue, wish: SyncWish): ((standing: SyncState) => SyncPlan) => {
  const copy = storableCopy(issue);
  const found = new Map<FieldName, FieldSync>();
  return (onDisk) => {
    const standing = withMatchingBase(onDisk);
    const here = localFields(standing);
    const sides = { base: standing.base && fieldsOf(standing.base), here, host: fieldsOf(copy) };
    const now = mergeFields(sides, wish.prefer);
    for (const one of now)
      if (one.outcome !== 'same' || !found.has(one.field)) found.set(one.field, one);
    const merged = mergedFields(sides, now, wish.prefer);
    const conflicts = now.filter(({ outcome }) => outcome === 'conflict');
    const status = conflicts.length > 0 ? 'conflict' : 'linked';
    const fields = [...found.values()];
    return {
      ...caseChange(here, merged),
      link: {
        changes: {
          ...linkChanges(issue, standing.link, merged),
          status: shown(status, issue, standing.link),
          synced_at: wish.at,
        },
        ...lineOf(fields, standing.link.status, status),
      },
      ...nextBase({ ...placeNow(issue, standing.link), ...copy }, standing.base, conflicts),
      record: recordOf(wish, { outcome: outcomeOf(status, fields), fields }),
    };
  };
};

// A webhook may have reported something newer while the host was asked.
const shown = (
  status: 'conflict' | 'linked',
  { updated_at }: Issue,
  { told_at }: IssueLinkMatter,
): 'conflict' | 'linked' | 'stale' => {
  const isBehind = told_at !== undefined && Date.parse(told_at) > Date.parse(updated_at);
  return status === 'linked' && isBehind ? 'stale' : status;
};

// The copy of another issue, linked before, is not an ancestor of this one.
const withMatchingBase = ({ base, ...standing }: SyncState): SyncState => {
  const { link } = standing;
  const { repository = link.repository, number = link.number } = base ?? {};
  const isOwn = issueKey({ ...link, repository, number }) === issueKey(link);
  return { ...standing, base: isOwn ? base : undefined };
};

// Fields that link.md leaves out have their value of the last sync.
const localFields = ({ title, description, link, base }: SyncState): Fields => ({
  title,
  description,
  labels: link.labels ?? base?.labels ?? [],
  assignees: link.assignees ?? base?.assignees ?? [],
  milestone: link.milestone === undefined ? (base?.milestone ?? null) : link.milestone,
  state: link.state ?? base?.state ?? null,
});

const outcomeOf = (status: string, fields: readonly FieldSync[]): SyncMatter['outcome'] => {
  if (status === 'conflict') return 'conflict';
  return fields.every(({ outcome }) => outcome === 'kept') ? 'unchanged' : 'updated';
};

const caseChange = (here: Fields, merged: Fields): Pick<SyncPlan, 'item'> => {
  const item: CaseChange = {};
  if (merged.title !== here.title) item.title = merged.title;
  if (merged.description !== here.description) item.description = merged.description;
  return Object.keys(item).length === 0 ? {} : { item };
};

const linkChanges = (
  issue: Issue,
  link: IssueLinkMatter,
  { labels, assignees, milestone, state }: Fields,
): LinkChange['changes'] => ({
  repository: placeNow(issue, link).repository,
  node_id: issue.node_id,
  url: issue.url,
  labels: [...labels],
  assignees: [...assignees],
  milestone,
  ...(state !== null && { state }),
  moved_to: undefined,
});

// A renamed repository is followed; an issue with another number is a different issue.
const placeNow = (
  { url }: Issue,
  { repository, number }: IssueLinkMatter,
): { repository: string; number: number } => {
  const place = pageOfIssue(url);
  return place?.number === number ? place : { repository, number };
};

// A field in conflict keeps its common ancestor; without one there is none until all conflicts are settled.
const nextBase = (
  copy: IssueCopy,
  before: IssueCopy | undefined,
  conflicts: readonly FieldSync[],
): Pick<SyncPlan, 'base'> => {
  if (conflicts.length === 0) return { base: copy };
  if (before === undefined) return {};
  const names = conflicts.map(({ field }) => (field === 'description' ? 'body' : field));
  const kept = Object.fromEntries(names.map((name) => [name, before[name]]));
  return { base: { ...copy, ...kept } };
};

const recordOf = (
  { trigger, at, prefer }: SyncWish,
  rest: Pick<SyncMatter, 'outcome' | 'fields' | 'moved_to'>,
): SyncMatter => ({ id: randomUUID(), at, trigger, ...(prefer && { prefer }), ...rest });

const lineOf = (
  fields: readonly FieldSync[],
  before: IssueLinkMatter['status'],
  status: string,
): Pick<LinkChange, 'line'> => {
  const parts = Object.entries(WORDS).flatMap(([outcome, words]) => {
    const names = fields.filter((one) => one.outcome === outcome).map(({ field }) => field);
    return names.length === 0 ? [] : [`${names.join(', ')} ${words}`];
  });
  if (parts.length > 0) return { line: `synced: ${parts.join('; ')}` };
  return before === undefined || before === status ? {} : { line: `synced: ${status} again` };
};

const WORDS: Partial<Record<FieldSync['outcome'], string>> = {
  taken: 'taken from the issue',
  same: 'changed equally on both sides',
  conflict: 'changed on both sides, and kept',
  settled: 'settled by the operator',
};

/** Plans a sync with an issue that was moved or deleted: the link records it, the Work item does not change. */
export const planForMissing = (
  { missing, url }: MissingIssue,
  wish: SyncWish,
): ((standing: SyncState) => SyncPlan) => {
  const status = missing === 'moved' ? 'moved' : 'missing';
  const moved = url === undefined ? {} : { moved_to: url };
  const line = url === undefined ? `the issue is ${WHY[status]}` : `the issue was moved to ${url}`;
  return ({ link }) => ({
    link: {
      changes: { status, moved_to: url, synced_at: wish.at },
      ...(link.status !== status && { line }),
    },
    record: recordOf(wish, { outcome: status, fields: [], ...moved }),
  });
};

const WHY = { moved: 'no longer in this repository', missing: 'deleted on the host' };
