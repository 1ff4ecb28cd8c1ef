import { type Dossier, Problem } from '../../client/client.ts';
import { Refusal } from '../line/refusal.ts';
import { itemOf } from '../reach/item.ts';
import { daemonOrStart } from '../reach/start.ts';
import { baseLine } from './base-line.ts';
import { verb } from './verb.ts';

/** `dossier start ITEM [COMMENT...]`: a session, that plans first. */
export const start = verb(async ({ dossier, words: [word = '', ...said], values, out }) => {
  const id = await itemOf(dossier, word);
  const { provider, model, effort, base, type = 'implementing', project } = values;
  if (project !== undefined) await dossier.call('PUT /cases/{id}', { id, body: { project } });
  const body = { type, provider, model, effort, base, comment: said.join(' ') || undefined };
  const from = await baseLine(dossier, id, base);
  const begun = dossier.call('POST /cases/{id}/sessions', { id, body });
  const session = await begun.catch(async (error: unknown) => {
    if (!(error instanceof Problem && error.code === 'no_repository')) throw error;
    throw new Refusal(
      `${error.message} To choose another project: dossier start ${id.slice(0, 8)} --project ${await namesOf(dossier)}`,
    );
  });
  if (values.json === true) return void out.json(session);
  out.say(
    `Session ${session.id.slice(0, 8)} of ${session.provider} is ${session.status}; dossier tail ${id.slice(0, 8)} shows it`,
  );
  if (from !== undefined) out.say(from);
  return undefined;
}, daemonOrStart);

const namesOf = async (dossier: Dossier): Promise<string> => {
  const { projects } = await dossier.call('GET /settings');
  return projects.map(({ name }) => name).join(' or ') || 'NAME';
};
