import { shellQuoted } from '../../../store/base/text.ts';
import type { Case, Worktree } from '../../client/client.ts';
import { counted } from '../../text/wording.ts';
import { operationInProgress } from '../../tools/git/write/commit.ts';
import { outputOf, runAtTerminal } from '../../tools/process/terminal.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/item.ts';
import { askYesNo, isTerminal } from '../output/terminal.ts';
import { noWorktree, type Verb, verb, withRefusals } from './verb.ts';

/**
 * `dossier merge ITEM`: prints the commands that merge its branch in the operator's checkout. At a terminal it asks, and this
 * process runs them: the daemon never merges.
 */
export const merge = verb(async (given) => {
  const { dossier, words, values, out, config } = given;
  const id = await findItem(dossier, words[0] ?? '');
  const { title, merged } = await dossier.call('GET /cases/{id}', { id });
  const worktree = await withRefusals(dossier.call('GET /api/cases/{id}/worktree', { id }), {
    not_found:
      merged === undefined
        ? noWorktree(id.slice(0, 8))
        : `Nothing to merge: ${merged.into} has all changes of its branch, and its worktree was removed`,
  });
  const squash = values.squash === true;
  const plan = await mergeOf(worktree, { title, env: config.env, squash, merged });
  const commands = plan.steps.map((step) => plan.checkout.typed(...step));
  const { branch } = worktree;
  if (values.json === true) return void out.json({ branch, onto: plan.onto, commands });
  // Pasted now, the commands would merge into another branch.
  if (!isTerminal() && plan.refused !== undefined) throw new Refusal(plan.refused);
  for (const line of plan.notes) out.say({ style: 'yellow', text: line });
  out.say(`To merge ${branch} into ${plan.onto}:`);
  for (const command of commands) out.say(`  ${command}`);
  if (!isTerminal()) return undefined;
  if (plan.refused !== undefined) throw new Refusal(plan.refused);
  if (!(await askYesNo('Run it now?'))) {
    out.say('Nothing was merged.');
    return 1;
  }
  await perform(plan, worktree);
  out.say(`Merged ${branch} into ${plan.onto}`);
  return offerRemoval(given, worktree, plan);
});

