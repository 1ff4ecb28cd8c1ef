import type { Session } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/item.ts';
import { listSessions } from '../connection/session.ts';
import { ask, isTerminal } from '../output/terminal.ts';
import { statusText } from './session-text.ts';
import { itemCommand, verb } from './verb.ts';

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

// These hold the worktree.
const ACTIVE: ReadonlySet<Session['status']> = new Set(['planning', 'plan_ready', 'working']);

/**
 * `dossier rm ITEM`: deletes it with its worktree. Without `--force` it is refused if work would be lost; without a terminal, if
 * ITEM is not an id.
 */
export const remove = verb(async ({ dossier, words: [word = ''], values, out, config }) => {
  const id = await findItem(dossier, word);
  const { title } = await dossier.call('GET /cases/{id}', { id });
  const isAsked = isTerminal() && values.json !== true;
  if (!isAsked && !(word.length >= 8 && id.startsWith(word.toLowerCase())))
    throw new Refusal(
      `Nothing was deleted, because you cannot be asked whether ${word} is meant. Give its id: dossier rm ${id.slice(0, 8)}`,
    );
  const active = (await listSessions(dossier, id)).find(({ status }) => ACTIVE.has(status));
  if (active !== undefined)
    throw new Refusal(
      `${title} has a session that is ${statusText(active)}, so nothing was deleted. Abort it first: ${itemCommand({ config }, id)('abort')}`,
    );
  if (isAsked) {
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
