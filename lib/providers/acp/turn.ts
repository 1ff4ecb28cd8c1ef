import type { Program } from '../../tools/spawn.ts';
import { within } from '../../tools/within.ts';
import { record, text } from '../../wire.ts';
import { capRaw } from '../cap-text.ts';
import type { AcpAgent, Asking } from '../presets.ts';
import { renderPrompt } from '../prompt.ts';
import type { RunEvent, RunSpec } from '../provider.ts';
import { messageOf } from '../run-end.ts';
import type { AgentConnection } from './connection.ts';
import { describeFailure } from './failure.ts';
import { judgeTurn, type Verdict } from './judge.ts';
import type { PermissionDesk } from './permission-desk.ts';
import { initialize, openSession, setMode } from './session.ts';
import type { Transcript } from './transcript.ts';
import type { UsageMeter } from './usage.ts';

/** One turn of an agent: its process, what is known of it, and how it is being ended. */
export interface Turn {
  readonly preset: AcpAgent;
  readonly spec: RunSpec;
  readonly program: Program;
  readonly agent: AgentConnection;
  readonly transcript: Transcript;
  readonly meter: UsageMeter;
  readonly desk: PermissionDesk;
  readonly tell: (event: RunEvent) => void;
  session_id: string | undefined;
  /** The prompt's request, once it is on its way. */
  prompted: Promise<unknown> | undefined;
  captured: string | undefined;
  stopped: boolean;
}

/** Opens the agent's session, sends the prompt and waits for the end of the turn. Never rejects. */
export const runTurn = async (turn: Turn): Promise<Verdict> => {
  try {
    await open(turn);
    turn.transcript.begin();
    turn.meter.begin(costBefore(turn));
    const answer = await prompt(turn);
    turn.meter.hearAnswer(answer);
    return judge(turn, text(record(answer).stopReason));
  } catch (error) {
    if (turn.stopped || turn.captured !== undefined) return judge(turn, undefined);
    const { agent, program, preset } = turn;
    const why = await describeFailure(error, agent, program, preset.login);
    return { outcome: 'failed', error: why };
  }
};

// A conversation that goes on goes on counting, in most agents.
const costBefore = ({ preset, spec, session_id }: Turn): number =>
  preset.cost_restarts || session_id !== spec.native_session_id ? 0 : (spec.native_cost_usd ?? 0);

/** Ends the turn, so that the agent can put its session in order, and then its processes. */
export const endTurn = async (turn: Turn): Promise<void> => {
  turn.desk.close();
  if (turn.session_id !== undefined && turn.prompted !== undefined) {
    turn.agent.notify('session/cancel', { sessionId: turn.session_id });
    await within(turn.prompted, CANCEL_MS);
  }
  await turn.program.end();
};

const CANCEL_MS = 5000;

/** Claude and Qwen offer their plan by asking leave to carry it out: that question is the plan, and ends the turn. */
export const capturePlan = (turn: Turn, kind: string, input: unknown): void => {
  const plan = text(record(input).plan)?.trim() ?? '';
  if (turn.spec.phase !== 'plan' || kind !== 'switch_mode' || plan === '') return;
  turn.captured = plan;
  // After the refusal has been sent.
  setImmediate(() => void endTurn(turn));
};

const open = async (turn: Turn): Promise<void> => {
  const { agent, preset, spec } = turn;
  const note = (kind: string, raw: unknown): void =>
    turn.tell({ type: 'agent_event', data: { kind, raw: capRaw(raw) } });
  const hello = await initialize(agent);
  if (preset.authenticate !== undefined) {
    await agent.request('authenticate', { methodId: preset.authenticate });
  }
  const { cwd, native_session_id } = spec;
  const mcp = preset.token_by_env ? byEnv(spec.mcp) : spec.mcp;
  const { meta, modes = preset.modes.work }: Asking = spec.phase === 'work' ? preset.asking : {};
  const session = await openSession(agent, hello, { cwd, native_session_id, mcp, meta, note });
  turn.session_id = session.session_id;
  const wanted = spec.phase === 'work' ? modes : preset.modes.plan;
  const set = await setMode(agent, session, wanted).catch((error: unknown) => messageOf(error));
  if (set !== true) note('mode_not_set', { wanted, ...(set !== false && { reason: set }) });
};

/** Where an agent that takes its MCP token from its environment finds it. */
export const TOKEN_VARIABLE = 'DOSSIER_MCP_TOKEN';

const byEnv = (mcp: RunSpec['mcp']): RunSpec['mcp'] =>
  mcp && { ...mcp, token: `$\{${TOKEN_VARIABLE}}` };

const prompt = (turn: Turn): Promise<unknown> => {
  const { phase, prompt: parts } = turn.spec;
  turn.prompted = turn.agent.request('session/prompt', {
    sessionId: turn.session_id,
    prompt: [{ type: 'text', text: renderPrompt(phase, parts) }],
  });
  return turn.prompted;
};

// Who asks for a word and no plan takes what is said.
const hasWorked = ({ spec, transcript, meter }: Turn): boolean =>
  spec.prompt.bare === true || transcript.planned() || transcript.called() || meter.used();

const judge = (turn: Turn, stop_reason: string | undefined): Verdict =>
  judgeTurn({
    phase: turn.spec.phase,
    stop_reason,
    acted: turn.transcript.acted(),
    worked: hasWorked(turn),
    message: turn.transcript.lastMessage(),
    too_long: turn.transcript.planTooLong(),
    captured: turn.captured,
    refused: turn.desk.refused(),
    stopped: turn.stopped,
  });
