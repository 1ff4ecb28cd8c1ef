import { shellQuoted } from '../../../store/base/text.ts';
import type { Case, Worktree } from '../../client/client.ts';
import { caseIdOfLockReason } from '../../code/worktrees/create/names.ts';
import { counted } from '../../text/wording.ts';
import { operationInProgress } from '../../tools/git/write/commit.ts';
import {
  LIST_WORKTREES,
  type ListedWorktree,
  parseWorktrees,
} from '../../tools/git/write/worktree.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem, listSessions } from '../connection/find.ts';
import { askYesNo, isTerminal } from '../output/terminal.ts';
import {
  branchWord,
  checkedOut,
  commitOf,
  localName,
  type OwnGit,
  ownGit,
  refOf,
  uncommitted,
} from './own-git.ts';
import { failureOf, stateBefore, takeBack } from './undo-merge.ts';
import { noWorktree, type Verb, verb, withRefusals } from './verb.ts';

/**
 * `dossier merge ITEM`: prints the commands that merge its branch in the operator's checkout. At a terminal it asks, and this
 * process runs them: the daemon never merges.
 */
export const merge = verb(async (given) => {
  const { dossier, words, values, config } = given;
  const id = await findItem(given, words[0]);
  const { title, merged } = await dossier.call('GET /cases/{id}', { id });
  const worktree = await withRefusals(dossier.call('GET /api/cases/{id}/worktree', { id }), {
    not_found: async () =>
      merged === undefined
        ? branchAlone(given, id)
        : `Nothing to merge: ${merged.into} has all changes of its branch, and its worktree was removed`,
  });
  const squash = values.squash === true;
  const plan = await mergeOf(worktree, { title, env: config.env, squash, merged });
  if (values.json === true) return printJson(given, worktree, plan);
  return isTerminal() ? offer(given, worktree, plan) : print(given, worktree, plan);
});

// The removal of a worktree leaves its branch. Of work on another machine, git brought neither.
const branchAlone = async (given: Verb, id: string): Promise<string> => {
  const { dossier, config } = given;
  const sessions = await listSessions(dossier, id);
  const branch = sessions.findLast(({ commit }) => typeof commit?.id === 'string')?.branch ?? null;
  if (branch === null) return noWorktree(given, id);
  const { projects } = await dossier.call('GET /settings');
  for (const { place } of projects)
    if ((await commitOf(ownGit(place, config.env), refOf(branch))) !== undefined)
      return `The worktree was removed; the work is on the branch ${branch}. Merge it in your checkout: git merge --no-edit ${shellQuoted(branch)}`;
  return `There is no worktree and no branch ${branch} on this machine. Merge it on the machine that has it, or push it there and merge it here once you fetched it`;
};

// Pasted now, the commands of a refused merge would merge into another branch: they are not printed.
const printJson = ({ out }: Verb, { branch }: Worktree, plan: Merge): undefined => {
  const { onto, refused } = plan;
  out.json({ branch, onto, commands: refused === undefined ? commandsOf(plan) : [], refused });
  if (refused !== undefined) throw new Refusal(refused);
};

const print = ({ out }: Verb, { branch }: Worktree, plan: Merge): undefined => {
  if (!isTerminal() && plan.refused !== undefined) throw new Refusal(plan.refused);
  for (const line of plan.notes) out.say({ style: 'yellow', text: line });
  out.say(`To merge ${branch} into ${plan.onto}:`);
  for (const command of commandsOf(plan)) out.say(`  ${command}`);
};

const commandsOf = ({ steps, checkout }: Merge): string[] =>
  steps.map((step) => checkout.typed(...step));

const offer = async (given: Verb, worktree: Worktree, plan: Merge): Promise<number> => {
  const { out } = given;
  print(given, worktree, plan);
  if (plan.refused !== undefined) throw new Refusal(plan.refused);
  if (!(await askYesNo('Run it now?'))) {
    out.say('Nothing was merged.');
    return 1;
  }
  const tip = await perform(plan, worktree);
  out.say(`Merged ${worktree.branch} into ${plan.onto}`);
  return offerRemoval(given, worktree, { ...plan, tip });
};

