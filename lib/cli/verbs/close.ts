import { findItem } from '../connection/item.ts';
import { ask, isTerminal } from '../output/terminal.ts';
import { verb } from './verb.ts';

/** `dossier close ITEM`: sets NON_ISSUE. RESOLVED is reached only by the proof gate. */
export const close = verb(async ({ dossier, words, values, out }) => {
  const id = await findItem(dossier, words[0] ?? '');
  const { outcome } = values;
  const body = { state: 'NON_ISSUE' as const, ...(outcome !== undefined && { outcome }) };
  const item = await dossier.call('PUT /cases/{id}/state', { id, body });
  if (values.json === true) out.json(item);
  else out.say(`Closed ${item.title}: ${item.outcome}`);
  return undefined;
});

/** `dossier reopen ITEM`: sets OPEN, so that a session can start. */
export const reopen = verb(async ({ dossier, words, values, out }) => {
  const id = await findItem(dossier, words[0] ?? '');
  const item = await dossier.call('PUT /cases/{id}/state', { id, body: { state: 'OPEN' } });
  if (values.json === true) out.json(item);
  else out.say(`Reopened ${item.title}`);
  return undefined;
});

/** `dossier rm ITEM`: deletes it with its worktree. Without `--force` it is refused if work would be lost. */
export const remove = verb(async ({ dossier, words, values, out }) => {
  const id = await findItem(dossier, words[0] ?? '');
  const { title } = await dossier.call('GET /cases/{id}', { id });
  if (isTerminal() && values.json !== true) {
    const said = await ask(`Delete ${title} and everything that belongs to it? Type yes: `);
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
