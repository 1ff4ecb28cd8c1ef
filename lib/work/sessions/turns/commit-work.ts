import { orElse } from '../../../../store/base/attempt.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import type { Session } from '../../../../store/records/session.ts';
import type { WorkCommit } from '../../../../store/records/work-commit.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { worktreeConfig } from '../../../code/worktrees/config.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { commitWorktree, uncommittedWork } from '../../../code/worktrees/recovery/commit.ts';
import { asOneLine } from '../../cases/text.ts';
import type { KnownChanges } from '../live/changes-part.ts';
import type { TurnNeeds } from '../live/needs.ts';

/**
 * Commits what completed work changed since its approval onto its worktree's branch, in worktrees that the daemon
 * created. Undefined where there is nothing to commit. Never rejects: a reason for not committing is returned and
 * appended to the session's stream.
 */
export const commitWork = async (
  { store, git, engine }: TurnNeeds,
  kept: StoredSession,
  worktree: WorktreeRecord,
  { isSince = false }: KnownChanges,
): Promise<WorkCommit | undefined> => {
  const { case_id } = kept.session;
  if (!isCommitted(store, kept.session, worktree)) return undefined;
  const title = (await readCase(store, case_id))?.title ?? case_id;
  const commit = await commitWorktree(git, worktree, {
    message: `${subjectOf(title)}\n\n${trailersOf(kept).join('\n')}`,
    isSince,
  });
  if (commit?.reason != null) {
    const message = `Nothing was committed: ${commit.reason}`;
    engine.transcript(kept).append('error', { code: 'git_noted', message });
  }
  return commit;
};

/** What a session that did not complete leaves uncommitted, where its changes would have been committed. */
export const leftUncommitted = async (
  { store, git }: TurnNeeds,
  kept: StoredSession,
  { isSince = false }: KnownChanges,
): Promise<WorkCommit | undefined> => {
  const worktree = orElse(() => readWorktree(store, kept.session.case_id), undefined);
  if (worktree === undefined || !isCommitted(store, kept.session, worktree)) return undefined;
  return uncommittedWork(git, worktree, { isSince });
};

const MOST_CHARACTERS = 72;

const subjectOf = (title: string): string => {
  const characters = [...asOneLine(title)];
  return characters.length <= MOST_CHARACTERS
    ? characters.join('')
    : `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…`;
};

const trailersOf = ({ session }: StoredSession): string[] => {
  const { id, case_id, provider, model, approved_sha256, plan_sha256 } = session;
  const agent = model === undefined ? provider : `${provider} (${asOneLine(model)})`;
  return [
    `Dossier-Case: ${case_id}`,
    `Dossier-Session: ${id}`,
    `Dossier-Approved: ${approved_sha256 ?? plan_sha256 ?? 'unknown'}`,
    `Dossier-Agent: ${asOneLine(agent)}`,
  ];
};

/**
 * Whether a session's changes are committed when it completes: never in an attached directory, nor in a conflict
 * session.
 */
export const isCommitted = (
  store: Store,
  { type }: Session,
  worktree: WorktreeRecord | undefined,
): boolean =>
  type !== CONFLICT && worktree?.attached !== true && worktreeConfig(store).commit === 'end';
