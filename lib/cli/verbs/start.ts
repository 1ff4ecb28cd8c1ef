import { type Dossier, Problem, type Session } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/find.ts';
import { findOrStartInWorkspace } from '../connection/start.ts';
import { nextText, readBaseText } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

/** `dossier start ITEM [COMMENT...]`: starts a session. */
export const start = verb(async (given) => {
  const { dossier, words, values, out } = given;
  const [word, ...said] = words;
  await requireAgent(given);
  const id = await findItem(given, word);
  const { type = 'implementing', project } = values;
  if (project !== undefined) await dossier.call('PUT /cases/{id}', { id, body: { project } });
  const { session, from } = await startSession(given, id, { type, comment: said.join(' ') });
  if (values.json === true) return void out.json(session);
  out.say(
    `Session ${session.id.slice(0, 8)} of ${session.provider} is ${session.status}. ${nextText(given, session)}`,
  );
  if (from !== undefined) out.say(from);
}, findOrStartInWorkspace);

interface Started {
  session: Session;
  /** Describes the base of its worktree. */
  from: string | undefined;
}

/** Starts a session of this type on a Work item, with the provider of the options. */
export const startSession = async (
  { dossier, values, typed }: Verb,
  id: string,
  { type, comment }: { type: string; comment?: string },
): Promise<Started> => {
  const { provider, model, effort, base } = values;
  const body = { type, provider, model, effort, base, comment: comment || undefined };
  const from = await readBaseText(dossier, id, base);
  const started = dossier.call('POST /cases/{id}/sessions', { id, body });
  const session = await started.catch(async (error: unknown) => {
    if (error instanceof Problem && error.code === 'already_exists')
      throw new Refusal(inCommands(error.message, typed(`worktrees rm ${id.slice(0, 8)}`)));
    if (!(error instanceof Problem && error.code === 'no_repository')) throw error;
    const names = await usableProjects(dossier);
    const another = `To use another project: ${typed(`start ${id.slice(0, 8)} --project ${names}`)}`;
    throw new Refusal(names === '' ? error.message : `${error.message} ${another}`);
  });
  return { session, from };
};

// Replaces words of the API by commands. Only the refusal of --base beside a worktree has a call in it.
const inCommands = (message: string, removing: string): string =>
  message
    .replace('Leave out base,', 'Leave out --base,')
    .replace(/ with DELETE \/api\/cases\/\S+\/worktree\.$/, `: ${removing}`);

/** Throws a Refusal if the agent of a new session cannot be started or is not logged in, before anything is created. */
export const requireAgent = async ({ dossier, values }: Verb): Promise<void> => {
  const wanted = values.provider ?? (await dossier.call('GET /settings')).provider;
  // The list starts each agent that is installed, which takes seconds.
  if (wanted === 'runbook' || wanted === 'manual') return;
  const all = await dossier.call('GET /api/sessions/providers');
  const agent =
    values.provider === undefined ? all[0] : all.find(({ id }) => id === values.provider);
  if (agent === undefined && values.provider !== undefined)
    throw new Refusal(
      `There is no provider ${values.provider}, so nothing was created. Name one of ${all.map(({ id }) => id).join(', ')}, or add it to workspace.md`,
    );
  if (agent?.available === false)
    throw new Refusal(`${agent.id} cannot be started: ${agent.reason ?? ''} Nothing was created`);
  if (agent?.login !== 'no' || values.force === true) return;
  throw new Refusal(
    `${agent.id} does not seem to be logged in, so nothing was created. Log in with the agent itself, or start the daemon with its API key in the environment. To start it anyway, use --force`,
  );
};

/** The projects that have a repository on this machine. */
const usableProjects = async (dossier: Dossier): Promise<string> => {
  const { projects } = await dossier.call('GET /settings');
  return projects.flatMap(({ name, repository }) => (repository ? [name] : [])).join(' or ');
};
