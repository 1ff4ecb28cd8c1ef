import { UsageError } from '../../config.ts';
import { findItem } from '../connection/item.ts';
import { findSession } from '../connection/session.ts';
import { verb } from './verb.ts';

/** `dossier say ITEM TEXT...`: sends a message to its session, or starts another one if that has ended. */
export const say = verb(async ({ dossier, words: [word = '', ...said], values, out }) => {
  const text = said.join(' ');
  if (text.trim() === '') throw new UsageError('say needs a TEXT: dossier say ITEM "…"');
  const id = await findItem(dossier, word);
  const id8 = id.slice(0, 8);
  const { id: sid, status } = await findSession(dossier, id, values.session);
  const { now, approve } = values;
  const body = { text, ...(now && { now }), ...(approve && { approve }) };
  const message = await dossier.call('POST /cases/{id}/sessions/{sid}/messages', { id, sid, body });
  if (values.json === true) return void out.json(message);
  const { session_id } = message;
  if (session_id !== sid)
    out.say(
      `Session ${sid.slice(0, 8)} has ended, so session ${session_id.slice(0, 8)} ${approve ? 'carries out your message as its plan' : 'plans with your message'}. Follow it with dossier tail ${id8}`,
    );
  else if (status === 'paused')
    out.say(`Saved for the paused session. To deliver it: dossier resume ${id8}`);
  else out.say(`Sent to session ${sid.slice(0, 8)}. Follow it with dossier tail ${id8}`);
  return undefined;
});
