import { randomUUID } from 'node:crypto';
import { join, relative } from 'node:path';
import { messageOf } from '../../../../store/base/attempt.ts';
import { readCase } from '../../../../store/cases/cases.ts';
import type { TurnRecord } from '../../../../store/records/turn.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import {
  keepTurn,
  readTurn,
  readTurnRefs,
  removeTurn,
  turnPlaces,
} from '../../../../store/worktrees/turn-records.ts';
import {
  pathKind,
  readWorktree,
  recoveredDir,
  replaceWorktree,
  withWorktreeLock,
} from '../../../../store/worktrees/worktrees.ts';
import { asSentence } from '../../../errors.ts';
import type { WithLog } from '../../../log.ts';
import { someOf } from '../../../text/wording.ts';
import { type Git, repositoryOf, type WithGit } from '../../../tools/git/run/git.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import { pointGitFile, removeStaleGitFiles } from '../../turn-repository/dot-git.ts';
import { type ImportedTurn, importTurn } from '../../turn-repository/import-turn.ts';
import { unpin } from '../../turn-repository/pins.ts';
import { readList } from '../../turn-repository/refs.ts';
import { disableGitSettings } from '../../turn-repository/sanitize.ts';
import { syncCommits } from '../recovery/sync-work.ts';
import {
  keptRefsNotices,
  NOTHING,
  type TurnListener,
  type TurnNotice,
  type TurnResult,
} from './notices.ts';

/**
 * Imports a finished turn and restores the worktree's `.git` file. Never rejects: if the import fails, a notice names
 * the repository that is kept. Call it after all processes of the turn have ended. Idempotent.
 */
export const closeTurn = (
  service: WithGit & WithLog & WithStore,
  caseId: string,
  tell: TurnListener,
): Promise<TurnResult> =>
  withWorktreeLock(service.store, caseId, () => closeTurnLocked(service, caseId, tell));

/** Like `closeTurn`, under the lock of the worktree. */
export const closeTurnLocked = async (
  service: WithGit & WithLog & WithStore,
  caseId: string,
  tell: TurnListener,
): Promise<TurnResult> => {
  try {
    return await close(service, caseId, tell);
  } catch (error) {
    service.log.error({ err: error, case_id: caseId }, NOT_TAKEN);
    const { home } = turnPlaces(service.store.layout, caseId);
    const why = asSentence(messageOf(error));
    const message =
      pathKind(home) === 'nothing'
        ? `The turn could not be closed: ${why} The next turn tries again.`
        : `${NOT_TAKEN}: ${why} The repository is kept at ${home}; the next turn tries the import again.`;
    tell([{ code: 'repository_kept', message }]);
    return { blocked: message };
  }
};

const NOT_TAKEN = "The turn's repository could not be imported";

const close = async (
  service: WithGit & WithLog & WithStore,
  caseId: string,
  tell: TurnListener,
): Promise<TurnResult> => {
  const { layout } = service.store;
  const turn = readTurn(layout, caseId);
  if (turn === undefined) return NOTHING;
  const worktree = await restoreGitFile(service.store, turn);
  // If the repository is kept, the operator may run git in it.
  disableGitSettings(turnPlaces(layout, caseId).dir, turn.pointed);
  if (worktree === undefined || pathKind(worktree.path) === 'nothing') {
    await unpinGone(service.git, turn);
    // Such as the turn of an attached clone, which had no repository of its own.
    if (pathKind(turnPlaces(layout, caseId).home) === 'nothing') {
      await removeTurn(layout, caseId);
      return NOTHING;
    }
    return keepTurnRepository(service, turn, { why: GONE, tell });
  }
  const { item_dir, taken } = await importWork(service, turn, worktree);
  const told = noticesOf(service.store, { taken, item_dir });
  // Before the record is removed: after a crash here, the import and its notices are repeated.
  tell(told);
  const { broken: why } = taken;
  const came = why === undefined ? NOTHING : await keepTurnRepository(service, turn, { why, tell });
  // A power cut must not keep the removal of the turn's repository and lose what was imported.
  if (why === undefined) await syncCommits(service, worktree);
  await unpin(service.git.at(worktree), caseId);
  if (why === undefined) await removeTurn(layout, caseId);
  return { blocked: blockedBy(told) ?? came.blocked };
};

const GONE = 'its worktree no longer exists';

const unpinGone = async (git: Git, turn: TurnRecord): Promise<void> => {
  const { common_dir, case_id } = turn;
  if (common_dir !== undefined && pathKind(common_dir) === 'directory')
    await unpin(git.at(repositoryOf({ common_dir })), case_id);
};

