import { itemOf } from '../reach/item.ts';
import { verb } from './verb.ts';

/** `dossier path ITEM`: where its worktree is, and nothing else. */
export const path = verb(async ({ dossier, words, values, out }) => {
  const id = await itemOf(dossier, words[0] ?? '');
  const worktree = await dossier.call('GET /api/cases/{id}/worktree', { id });
  if (values.json === true) out.json(worktree);
  else out.say(worktree.path);
  return undefined;
});