/** Returns the commit of the branch that was merged. */
const perform = async (plan: Merge, { branch }: Worktree): Promise<string> => {
  const { checkout, steps, onto, squash } = plan;
  // The operator may have begun something while the question stood.
  const refused = await refusal(checkout, onto);
  if (refused !== undefined) throw new Refusal(refused);
  const tip = await commitOf(checkout, refOf(branch));
  if (tip === undefined) throw new Refusal(`Nothing to merge: there is no branch ${branch}`);
  const before = await stateBefore(checkout, tip);
  const [first = [], ...rest] = steps;
  const mergedQuery = ['merge-base', '--is-ancestor', tip, 'HEAD'];
  const why = await failureOf(checkout, first, before, mergedQuery);
  if (why !== undefined) throw new Refusal(await takeBack({ ...plan, branch, tip, before }, why));
  if (squash && (await checkout.read(...NOTHING_STAGED_QUERY)) !== undefined) {
    // The operator's next commit would begin with the SQUASH_MSG that git wrote.
    const kept = await checkout.run('reset', '--merge');
    const nothing = `Nothing to merge: ${onto} has all changes of ${branch}`;
    throw new Refusal(kept === undefined ? nothing : `${nothing}. git reset failed: ${kept}`);
  }
  for (const step of rest) {
    const failed = await failureOf(checkout, step, before, NOTHING_STAGED_QUERY);
    if (failed !== undefined)
      throw new Refusal(
        `git ${step[0]} failed: ${failed}. The merge is staged; finish it: ${checkout.typed(...step)}`,
      );
  }
  return tip;
};

const NOTHING_STAGED_QUERY = ['diff', '--cached', '--quiet', '--ignore-submodules=none'];

// git does not know that a squashed branch is merged, so deleting it needs -D.
const offerRemoval = async (
  { dossier, out, config }: Verb,
  worktree: Worktree,
  { checkout, squash, tip }: Merge & { tip: string },
): Promise<number> => {
  const { case_id, attached, branch, path } = worktree;
  if (attached || !(await askYesNo('Remove its worktree and its branch?'))) return 0;
  // The branch may have moved since it was merged.
  const isMerged = async () => squash && (await commitOf(checkout, refOf(branch))) === tip;
  const notes = await notMerged(ownGit(path, config.env), worktree);
  // git does not know that the commits are merged; what is not merged stays a reason to refuse.
  const force = (await isMerged()) && notes.length === 0;
  await dossier.call('DELETE /api/cases/{id}/worktree', { id: case_id, query: { force } });
  const kept = await checkout.run('branch', (await isMerged()) ? '-D' : '-d', '--', branch);
  out.say(kept === undefined ? 'Removed its worktree and its branch' : 'Removed its worktree');
  return 0;
};

/** How a branch is merged. */
interface Merge {
  /** The checkout that has the base, or else the main one of the repository. */
  checkout: OwnGit;
  onto: string;
  /** The command that rebases the branch in its worktree. */
  rebase: string;
  steps: string[][];
  /** Warnings to print before. */
  notes: string[];
  /** Why the commands cannot be run now. */
  refused: string | undefined;
  squash: boolean;
}

interface Wanted {
  title: string;
  env: NodeJS.ProcessEnv;
  squash: boolean;
  merged: Case['merged'];
}

/** How the branch of a worktree is merged into its base. Throws a Refusal if it cannot be merged. */
const mergeOf = async (
  worktree: Worktree,
  { title, env, squash, merged }: Wanted,
): Promise<Merge> => {
  const { path, branch, base, case_id } = worktree;
  const there = ownGit(path, env);
  const listed = parseWorktrees((await there.read(...LIST_WORKTREES)) ?? '');
  const [main] = listed;
  if (main === undefined)
    throw new Refusal(
      `Its worktree is missing: git finds none at ${path}. Merge its branch in your checkout: git merge --no-edit ${shellQuoted(branch)}`,
    );
  const onto = await branchFor(ownGit(main.path, env), base);
  if (onto === undefined) throw new Refusal(await withoutBranch(ownGit(main.path, env), worktree));
  const checkout = ownGit(checkoutOf(listed, main, onto), env);
  const notes = await notMerged(there, worktree);
  const nothing = await whyNothing(checkout, { branch, onto, merged });
  if (nothing !== undefined) throw new Refusal([nothing, ...notes].join('. '));
  const word = await branchWord(checkout, branch);
  const options = await overSettings(checkout, onto, squash);
  const steps = squash
    ? [
        ['merge', '--squash', ...options, word],
        ['commit', '-m', title, '-m', `Dossier-Case: ${case_id}`],
      ]
    : [['merge', '--no-edit', ...options, word]];
  const rebase = there.typed('rebase', await branchWord(checkout, onto));
  return { checkout, onto, rebase, steps, notes, squash, refused: await refusal(checkout, onto) };
};