// The first step: afterwards no git command in the worktree uses the turn's repository.
const restoreGitFile = async (
  store: Store,
  turn: TurnRecord,
): Promise<WorktreeRecord | undefined> => {
  const worktree = readWorktree(store, turn.case_id);
  if (worktree?.created_at !== turn.worktree_created_at) return undefined;
  const { turn_dir, ...own } = worktree;
  if (turn.pointed) {
    removeStaleGitFiles(own);
    pointGitFile(own, turnPlaces(store.layout, turn.case_id).dir, own.git_dir);
    if (turn_dir !== undefined) await replaceWorktree(store, own);
  }
  return own;
};

const importWork = async (
  { store, git }: WithGit & WithStore,
  turn: TurnRecord,
  worktree: WorktreeRecord,
): Promise<{ item_dir: string; taken: ImportedTurn }> => {
  const { layout } = store;
  const item = await readCase(store, turn.case_id);
  const item_dir = item?.path ?? join('cases', turn.case_id);
  const at = store.clock().toISOString().slice(0, 19).replaceAll(':', '-');
  const taken = await importTurn(git, worktree, {
    ...turn,
    refs: readList(readTurnRefs(layout, turn.case_id)),
    dir: turnPlaces(layout, turn.case_id).dir,
    room: join(layout.tmp, randomUUID()),
    aside: join(recoveredDir(layout, item_dir), `${at}Z-repositories`),
  });
  return { item_dir, taken };
};

const keepTurnRepository = async (
  { store, log }: WithLog & WithStore,
  turn: TurnRecord,
  { why, tell }: { why: string; tell: TurnListener },
): Promise<TurnResult> => {
  const place = await keepTurn(store.layout, turn.case_id, store.clock());
  const message = `${NOT_TAKEN} completely: ${why}. The repository is kept at ${place}, and is the only copy.`;
  log.error({ case_id: turn.case_id, place }, message);
  tell([{ code: 'repository_kept', message }]);
  return { blocked: message };
};

const noticesOf = (
  { layout }: Store,
  { taken, item_dir }: { taken: ImportedTurn; item_dir: string },
): TurnNotice[] => {
  const { held, kept, notes, links, disarmed, set_ids, unseen } = taken;
  const where = (path: string): string => relative(layout.root, path);
  const places = disarmed.taken.map(
    ({ path, to }) => `${path} (its git directory is in ${where(to)})`,
  );
  const named = [
    ...links.map(pathText).filter((path) => !disarmed.taken.some((one) => one.path === path)),
    ...places,
  ];
  const mendedText = (names: readonly string[]): string =>
    `Settings or hooks of repositories inside the worktree were changed: ${names.join(', ')}. Entries that name programs were moved to ${join(item_dir, 'recovered')}.`;
  return [
    ...(held === undefined ? [] : [{ code: 'branch_held' as const, message: heldText(held) }]),
    ...keptRefsNotices(kept),
    ...ifAny('repositories_disarmed', named, linksText),
    ...ifAny('left_unseen', unseen, unseenText),
    ...notes.map((message) => ({ code: 'git_noted' as const, message })),
    ...ifAny('git_noted', disarmed.mended, mendedText),
    ...ifAny('git_noted', disarmed.removed, removedText),
    ...ifAny('git_noted', set_ids, setIdsText),
  ];
};

const ifAny = (
  code: TurnNotice['code'],
  names: readonly string[],
  textOf: (names: readonly string[]) => string,
): TurnNotice[] => (names.length === 0 ? [] : [{ code, message: textOf(names) }]);

const heldText = (why: string): string =>
  `The worktree's branch was not moved: ${why}. The turn's commits are kept under another ref; merge or cherry-pick them.`;

const linksText = (named: readonly string[]): string =>
  `The turn added repositories to the worktree: ${named.join(', ')}. Your git would run programs named in their settings, so Dossier moved their git directories, if any, away and did not stage their files. Keep or delete the files, then start again.`;

const removedText = (names: readonly string[]): string =>
  `Named pipes, sockets or devices with names of files that git reads were removed, because git would block on them: ${someOf(names)}.`;

const unseenText = (names: readonly string[]): string =>
  `Directories of the worktree were not checked, because it is too large or too deep: ${someOf(names.map(short))}. A repository there may name programs that your git runs. Check them without git, or remove them, then start again.`;

const short = (name: string): string => (name.length > 200 ? `${name.slice(0, 200)}…` : name);

const setIdsText = (names: readonly string[]): string =>
  `The set-uid and set-gid bits were removed from files: ${someOf(names)}.`;

const blockedBy = (told: readonly TurnNotice[]): string | undefined =>
  told.find(({ code }) => code === 'repositories_disarmed' || code === 'left_unseen')?.message;
