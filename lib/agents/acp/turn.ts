import { RequestError } from '@agentclientprotocol/sdk';
import { settlesWithin } from '../../../store/base/async.ts';
import { messageOf } from '../../../store/base/attempt.ts';
import { capRaw } from '../../text/cap-text.ts';
import { record, text } from '../../text/unknown-json.ts';
import { mergeMeta } from '../ask-switches.ts';
import type { ModelChoice } from '../model-choice.ts';
import { outageIn } from '../outage.ts';
import type { AcpAgent, AskSwitches } from '../presets.ts';
import type { RunEvent, RunSpec } from '../provider.ts';
import { CANCEL_MS, type Conversation, converse } from './conversation.ts';
import { describeFailure, isLoggedOut } from './failure.ts';
import { failureIn, type Notice, noticeIn } from './notices.ts';
import { chosenIn, type SeenOffers } from './offers.ts';
import { chooseModel } from './select-model.ts';
import { initialize, type OpenSession, openSession, setMode } from './session.ts';
import { judgeTurn, type TurnVerdict } from './turn-verdict.ts';

/** One turn of an agent: its process and state. */
export interface AcpTurn extends Conversation {
  readonly preset: AcpAgent;
  readonly tell: (event: RunEvent) => void;
  readonly seen: SeenOffers;
  /** Updates the idle limit, which applies only while no tool call runs and no request is open. */
  readonly wind: () => void;
  /** The response to the last prompt has arrived. */
  answered?: boolean;
}

/** Opens the agent's session, sends the prompt and waits for the end of the turn. Never rejects. */
export const runAcpTurn = async (turn: AcpTurn): Promise<TurnVerdict> => {
  try {
    await open(turn);
    turn.transcript.begin();
    turn.meter.begin(costBefore(turn));
    const answer = await converse(turn, (one) => note(turn, failureIn(record(one)._meta) ?? {}));
    turn.answered = true;
    return withOutage(turn, judge(turn, text(record(answer).stopReason)));
  } catch (error) {
    const { agent, program, preset, stopped, captured, hopeless } = turn;
    if (stopped || captured !== undefined) return judge(turn, undefined);
    if (hopeless !== undefined) return withOutage(turn, { outcome: 'failed', error: hopeless });
    const why = await describeFailure(error, agent, program, preset.login);
    const login = isLoggedOut(error) ? { outage: { reason: 'login' as const } } : {};
    return withOutage(turn, { outcome: 'failed', error: why, ...login }, detailOf(error));
  }
};

// Adds the outage to a failed turn. An outage from which the agent recovered does not count.
const withOutage = ({ outage: told }: AcpTurn, verdict: TurnVerdict, detail = ''): TurnVerdict => {
  const { outcome, error = '', outage: judged } = verdict;
  if (outcome !== 'failed') return verdict;
  const read = outageIn(`${error} ${detail}`, new Date());
  const reason = told?.reason ?? read?.reason ?? judged?.reason;
  return reason === undefined ? verdict : { ...verdict, outage: { ...read, ...told, reason } };
};

const detailOf = (error: unknown): string =>
  error instanceof RequestError ? (JSON.stringify(error.data) ?? '') : '';

/**
 * Handles notices about the agent's model: retries, limits, and errors that waiting does not fix, which end the turn at once.
 * False for other notifications.
 */
export const handleNotice = (turn: AcpTurn, method: string, params: unknown): boolean => {
  const notice = noticeIn(method, params, new Date());
  // Notices before the prompt belong to an earlier turn.
  if (notice === undefined || turn.prompted === undefined) return notice !== undefined;
  note(turn, notice);
  if (notice.trouble !== undefined) turn.watch.trouble(notice.trouble);
  if (notice.hopeless === undefined || turn.hopeless !== undefined) return true;
  turn.hopeless = notice.hopeless;
  void turn.program.end();
  return true;
};

const note = (turn: AcpTurn, { failed, outage }: Pick<Notice, 'failed' | 'outage'>): void => {
  turn.failed = failed ?? turn.failed;
  turn.outage = outage ?? turn.outage;
};

// Most agents continue counting the cost of a resumed conversation.
const costBefore = ({ preset, spec, session_id }: AcpTurn): number =>
  preset.cost_restarts || session_id !== spec.native_session_id ? 0 : (spec.native_cost_usd ?? 0);

