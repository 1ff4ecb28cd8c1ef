import { itemOf } from '../connection/item.ts';
import { ask, isTerminal } from '../output/terminal.ts';
import { verb } from './verb.ts';

/** `dossier close ITEM`: it needs no work any more. RESOLVED is what its proof gate says, and nobody else. */
export const close = verb(async ({ dossier, words, values, out }) => {
  const id = await itemOf(dossier, words[0] ?? '');
  const { outcome } = values;
  const body = { state: 'NON_ISSUE' as const, ...(outcome !== undefined && { outcome }) };
  const item = await dossier.call('PUT /cases/{id}/state', { id, body });
  if (values.json === true) out.json(item);
  else out.say(`Closed ${item.title}: ${item.outcome}`);
  return undefined;
});

/** `dossier reopen ITEM`: it is OPEN again, and a session can begin. */
export const reopen = verb(async ({ dossier, words, values, out }) => {
  const id = await itemOf(dossier, words[0] ?? '');
  const item = await dossier.call('PUT /cases/{id}/state', { id, body: { state: 'OPEN' } });
  if (values.json === true) out.json(item);
  else out.say(`Reopened ${item.title}`);
  return undefined;
});

/** `dossier rm ITEM`: deletes it with its worktree. Work that would be lost is refused without `--force`. */
export const remove = verb(async ({ dossier, words, values, out }) => {
  const id = await itemOf(dossier, words[0] ?? '');
  const { title } = await dossier.call('GET /cases/{id}', { id });
  if (isTerminal() && values.json !== true) {
    const said = await ask(`Delete ${title} and all that belongs to it? Type yes: `);
    if (said !== 'yes') {
      out.say('Nothing was deleted.');
      return 1;
    }
  }
  await dossier.call('DELETE /cases/{id}', { id, query: { force: values.force === true } });
  if (values.json === true) out.json({ id, title });
  else out.say(`Deleted ${title}`);
  return undefined;
});
