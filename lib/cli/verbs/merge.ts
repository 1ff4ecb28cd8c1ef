import type { Worktree } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/item.ts';
import { askYesNo, isTerminal } from '../output/terminal.ts';
import { type Merge, mergeOf, refusal, uncommitted } from './merge-plan.ts';
import { commitOf, type OwnGit, refOf } from './own-git.ts';
import { noWorktree, type Verb, verb, withRefusals } from './verb.ts';

/**
 * `dossier merge ITEM`: prints the commands that merge its branch in the operator's checkout. At a terminal it asks, and this
 * process runs them: the daemon never merges.
 */
export const merge = verb(async (given) => {
  const { dossier, words, values, config } = given;
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
  if (values.json === true) return printJson(given, worktree, plan);
  return isTerminal() ? offer(given, worktree, plan) : print(given, worktree, plan);
});

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
  await perform(plan, worktree);
  out.say(`Merged ${worktree.branch} into ${plan.onto}`);
  return offerRemoval(given, worktree, plan);
};

const perform = async (plan: Merge, worktree: Worktree): Promise<void> => {
  const { checkout, steps, onto } = plan;
  // The operator may have begun something while the question stood.
  const refused = await refusal(checkout, onto);
  if (refused !== undefined) throw new Refusal(refused);
  const [first = [], ...rest] = steps;
  const why = await checkout.run(...first);
  if (why !== undefined) throw new Refusal(await takenBack(plan, worktree, why));
  for (const step of rest) {
    const failed = await checkout.run(...step);
    if (failed !== undefined)
      throw new Refusal(
        `git ${step[0]} failed: ${failed}. The merge is staged; finish it: ${checkout.typed(...step)}`,
      );
  }
};

// Takes back what the merge left, and returns why it failed. The checkout was clean before, so a change is of the merge.
const takenBack = async (
  { checkout, onto, squash, rebase }: Merge,
  { branch }: Worktree,
  why: string,
): Promise<string> => {
  const isConflict = Boolean(await checkout.read('ls-files', '--unmerged'));
  const isLeft = squash
    ? (await uncommitted(checkout, '--untracked-files=no')) > 0
    : await isMerging(checkout, branch);
  if (!isLeft) return `Nothing was merged: ${why}. Remedy that, then merge again`;
  const kept = await checkout.run(...(squash ? ['reset', '--merge'] : ['merge', '--abort']));
  if (kept !== undefined) return `The merge failed: ${why}. It could not be aborted: ${kept}`;
  if (isConflict)
    return `${branch} conflicts with ${onto}, so the merge was aborted. Rebase it first: ${rebase}`;
  return `The merge was not committed, so it was aborted: ${why}. Remedy that, then merge again`;
};

/** Whether the merge in progress is the one of this branch. */
const isMerging = async (checkout: OwnGit, branch: string): Promise<boolean> => {
  const other = await commitOf(checkout, 'MERGE_HEAD');
  return other !== undefined && other === (await commitOf(checkout, refOf(branch)));
};

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
  const kept = await checkout.run('branch', squash ? '-D' : '-d', '--', branch);
  out.say(kept === undefined ? 'Removed its worktree and its branch' : 'Removed its worktree');
  return 0;
};
