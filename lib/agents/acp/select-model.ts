import type { Offers } from '../../../store/records/provider.ts';
import { list, record } from '../../text/unknown-json.ts';
import { type ModelChoice, notOffered } from '../model-choice.ts';
import type { AgentConnection } from './connection.ts';
import { selectIn } from './offers.ts';
import { AgentError, type OpenSession } from './session.ts';

/**
 * Sets model and effort of a session before its first prompt, and returns the updated session. Never sends a value that the
 * agent does not list: some agents (Gemini CLI) accept any value and fail later.
 */
export const chooseModel = async (
  agent: AgentConnection,
  session: OpenSession,
  { model, effort }: ModelChoice,
  who: string,
): Promise<OpenSession> => {
  // The efforts depend on the model.
  const withModel = await setOne(agent, session, 'model', { who, wanted: model });
  return setOne(agent, withModel, 'effort', { who, wanted: effort });
};

const setOne = async (
  agent: AgentConnection,
  session: OpenSession,
  what: keyof ModelChoice,
  { who, wanted }: { who: string; wanted: string | undefined },
): Promise<OpenSession> => {
  if (wanted === undefined) return session;
  const select = selectIn(session.opened, what);
  const offers: Offers = { [`${what}s`]: select?.options ?? [] };
  const refused = notOffered(who, offers, { [what]: wanted });
  if (refused !== undefined) throw new AgentError(`${refused.why} Nothing was run.`);
  if (select === undefined || select.current === wanted) return session;
  const { session_id: sessionId, opened } = session;
  const { method, params } = select.set(wanted);
  const answer = await agent.request(method, { sessionId, ...params });
  return { ...session, opened: { ...record(opened), ...toldBy(answer, opened, wanted) } };
};

// Setting an option returns all options; the older request returns nothing.
const toldBy = (answer: unknown, opened: unknown, wanted: string): object => {
  const { configOptions } = record(answer);
  if (list(configOptions).length > 0) return { configOptions };
  return { models: { ...record(record(opened).models), currentModelId: wanted } };
};
