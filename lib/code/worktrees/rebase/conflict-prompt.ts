import { fenceOff } from '../../../../store/base/text.ts';
import type { ConflictFile } from '../../../../store/records/conflict.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import type { StoredConflict } from '../../../../store/sessions/conflicts.ts';
import type { WithStore } from '../../../../store/store.ts';
import { capText } from '../../../text/cap-text.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { pathText } from '../../../tools/git/run/path-text.ts';
import type { Stop } from '../../../tools/git/write/rebase.ts';
import { isRestoring, noRebase, rebaseUnderWay, stateOfRebase } from './rebase-state.ts';
import { conflictDiff, type Unmerged, unmergedFiles } from './unmerged.ts';

const MOST_CHARACTERS = 65_536;

/** The part of an agent's prompt about the conflicts: where git stopped, the files, and git's diff of them. */
export const conflictPrompt = async (
  service: WithGit & WithStore,
  worktree: WorktreeRecord,
): Promise<string> => {
  const { git } = service;
  const conflict = rebaseUnderWay(service.store, worktree.case_id);
  const state = await stateOfRebase(git.at(worktree), conflict);
  if (conflict === undefined || state === undefined) throw noRebase();
  const files = await unmergedFiles(git.at(worktree));
  const { output, truncated } = capText(
    (await conflictDiff(git.at(worktree), files)).toString('utf8'),
    MOST_CHARACTERS,
  );
  const list = files.map(toFile).map(({ path, kind }) => `${kind}  ${path}`);
  return [
    whatConflicts(conflict, state.stop),
    RULES,
    fenceOff(list.join('\n'), 'text'),
    fenceOff(output, 'diff'),
    ...(truncated ? ['The diff is shortened: git diff shows all of it.'] : []),
  ].join('\n\n');
};

const whatConflicts = (conflict: StoredConflict, { commit, number, count }: Stop): string => {
  const { branch, onto } = conflict.matter;
  if (isRestoring(conflict))
    return `The branch ${branch} was rebased onto ${onto}. Its uncommitted changes conflict with the result: git diff ${commit}^1 ${commit} shows them. "Ours" is the rebased branch, "theirs" are the uncommitted changes.`;
  return `The branch ${branch} is being rebased onto ${onto}. git stopped at commit ${number} of ${count} (${commit ?? 'unknown'}): git show ${commit ?? 'REBASE_HEAD'} shows it. "Ours" is ${onto}, "theirs" is that commit.`;
};

/** A file in conflict, as records and answers name it. */
export const toFile = ({ path, kind }: Unmerged): ConflictFile => ({
  path: pathText(path),
  kind,
});

const RULES = [
  'Resolve only these files, so that the intent of both sides is kept and no conflict marker is left. Delete a file that',
  'should not exist. For a file without markers (binary, deleted on one side, renamed, mode, link) git left one side:',
  'change, replace or delete it; if it is correct as it is, say so and name it, because the operator has to confirm it.',
  'Stage and commit nothing (no git add, no git commit, no git rebase --continue or --abort): the operator reviews the',
  'files, stages them and continues the rebase.',
].join('\n');
