import { messageOf } from '../../../../store/base/attempt.ts';
import { visible, visibleWithin } from '../../../../store/base/visible.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import { imageName } from '../../../../store/codehost/images.ts';
import type { WorkCommit } from '../../../../store/records/work-commit.ts';
import { messagesOf } from '../../../../store/sessions/messages.ts';
import { readPlan } from '../../../../store/sessions/session-texts.ts';
import {
  readSession,
  type StoredSession,
  sessionDirOf,
} from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { type WorktreeDiff, worktreeDiff } from '../../../code/worktrees/inspect/diff.ts';
import { checkState } from '../../../code/worktrees/inspect/status.ts';
import type { GitNeeds } from '../../../code/worktrees/needs.ts';
import { getWorktree } from '../../../code/worktrees/read.ts';
import { leftMarkers } from '../../../code/worktrees/rebase/conflict-checks.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { syncCommits, syncWork } from '../../../code/worktrees/recovery/sync-work.ts';
import { firstWithin, shorten, someOf } from '../../../text/wording.ts';
import { makeReadable } from '../../../tools/git/read/working-files.ts';
import { imagesIn } from '../../issue-text/references.ts';
import type { WorktreeChanges } from '../live/changes-part.ts';
import type { EngineNeeds, SessionNeeds, TurnNeeds } from '../live/needs.ts';
import { toldSummary } from '../live/stream.ts';
import { type Outcome, summaryOf } from '../live/summary.ts';
import { digestOf } from '../live/transcript-summary.ts';
import { commandsOf } from '../rules/commands.ts';
import { type FinishedTurn, isRunning, type SessionEnding, totalUsage } from '../rules/rules.ts';
import { commitWork, leftUncommitted } from './commit-work.ts';
import { keepDiff } from './keep-diff.ts';

interface Ended extends Outcome {
  turn?: FinishedTurn | undefined;
  commit?: WorkCommit | undefined;
}

/**
 * The summary for session.md, and diff.patch so far, of a session that ends or pauses. Where git cannot make the diff,
 * the summary says so.
 */
export const wrapUp = async (
  service: TurnNeeds,
  kept: StoredSession,
  ended: Ended,
): Promise<SessionEnding> => {
  const changes = kept.session.mode === 'work' ? await changesSoFar(service, kept) : undefined;
  const isKnown = changes !== undefined && !('unknown' in changes);
  const commit = isKnown ? await leftUncommitted(service, kept, changes) : undefined;
  return summarize(service, kept, { ...ended, commit }, changes);
};

const changesSoFar = (service: TurnNeeds, kept: StoredSession): Promise<WorktreeChanges> =>
  readableDiffOf(service, kept)
    .then((diff) => keepDiff(service, kept, diff))
    .catch((error: unknown) => ({ unknown: messageOf(error) }));

/**
 * The same for completed work, which needs its diff: rejects when the diff cannot be made, or the files cannot be
 * synced to disk.
 */
export const wrapUpCompleted = async (
  service: SessionNeeds,
  kept: StoredSession,
  { turn, diff }: { turn: FinishedTurn; diff: WorktreeDiff },
): Promise<SessionEnding> => {
  const worktree = getWorktree(service.store, kept.session.case_id);
  await syncWork(service, worktree, diff);
  const changes = await keepDiff(service, kept, diff);
  const commit = await commitWork(service, kept, worktree, changes);
  await syncCommits(service, worktree);
  const error =
    kept.session.type === CONFLICT
      ? await leftMarkers(service.git.at(worktree)).catch(
          (cause: unknown) => `Whether conflict markers remain is unknown: ${messageOf(cause)}`,
        )
      : undefined;
  if (error !== undefined) service.engine.transcript(kept).append('error', { message: error });
  const outcome = { status: 'completed' as const, ...(error !== undefined && { error }) };
  return summarize(service, kept, { ...outcome, turn, commit }, changes);
};

// Of the record as it is now, or as it was read last where it is gone.
const summarize = async (
  service: EngineNeeds,
  before: StoredSession,
  { turn, commit, ...outcome }: Ended,
  changes: WorktreeChanges | undefined,
): Promise<SessionEnding> => {
  const { store } = service;
  const { case_id, id } = before.session;
  const kept = readSession(store, case_id, id) ?? before;
  const { session } = kept;
  const at = store.clock().toISOString();
  const { title = '', description = '' } = (await readCase(store, case_id)) ?? {};
  const told = await digestOf(service.engine, kept);
  const commands = session.mode === 'work' ? commandsOf(told.calls) : undefined;
  const noted = withNotes(commit, changes);
  const summary = summaryOf({
    session,
    outcome,
    at,
    asked: { title, description, images: imagesOf(store, case_id, description) },
    planned: readPlan(store, sessionDirOf(store, kept)) !== undefined,
    changes,
    commit: noted,
    told,
    messages: messagesOf(store, kept),
    usage: isRunning(session.status) ? totalUsage(session.usage, turn?.usage) : session.usage,
  });
  return {
    at,
    summary: toldSummary(service.engine, kept, summary),
    turn,
    commit: noted,
    commands: visibleWithin(commands, shortVisible),
  };
};

const withNotes = (
  commit: WorkCommit | undefined,
  changes: WorktreeChanges | undefined,
): WorkCommit | undefined => {
  if (changes === undefined || 'unknown' in changes) return commit;
  const { other_commits, reverted = [] } = changes;
  if (other_commits === undefined && reverted.length === 0) return commit;
  return {
    ...(commit ?? NO_COMMIT),
    ...(other_commits && {
      other_commits: {
        ...other_commits,
        files: firstWithin(other_commits.files, MOST_NAMES, ({ path }) => path),
      },
    }),
    ...(reverted.length > 0 && { reverted: firstWithin(reverted, MOST_NAMES, (path) => path) }),
  };
};

const NO_COMMIT: WorkCommit = { id: null, files: 0, left_out: [] };
// In characters: they are in the front matter of session.md, which has a limit.
const MOST_NAMES = 2000;

// Hidden characters take more room once they are visible, and the front matter has a limit.
const shortVisible = (text: string): string => shorten(visible(text), LONGEST_OUTPUT);

const LONGEST_OUTPUT = 1000;

const imagesOf = (store: Store, caseId: string, description: string): string[] =>
  imagesIn(description).flatMap((url) => imageName(store, caseId, url) ?? []);

/** The diff of the worktree against the session's base. Throws where the worktree is gone. */
export const diffOf = async (
  { store, git }: GitNeeds,
  { session }: StoredSession,
): Promise<WorktreeDiff> => {
  const worktree = getWorktree(store, session.case_id);
  await checkState(worktree);
  const base_commit = session.base_commit ?? worktree.base_commit;
  return worktreeDiff(git, { ...worktree, base_commit });
};

/** The same while no run exists: files that cannot be read are made readable for their owner, and reported. */
export const readableDiffOf = async (
  service: TurnNeeds,
  kept: StoredSession,
): Promise<WorktreeDiff> => {
  try {
    return await diffOf(service, kept);
  } catch (error) {
    const worktree = readWorktree(service.store, kept.session.case_id);
    if (worktree === undefined) throw error;
    const opened = await makeReadable(service.git.at(worktree)).catch(() => []);
    if (opened.length === 0) throw error;
    const message = `Unreadable files were made readable for their owner: ${someOf(opened)}.`;
    service.engine.transcript(kept).append('error', { code: 'git_noted', message });
    return diffOf(service, kept);
  }
};