/** What of the worktree a merge of its branch leaves out. */
const notMerged = async (there: OwnGit, { path, branch }: Worktree): Promise<string[]> => {
  // Whatever the settings hide.
  const left = await uncommitted(there, '--untracked-files=normal', '--ignore-submodules=none');
  const at = await checkedOut(there);
  return [
    ...(left === 0 ? [] : [`${counted(left, 'uncommitted file')} in ${path}: not merged`]),
    ...(at === branch ? [] : [`${path} has ${at} checked out: only ${branch} is merged`]),
  ];
};

// The operator's own options can leave a merge without its commit, which git calls a success, and exclude --squash.
const overSettings = async (git: OwnGit, onto: string, squash: boolean): Promise<string[]> => {
  const own = await git.read('config', '--get-all', `branch.${onto}.mergeOptions`);
  const ff = squash ? await git.read('config', 'merge.ff') : undefined;
  if ((own ?? ff) === undefined) return [];
  return squash ? ['--no-commit', '--ff'] : ['--commit', '--no-squash'];
};

// A linked worktree may have the base: then it cannot be checked out in the main one, and a bare repository has no other.
const checkoutOf = (
  listed: readonly ListedWorktree[],
  main: ListedWorktree,
  onto: string,
): string => {
  const holder = listed.find(({ branch, prunable }) => branch === onto && !prunable);
  if (holder !== undefined && caseIdOfLockReason(holder.locked ?? '') !== undefined)
    throw new Refusal(
      `${onto} is checked out in ${holder.path}, the worktree of another Work item, so nothing was merged. Merge by hand there while no session uses it`,
    );
  if (holder !== undefined || !main.bare) return (holder ?? main).path;
  throw new Refusal(
    `${main.path} is a bare repository, and no worktree has ${onto} checked out, so nothing was merged. Create one first with git worktree add`,
  );
};

const whyNothing = async (
  checkout: OwnGit,
  { branch, onto, merged }: Pick<Wanted, 'merged'> & { branch: string; onto: string },
): Promise<string | undefined> => {
  const tip = await commitOf(checkout, refOf(branch));
  if (tip === undefined) return `Nothing to merge: there is no branch ${branch}`;
  const range = `${refOf(onto)}..${refOf(branch)}`;
  const commits = await checkout.read('rev-list', '--count', range, '--');
  if (commits === undefined)
    return `git rev-list failed in ${checkout.directory}, so nothing was merged. Run it to see why: ${checkout.typed('rev-list', '--count', range, '--')}`;
  if (commits === '0') return `Nothing to merge: ${branch} has no commits beyond ${onto}`;
  // After a squash, git does not know that.
  return tip === merged?.commit
    ? `Nothing to merge: ${onto} has all changes of ${branch}`
    : undefined;
};

// For a remote-tracking base, the local branch of the same name.
const branchFor = async (checkout: OwnGit, base: string): Promise<string | undefined> => {
  for (const name of [base, await localName(checkout, base)])
    if ((await commitOf(checkout, refOf(name))) !== undefined) return name;
  return undefined;
};

const withoutBranch = async (checkout: OwnGit, { base, branch }: Worktree): Promise<string> => {
  if ((await commitOf(checkout, `refs/remotes/${base}`)) === undefined)
    return `Its base ${base} is not a branch here. Check out the branch to merge into, then run: ${checkout.typed('merge', await branchWord(checkout, branch))}`;
  const local = await localName(checkout, base);
  return `Its base ${base} is a remote-tracking branch. Create a local one, then merge again: ${checkout.typed('branch', '--track', local, base)}`;
};

/** Why nothing can be merged in this checkout now, or undefined. */
const refusal = async (checkout: OwnGit, onto: string): Promise<string | undefined> => {
  const { directory } = checkout;
  const at = await checkedOut(checkout);
  if (at !== onto) {
    const words = onto.startsWith('-') ? ['--', onto] : [onto];
    return `${directory} has ${at} checked out, not ${onto}, so nothing was merged. Run ${checkout.typed('switch', ...words)} first`;
  }
  const git_dir = await checkout.read('rev-parse', '--absolute-git-dir');
  if (git_dir === undefined) return `git rev-parse failed in ${directory}, so nothing was merged`;
  // Its result may equal HEAD, where git status lists no file.
  const busy = operationInProgress({ git_dir }, ['BISECT_LOG']);
  if (busy !== undefined) return `Nothing was merged in ${directory}: ${busy}`;
  const left = await uncommitted(checkout, '--untracked-files=no');
  if (left > 0)
    return `${counted(left, 'uncommitted file')} in ${directory}, so nothing was merged. Commit or stash them first`;
  return undefined;
};
