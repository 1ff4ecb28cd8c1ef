import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import { verb } from './verb.ts';

/** `dossier revise ITEM [COMMENT...]`: without a comment, what comments.md says that was not sent yet. */
export const revise = verb(async ({ dossier, words: [word = '', ...said], values, out }) => {
  const id = await itemOf(dossier, word);
  const { id: sid } = await sessionOf(dossier, id, values.session);
  const body = said.length === 0 ? {} : { comment: said.join(' ') };
  const session = await dossier.call('POST /cases/{id}/sessions/{sid}/revise', { id, sid, body });
  if (values.json === true) out.json(session);
  else out.say(`The plan was sent back; session ${sid.slice(0, 8)} is ${session.status}`);
  return undefined;
});
