import { PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { messageOf } from '../../../store/base/message-of.ts';
import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';
import type { ModelChoice } from '../model-choice.ts';
import type { RunSpec } from '../provider.ts';
import type { AgentConnection } from './connection.ts';
import { chosenIn, optionsOf } from './offers.ts';

/** An agent that cannot be used as it is, in a sentence for the operator. */
export class AgentError extends Error {
  override readonly name = 'AgentError';
}

/**
 * Shakes hands. File and terminal access are not offered, so that the agent's own tools and the sandbox are the only way;
 * nor is the opening of addresses. Questions are where somebody answers.
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
    throw new AgentError(`It speaks version ${spoken} of the protocol, not ${PROTOCOL_VERSION}.`);
  }
  const { loadSession, sessionCapabilities, ...capabilities } = record(answer.agentCapabilities);
  const { resume } = record(sessionCapabilities);
  return {
    version: text(record(answer.agentInfo).version),
    resumes: resume !== undefined && resume !== null,
    loads: loadSession === true,
    /** It speaks to MCP servers over HTTP. */
    mcp_http: record(capabilities.mcpCapabilities).http === true,
    /** It takes images in a prompt. */
    images: record(capabilities.promptCapabilities).image === true,
    auth_methods: list(answer.authMethods).flatMap((method) => text(record(method).id) ?? []),
  };
};
// Codex' adapter then tells a turn that failed as such: see `failureIn`.
const READS_FAILURES = { jetbrains: { air: { version: 1, capabilities: ['sessionFailure'] } } };

export type AgentHello = Awaited<ReturnType<typeof initialize>>;

export interface OpenSession {
  session_id: string;
  /** What the agent answered: modes and options. */
  opened: unknown;
}

interface SessionWish {
  cwd: string;
  native_session_id: string | undefined;
  mcp: RunSpec['mcp'];
  /** What only this agent knows the meaning of. */
  meta?: Record<string, unknown> | undefined;
  /** What is going to be chosen in it. */
  choice: ModelChoice;
  note: (kind: string, raw: unknown) => void;
}

/**
 * Goes on with the agent's own session where that works, else begins a new one. Agents offer `resume` without having
 * it (Qwen) and fail to load what they just saved (Gemini), so each way is tried, and each failure is noted.
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
  if (session_id === undefined) throw new AgentError('It gave its session no id.');
  return { session_id, opened };
};

// An agent that cannot speak HTTP to it does without: all it needs is in its prompt.
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
      return { session_id, opened: enough(await agent.request(way, params), wish) };
    } catch (error) {
      if (!(error instanceof RequestError || error instanceof TellsNothing)) throw error;
      note('session_not_resumed', { method: way, reason: messageOf(error) });
    }
  }
  return undefined;
};

class TellsNothing extends Error {}

// Nobody knows what a conversation goes on with that does not tell it: one that begins anew does.
const enough = (opened: unknown, { choice }: SessionWish): unknown => {
  if (Object.keys(choice).length === 0 || chosenIn(opened).length > 0) return opened;
  throw new TellsNothing('It does not tell there which model it goes on with.');
};

/** Sets the first of the wanted modes that the agent offers. None of them is no error: the sandbox holds in any mode. */
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

// How the mode of an agent's session is set: agents know one of two ways, and some both.
type ModeChange =
  | { method: 'session/set_config_option'; params: { configId: string; value: string } }
  | { method: 'session/set_mode'; params: { modeId: string } };

/**
 * The request that sets one of the wanted modes (the first that the agent offers), from what it answered to
 * session/new, load or resume. Undefined when it offers none of them: an id it did not list is never sent.
 */
export const modeChange = (opened: unknown, wanted: readonly string[]): ModeChange | undefined => {
  const { configOptions, modes } = record(opened);
  const option = list(configOptions).map(record).find(isModeOption);
  if (option !== undefined) return byConfigOption(option, wanted);
  const listed = list(record(modes).availableModes).map((mode) => text(record(mode).id));
  const modeId = wanted.find((id) => listed.includes(id));
  return modeId === undefined ? undefined : { method: 'session/set_mode', params: { modeId } };
};

const isModeOption = (option: Wire): boolean =>
  option.category === 'mode' && text(option.id) !== undefined;

const byConfigOption = (option: Wire, wanted: readonly string[]): ModeChange | undefined => {
  const listed = optionsOf(option).map(({ value }) => value);
  const value = wanted.find((id) => listed.includes(id));
  if (value === undefined) return undefined;
  return {
    method: 'session/set_config_option',
    params: { configId: text(option.id) ?? '', value },
  };
};
