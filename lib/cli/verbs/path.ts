import { existsSync } from 'node:fs';
import { Refusal } from '../args/refusal.ts';
import { itemOf } from '../connection/item.ts';
import { noWorktree, orRefuse, verb } from './verb.ts';

/** `dossier path ITEM`: where its worktree is, and nothing else. */
export const path = verb(async ({ dossier, words, values, out }) => {
  const id = await itemOf(dossier, words[0] ?? '');
  const worktree = await orRefuse(dossier.call('GET /api/cases/{id}/worktree', { id }), {
    not_found: noWorktree(id.slice(0, 8)),
  });
  if (!existsSync(worktree.path))
    throw new Refusal(
      `Its worktree is gone: ${worktree.path} is not there. dossier open ${id.slice(0, 8)} shows what can be done`,
    );
  if (values.json === true) out.json(worktree);
  else out.say(worktree.path);
  return undefined;
});
