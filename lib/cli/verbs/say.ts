import { UsageError } from '../../config.ts';
import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import { verb } from './verb.ts';

/** `dossier say ITEM TEXT...`: a message to its session; to one that has ended it begins another. */
export const say = verb(async ({ dossier, words: [word = '', ...said], values, out }) => {
  const text = said.join(' ');
  if (text.trim() === '') throw new UsageError('say needs what you say: dossier say ITEM "…"');
  const id = await itemOf(dossier, word);
  const id8 = id.slice(0, 8);
  const { id: sid, status } = await sessionOf(dossier, id, values.session);
  const { now, approve } = values;
  const body = { text, ...(now && { now }), ...(approve && { approve }) };
  const message = await dossier.call('POST /cases/{id}/sessions/{sid}/messages', { id, sid, body });
  if (values.json === true) return void out.json(message);
  const { session_id } = message;
  if (session_id !== sid)
    out.say(
      `Session ${sid.slice(0, 8)} has ended: session ${session_id.slice(0, 8)} ${approve ? 'works from your message as its plan' : 'plans with your message'}; dossier tail ${id8} shows it`,
    );
  else if (status === 'paused')
    out.say(`Kept: the agent reads it once the session is resumed: dossier resume ${id8}`);
  else out.say(`Sent to session ${sid.slice(0, 8)}; dossier tail ${id8} shows when it is read`);
  return undefined;
});
