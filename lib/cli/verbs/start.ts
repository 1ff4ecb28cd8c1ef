import { Problem } from '../../client/client.ts';
import { Refusal } from '../line/refusal.ts';
import { itemOf } from '../reach/item.ts';
import { daemonOrStart } from '../reach/start.ts';
import { verb } from './verb.ts';

/** `dossier start ITEM [COMMENT...]`: a session, that plans first. */
export const start = verb(async ({ dossier, words: [word = '', ...said], values, out }) => {
  const id = await itemOf(dossier, word);
  const { provider, model, effort, type = 'implementing' } = values;
  const body = { type, provider, model, effort, comment: said.join(' ') || undefined };
  const begun = dossier.call('POST /cases/{id}/sessions', { id, body });
  const session = await begun.catch((error: unknown) => {
    if (!(error instanceof Problem && error.code === 'no_repository')) throw error;
    throw new Refusal(
      `${error.message} Or give the Work item another project: on its page (dossier open ${id.slice(0, 8)}), or as project in its case.md`,
    );
  });
  if (values.json === true) out.json(session);
  else
    out.say(
      `Session ${session.id.slice(0, 8)} of ${session.provider} is ${session.status}; dossier tail ${id.slice(0, 8)} shows it`,
    );
  return undefined;
}, daemonOrStart);
