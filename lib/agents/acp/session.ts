import { PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { messageOf } from '../../../store/base/attempt.ts';
import { number, record, text } from '../../text/unknown-json.ts';
import type { ModelChoice } from '../model-choice.ts';
import type { RunSpec } from '../provider.ts';
import type { AgentConnection } from './connection.ts';
import { chosenIn, selectIn } from './offers.ts';

/** The turn cannot begin with this agent; the message is for the operator. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}

/**
 * Sends `initialize`. Offers no file or terminal access, so that the agent uses its own tools inside the sandbox, and no
 * opening of addresses. Offers questions if the operator can answer.
 */
export const initialize = async (
  agent: AgentConnection,
  { attended = false }: Pick<RunSpec, 'attended'> = {},
) => {
  const answer = record(
    await agent.request('initialize', {
      protocolVersion: PROTOCOL_VERSION,
      clientCapabilities: {
        fs: { readTextFile: false, writeTextFile: false },
        terminal: false,
        ...(attended && { elicitation: { form: {} } }),
        _meta: READS_FAILURES,
      },
      clientInfo: { name: 'dossier', version: '1' },
    }),
  );
  const spoken = number(answer.protocolVersion);
  if (spoken !== PROTOCOL_VERSION) {
    throw new AgentError(
      `The agent speaks version ${spoken} of the Agent Client Protocol, not ${PROTOCOL_VERSION}. Update the agent.`,
    );
  }
  const { loadSession, sessionCapabilities, ...capabilities } = record(answer.agentCapabilities);
  const { resume } = record(sessionCapabilities);
  return {
    version: text(record(answer.agentInfo).version),
    resumes: resume !== undefined && resume !== null,
    loads: loadSession === true,
    /** It supports MCP servers over HTTP. */
    mcp_http: record(capabilities.mcpCapabilities).http === true,
    /** It accepts images in a prompt. */
    images: record(capabilities.promptCapabilities).image === true,
  };
};
// Makes the Codex adapter report failed turns: see `failureIn`.
const READS_FAILURES = { jetbrains: { air: { version: 1, capabilities: ['sessionFailure'] } } };

export type AgentHello = Awaited<ReturnType<typeof initialize>>;

export interface OpenSession {
  session_id: string;
  /** The agent's response, with modes and options. */
  opened: unknown;
  /** The agent loaded the conversation and replayed it. */
  replayed?: boolean;
}

interface SessionWish {
  cwd: string;
  native_session_id: string | undefined;
  mcp: RunSpec['mcp'];
  /** Extension data for this agent. */
  meta?: Record<string, unknown> | undefined;
  /** The model and effort to set. */
  choice: ModelChoice;
  note: (kind: string, raw: unknown) => void;
}

/**
 * Resumes the agent's session if possible, else creates a new one. Some agents announce `resume` without support (Qwen) or
 * cannot always load their own sessions (Gemini, in its first minute), so tries each request and notes each failure.
 */
export const openSession = async (
  agent: AgentConnection,
  hello: AgentHello,
  wish: SessionWish,
): Promise<OpenSession> => {
  const resumed = await resumeSession(agent, hello, wish);
  if (resumed !== undefined) return resumed;
  const opened = await agent.request('session/new', {
    cwd: wish.cwd,
    mcpServers: serversFor(hello, wish),
    ...metaOf(wish),
  });
  const session_id = text(record(opened).sessionId);
  if (session_id === undefined)
    throw new AgentError('The agent returned no session id. Update the agent.');
  return { session_id, opened };
};

// Without HTTP support an agent works without MCP: the prompt has everything it needs.
const serversFor = ({ mcp_http }: AgentHello, { mcp }: SessionWish): unknown[] => {
  if (!mcp_http || mcp === undefined) return [];
  const headers = [{ name: 'Authorization', value: `Bearer ${mcp.token}` }];
  return [{ type: 'http', name: 'dossier', url: mcp.url, headers }];
};

const metaOf = ({ meta }: SessionWish) => (meta === undefined ? {} : { _meta: meta });

const resumeSession = async (
  agent: AgentConnection,
  hello: AgentHello,
  wish: SessionWish,
): Promise<OpenSession | undefined> => {
  const { resumes, loads } = hello;
  const { native_session_id: session_id, note } = wish;
  if (session_id === undefined) return undefined;
  const ways = [...(resumes ? ['session/resume'] : []), ...(loads ? ['session/load'] : [])];
  for (const way of ways) {
    try {
      const { cwd } = wish;
      const mcpServers = serversFor(hello, wish);
      const params = { sessionId: session_id, cwd, mcpServers, ...metaOf(wish) };
      const opened = enough(await agent.request(way, params), wish);
      return { session_id, opened, replayed: way === 'session/load' };
    } catch (error) {
      if (!(error instanceof RequestError || error instanceof TellsNothing)) throw error;
      note('session_not_resumed', { method: way, reason: messageOf(error) });
    }
  }
  return undefined;
};

class TellsNothing extends Error {}

// A resumed session must report its model; otherwise a new session is created.
const enough = (opened: unknown, { choice }: SessionWish): unknown => {
  if (Object.keys(choice).length === 0 || chosenIn(opened).length > 0) return opened;
  throw new TellsNothing('The resumed session does not report its model.');
};

/** Sets the first of the wanted modes that the agent offers. False without one: the sandbox applies in any mode. */
export const setMode = async (
  agent: AgentConnection,
  { session_id, opened }: OpenSession,
  wanted: readonly string[],
): Promise<boolean> => {
  const change = modeChange(opened, wanted);
  if (change === undefined) return wanted.length === 0;
  await agent.request(change.method, { sessionId: session_id, ...change.params });
  return true;
};

/**
 * The request that sets the first offered of the wanted modes, from the response to session/new, load or resume. Undefined
 * without one: an id that the agent did not list is never sent.
 */
export const modeChange = (opened: unknown, wanted: readonly string[]) => {
  const select = selectIn(opened, 'mode');
  const mode = wanted.find((id) => select?.options.some(({ value }) => value === id));
  return mode === undefined ? undefined : select?.set(mode);
};