interface Merge {
  /** The main checkout of the repository. */
  checkout: OwnGit;
  onto: string;
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

const mergeOf = async (
  worktree: Worktree,
  { title, env, squash, merged }: Wanted,
): Promise<Merge> => {
  const { path, branch, base, case_id } = worktree;
  const there = ownGit(path, env);
  const listed = await there.read('worktree', 'list', '--porcelain', '-z');
  const [root] = /(?<=^worktree )[^\0]+/.exec(listed ?? '') ?? [];
  if (root === undefined) throw new Refusal(`Its worktree is missing: git finds none at ${path}`);
  const checkout = ownGit(root, env);
  const onto = await branchFor(checkout, base);
  if (onto === undefined)
    throw new Refusal(`Its base ${base} is not a branch here. Merge ${branch} by hand`);
  const left = await uncommitted(there);
  const notes = left === 0 ? [] : [`${counted(left, 'uncommitted file')} in ${path}: not merged`];
  const nothing = await whyNothing(checkout, { branch, onto, merged });
  if (nothing !== undefined) throw new Refusal([nothing, ...notes].join('. '));
  const steps = squash
    ? [
        ['merge', '--squash', branch],
        ['commit', '-m', title, '-m', `Dossier-Case: ${case_id}`],
      ]
    : [['merge', '--no-edit', branch]];
  return { checkout, onto, steps, notes, squash, refused: await refusal(checkout, onto) };
};

const whyNothing = async (
  checkout: OwnGit,
  { branch, onto, merged }: Pick<Wanted, 'merged'> & { branch: string; onto: string },
): Promise<string | undefined> => {
  const commits = await checkout.read('rev-list', '--count', `${onto}..${branch}`);
  if (commits === undefined || commits === '0')
    return `Nothing to merge: ${branch} has no commits beyond ${onto}`;
  if (merged === undefined) return undefined;
  // After a squash, git does not know that.
  const tip = await commitOf(checkout, `refs/heads/${branch}`);
  if (tip !== merged.commit) return undefined;
  return `Nothing to merge: ${onto} has all changes of ${branch}`;
};

// For a remote-tracking base, the local branch of the same name.
const branchFor = async (checkout: OwnGit, base: string): Promise<string | undefined> => {
  for (const name of [base, base.replace(/^[^/]+\//, '')])
    if ((await commitOf(checkout, `refs/heads/${name}`)) !== undefined) return name;
  return undefined;
};

const refusal = async (checkout: OwnGit, onto: string): Promise<string | undefined> => {
  const { directory } = checkout;
  const at = await checkout.read('symbolic-ref', '--quiet', '--short', 'HEAD');
  if (at !== onto)
    return `${directory} has ${at ?? 'no branch'} checked out, not ${onto}, so nothing was merged. Run ${checkout.typed('switch', onto)} first`;
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

const uncommitted = async (git: OwnGit, ...more: string[]): Promise<number> => {
  const said = await git.read('status', '--porcelain', ...more);
  if (said === undefined) throw new Refusal('git status failed');
  return said.split('\n').filter(Boolean).length;
};

const perform = async (plan: Merge, worktree: Worktree): Promise<void> => {
  const { checkout, steps, onto } = plan;
  // The operator may have begun something while the question stood.
  const refused = await refusal(checkout, onto);
  if (refused !== undefined) throw new Refusal(refused);
  const [first = [], ...rest] = steps;
  if (!(await checkout.run(...first))) throw new Refusal(await takenBack(plan, worktree));
  for (const step of rest)
    if (!(await checkout.run(...step)))
      throw new Refusal(`git ${step[0]} failed. The merge is staged; finish it by hand`);
};

const takenBack = async (
  { checkout, onto, squash }: Merge,
  { branch, path }: Worktree,
): Promise<string> => {
  const abort = squash ? ['reset', '--merge'] : ['merge', '--abort'];
  const isOurs = squash
    ? (await uncommitted(checkout, '--untracked-files=no')) > 0
    : await isMerging(checkout, branch);
  if (isOurs) await checkout.run(...abort);
  return `${branch} conflicts with ${onto}, so the merge was aborted. Rebase it first: ${ownGit(path, {}).typed('rebase', onto)}`;
};

/** Whether the merge in progress is the one of this branch. */
const isMerging = async (checkout: OwnGit, branch: string): Promise<boolean> => {
  const other = await commitOf(checkout, 'MERGE_HEAD');
  return other !== undefined && other === (await commitOf(checkout, `refs/heads/${branch}`));
};

const commitOf = (git: OwnGit, name: string): Promise<string | undefined> =>
  git.read('rev-parse', '--verify', '--quiet', name);

// git does not know that a squashed branch is merged, so deleting it needs -D.
const offerRemoval = async (
  { dossier, out }: Verb,
  { case_id, attached, branch }: Worktree,
  { checkout, squash, notes }: Merge,
): Promise<number> => {
  if (attached || !(await askYesNo('Remove its worktree and its branch?'))) return 0;
  // git does not know that the commits are merged; uncommitted files were named as not merged, and stay a reason to refuse.
  const query = { force: squash && notes.length === 0 };
  await dossier.call('DELETE /api/cases/{id}/worktree', { id: case_id, query });
  const removed = await checkout.run('branch', squash ? '-D' : '-d', branch);
  out.say(removed ? 'Removed its worktree and its branch' : 'Removed its worktree');
  return 0;
};

/** The operator's own git in a checkout, with their settings, hooks and signing. */
interface OwnGit {
  directory: string;
  /** Returns the output; undefined if git fails. */
  read(...args: string[]): Promise<string | undefined>;
  /** Runs git at the terminal; true if it succeeds. */
  run(...args: string[]): Promise<boolean>;
  /** The command line, quoted for a shell. */
  typed(...args: string[]): string;
}

const ownGit = (directory: string, env: NodeJS.ProcessEnv): OwnGit => ({
  directory,
  read: (...args) => outputOf('git', ['-C', directory, ...args], env),
  run: async (...args) => (await runAtTerminal('git', ['-C', directory, ...args], env)) === 0,
  typed: (...args) => ['git', '-C', directory, ...args].map(shellQuoted).join(' '),
});