/** Cancels the turn, so that the agent can save its session, then ends its processes. */
export const endAcpTurn = async (turn: AcpTurn): Promise<void> => {
  cancelRequests(turn);
  if (turn.session_id !== undefined && turn.prompted !== undefined) {
    turn.agent.notify('session/cancel', { sessionId: turn.session_id });
    await settlesWithin(turn.prompted, CANCEL_MS);
  }
  await turn.program.end();
};

/** Cancels open and later requests to the operator. */
export const cancelRequests = ({
  permissions,
  questions,
}: Pick<AcpTurn, 'permissions' | 'questions'>): void => {
  permissions.close();
  questions.close();
};

/** Claude and Qwen send their plan as a request to leave Plan mode: takes it as the plan and ends the turn. */
export const capturePlan = (turn: AcpTurn, kind: string, input: unknown): void => {
  const plan = text(record(input).plan)?.trim() ?? '';
  if (turn.spec.phase !== 'plan' || kind !== 'switch_mode' || plan === '') return;
  turn.captured = plan;
  // After the refusal was sent.
  setImmediate(() => void endAcpTurn(turn));
};

const open = async (turn: AcpTurn): Promise<void> => {
  const { agent, preset, spec } = turn;
  const note = (kind: string, raw: unknown): void =>
    turn.tell({ type: 'agent_event', data: { kind, raw: capRaw(raw) } });
  const hello = await initialize(agent, spec);
  turn.images = hello.images;
  if (preset.authenticate !== undefined) {
    await agent.request('authenticate', { methodId: preset.authenticate });
  }
  const { cwd, native_session_id, choice = preset.usual } = spec;
  const mcp = preset.token_by_env ? byEnv(spec.mcp) : spec.mcp;
  const { meta: asked, modes = preset.modes.work }: AskSwitches =
    spec.phase === 'work' ? preset.asking : {};
  const meta = mergeMeta(preset.meta, asked);
  const wish = { cwd, native_session_id, mcp, meta, choice, note };
  const opened = await openSession(agent, hello, wish);
  turn.session_id = opened.session_id;
  turn.replayed = opened.replayed ? turn.transcript.replayed() : undefined;
  const session = await setChoice(turn, opened, choice);
  // Set last, because other options may change the mode.
  const wanted = spec.phase === 'work' ? modes : preset.modes.plan;
  const set = await setMode(agent, session, wanted).catch((error: unknown) => messageOf(error));
  if (set !== true) note('mode_not_set', { wanted, ...(set !== false && { reason: set }) });
};

// Also caches the offers before the choice, because efforts depend on the model.
const setChoice = async (
  turn: AcpTurn,
  opened: OpenSession,
  choice: ModelChoice,
): Promise<OpenSession> => {
  const { agent, preset, spec, seen, transcript } = turn;
  seen.hear(opened.opened, opened.session_id !== spec.native_session_id);
  const session = await chooseModel(agent, opened, choice, preset.id);
  seen.hear(session.opened, false);
  const chosen = chosenIn(session.opened);
  if (chosen.length > 0)
    transcript.hear({ sessionUpdate: 'config_option_update', configOptions: chosen });
  return session;
};

/** The variable with the MCP token, for agents that expand variables. */
export const TOKEN_VARIABLE = 'DOSSIER_MCP_TOKEN';

const byEnv = (mcp: RunSpec['mcp']): RunSpec['mcp'] =>
  mcp && { ...mcp, token: `$\{${TOKEN_VARIABLE}}` };

// A bare prompt accepts any answer.
const hasWorked = ({ spec, transcript, meter, questions }: AcpTurn): boolean =>
  spec.prompt.bare === true ||
  transcript.planned() ||
  transcript.called() ||
  questions.asked() ||
  meter.used();

const judge = (turn: AcpTurn, stop_reason: string | undefined): TurnVerdict =>
  judgeTurn({
    phase: turn.spec.phase,
    stop_reason,
    acted: turn.transcript.acted(),
    worked: hasWorked(turn),
    failure: turn.failed,
    gave_up: turn.watch.troubled(),
    answered: turn.transcript.answered(),
    message: turn.transcript.lastMessage(),
    too_long: turn.transcript.planTooLong(),
    captured: turn.captured,
    refused: turn.permissions.refused(),
    stopped: turn.stopped,
  });
