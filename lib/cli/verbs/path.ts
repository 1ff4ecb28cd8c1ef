import { existsSync } from 'node:fs';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/item.ts';
import { noWorktree, verb, withRefusals } from './verb.ts';

/** `dossier path ITEM`: prints the path of its worktree. */
export const path = verb(async ({ dossier, words, values, out }) => {
  const id = await findItem(dossier, words[0] ?? '');
  const worktree = await withRefusals(dossier.call('GET /api/cases/{id}/worktree', { id }), {
    not_found: noWorktree(id.slice(0, 8)),
  });
  if (!existsSync(worktree.path))
    throw new Refusal(
      `Its worktree is missing: ${worktree.path} does not exist. dossier open ${id.slice(0, 8)} shows what you can do`,
    );
  if (values.json === true) out.json(worktree);
  else out.say(worktree.path);
  return undefined;
});
