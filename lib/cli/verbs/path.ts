import { itemOf } from '../reach/item.ts';
import { noWorktree, orRefuse, verb } from './verb.ts';

/** `dossier path ITEM`: where its worktree is, and nothing else. */
export const path = verb(async ({ dossier, words, values, out }) => {
  const id = await itemOf(dossier, words[0] ?? '');
  const worktree = await orRefuse(dossier.call('GET /api/cases/{id}/worktree', { id }), {
    not_found: noWorktree(id.slice(0, 8)),
  });
  if (values.json === true) out.json(worktree);
  else out.say(worktree.path);
  return undefined;
});
