import { type Dossier, Problem, type Session } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';
import { itemOf } from '../connection/item.ts';
import { daemonOrStart } from '../connection/start.ts';
import { baseLine } from './failures.ts';
import { type Verb, verb } from './verb.ts';

/** `dossier start ITEM [COMMENT...]`: a session, that plans first. */
export const start = verb(async (given) => {
  const { dossier, words, values, out } = given;
  const [word = '', ...said] = words;
  await refuseAgent(given);
  const id = await itemOf(dossier, word);
  const { type = 'implementing', project } = values;
  if (project !== undefined) await dossier.call('PUT /cases/{id}', { id, body: { project } });
  const { session, from } = await begin(given, id, { type, comment: said.join(' ') });
  if (values.json === true) return void out.json(session);
  out.say(
    `Session ${session.id.slice(0, 8)} of ${session.provider} is ${session.status}; dossier tail ${id.slice(0, 8)} shows it`,
  );
  if (from !== undefined) out.say(from);
  return undefined;
}, daemonOrStart);

interface Started {
  session: Session;
  /** What its worktree begins from. */
  from: string | undefined;
}

/** Begins a session of this type on a Work item, by whom the options say. */
export const begin = async (
  { dossier, values }: Verb,
  id: string,
  { type, comment }: { type: string; comment?: string },
): Promise<Started> => {
  const { provider, model, effort, base } = values;
  const body = { type, provider, model, effort, base, comment: comment || undefined };
  const from = await baseLine(dossier, id, base);
  const begun = dossier.call('POST /cases/{id}/sessions', { id, body });
  const session = await begun.catch(async (error: unknown) => {
    if (!(error instanceof Problem && error.code === 'no_repository')) throw error;
    throw new Refusal(
      `${error.message} To choose another project: dossier start ${id.slice(0, 8)} --project ${await namesOf(dossier)}`,
    );
  });
  return { session, from };
};

/** Throws a Refusal where the agent of a new session cannot be started or is not logged in: before anything is made. */
export const refuseAgent = async ({ dossier, values }: Verb): Promise<void> => {
  if (values.provider === 'runbook' || values.provider === 'manual') return;
  const all = await dossier.call('GET /api/sessions/providers');
  const agent =
    values.provider === undefined ? all[0] : all.find(({ id }) => id === values.provider);
  if (agent === undefined && values.provider !== undefined)
    throw new Refusal(
      `There is no provider ${values.provider}. Name one of ${all.map(({ id }) => id).join(', ')}, or add it to workspace.md. Nothing was made`,
    );
  if (agent?.available === false)
    throw new Refusal(`${agent.id} cannot be started: ${agent.reason ?? ''} Nothing was made`);
  if (agent?.login !== 'no' || values.force === true) return;
  throw new Refusal(
    `${agent.id} is not logged in, as far as files and variables show. Log in with the agent itself once, or start the daemon with its key in the environment; --force starts it all the same. Nothing was made`,
  );
};

const namesOf = async (dossier: Dossier): Promise<string> => {
  const { projects } = await dossier.call('GET /settings');
  return projects.map(({ name }) => name).join(' or ') || 'NAME';
};
