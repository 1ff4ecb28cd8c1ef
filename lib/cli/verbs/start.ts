import { itemOf } from '../reach/item.ts';
import { daemonOrStart } from '../reach/start.ts';
import { verb } from './verb.ts';

/** `dossier start ITEM [COMMENT...]`: a session, that plans first. */
export const start = verb(async ({ dossier, words: [word = '', ...said], values, out }) => {
  const id = await itemOf(dossier, word);
  const { provider, model, effort, type = 'implementing' } = values;
  const session = await dossier.call('POST /cases/{id}/sessions', {
    id,
    body: { type, provider, model, effort, comment: said.join(' ') || undefined },
  });
  if (values.json === true) out.json(session);
  else
    out.say(
      `Session ${session.id.slice(0, 8)} of ${session.provider} is ${session.status}; dossier tail ${id.slice(0, 8)} shows it`,
    );
  return undefined;
}, daemonOrStart);
