import { visible } from '../../../store/base/visible.ts';
import { recordOf } from '../../../store/reconcile/item.ts';
import { itemOf } from '../../../store/reconcile/items.ts';
import type { WorktreeRecord } from '../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import {
  readWorktree,
  replaceWorktree,
  withWorktreeLock,
} from '../../../store/worktrees/worktrees.ts';
import type { Overlap } from '../../code/worktrees/inspect/overlaps.ts';
import { getWorktree } from '../../code/worktrees/read.ts';
import { invalidState } from '../../errors.ts';
import { commitOf } from '../../tools/git/read/repository.ts';
import { repositoryOf, type WithGit } from '../../tools/git/run/git.ts';
import { type AboutCase, type AttentionEntry, post } from './entry.ts';
import { endOf } from './overlap-watch.ts';

/** Branches of finished work that conflict with this one or with its base, unless the operator dismissed that. */
export const overlapEntries = (
  store: Store,
  { id }: AboutCase,
  overlaps: readonly Overlap[],
): AttentionEntry[] => {
  if (overlaps.length === 0) return [];
  const record = readWorktree(store, id);
  if (record === undefined) return [];
  const dismissed = new Set(record.dismissed_overlaps);
  return overlaps
    .filter(({ commits }) => !dismissed.has(commits.join(' ')))
    .map((overlap) => ({
      id: `overlap/${id}/${overlap.other ?? 'base'}/${overlap.commits.join('-')}`,
      kind: 'overlap',
      since: endOf(store, id) || record.created_at,
      message: messageOf(store, record, overlap),
      ...(overlap.other !== undefined && { other_case_id: overlap.other }),
      answer: post(`/cases/${id}/overlaps/dismiss`, { commits: overlap.commits }),
    }));
};

const messageOf = (store: Store, { branch }: WorktreeRecord, overlap: Overlap): string => {
  const { other, base, files } = overlap;
  const more = files.length > 5 ? ` and ${files.length - 5} more` : '';
  const names = visible(files.slice(0, 5).join(', ') + more);
  if (other === undefined)
    return `${visible(branch)} conflicts with ${visible(base)}, which has new commits, in ${names}. Rebase it.`;
  const item = itemOf(store, other);
  const title = item === undefined ? other.slice(0, 8) : visible(recordOf(item).title);
  return `Conflicts with the branch of "${title}" in ${names}. Merge one of the two, then rebase the other.`;
};

/**
 * Removes a conflict between two branches from the inbox, until one of them has another commit. Idempotent. Throws 422
 * `invalid_state` if the branch of the Work item is at neither commit.
 */
export const dismissOverlap = async (
  service: WithGit & WithStore & { attention: { update(caseId: string): void } },
  caseId: string,
  commits: readonly string[],
): Promise<void> => {
  const { store, git, attention } = service;
  await withWorktreeLock(store, caseId, async () => {
    const record = getWorktree(store, caseId);
    const { branch, dismissed_overlaps: known = [] } = record;
    const now = await commitOf(git.at(repositoryOf(record)), `refs/heads/${branch}`);
    if (now === undefined || !commits.includes(now))
      throw invalidState(
        `${branch} is at ${now ?? 'no commit'}, which is not one of these commits. Read GET /attention again.`,
      );
    const pair = commits.join(' ');
    if (known.includes(pair)) return;
    await replaceWorktree(store, {
      ...record,
      dismissed_overlaps: [...known, pair].slice(-MOST_DISMISSED),
    });
  });
  attention.update(caseId);
};

const MOST_DISMISSED = 200;
