import { LONGEST_PLAN } from '../../../store/sessions/session-texts.ts';
import { capText } from '../../text/cap-text.ts';
import { PLAN_TOO_LONG } from '../last-message.ts';
import { modelErrorIn } from '../outage.ts';
import type { Phase, RunResult } from '../provider.ts';

/** The facts by which a turn is judged after its end. */
export interface AgentTurnEnd {
  phase: Phase;
  /** The agent's stop reason; undefined if it did not respond. */
  stop_reason: string | undefined;
  /** Whether the agent sent text or called a tool. */
  acted: boolean;
  /** Whether it planned, called a tool, or reported use of its model. */
  worked: boolean;
  /** Why the turn failed, as reported by the adapter. */
  failure: string | undefined;
  /** The last reported failure of its model, if it did not recover. */
  gave_up: string | undefined;
  /** Whether it sent anything after its last tool call. */
  answered: boolean;
  /** Its last message: in Plan mode, the plan. */
  message: string;
  /** Its last message is longer than a plan may be. */
  too_long: boolean;
  /** The plan of its request to leave Plan mode (`ExitPlanMode`). */
  captured: string | undefined;
  /** The title of the last request that the policy or the operator refused. */
  refused: string | undefined;
  /** Whether the daemon stopped it: some agents respond `end_turn` even then. */
  stopped: boolean;
}

export type TurnVerdict = Pick<RunResult, 'outcome' | 'error' | 'plan' | 'outage'>;

const EARLY = new Map([
  ['cancelled', 'The agent cancelled its own turn.'],
  ['refusal', 'The agent refused to continue.'],
  ['max_tokens', 'The agent reached its token limit.'],
  ['max_turn_requests', 'The agent reached its limit of model calls.'],
]);

/** Judges a turn. `end_turn` alone proves nothing: an agent that failed to reach its model sends it too. */
export const judgeTurn = (end: AgentTurnEnd): TurnVerdict => {
  if (end.stopped) return { outcome: 'cancelled' };
  if (end.captured !== undefined) return planned(end.captured);
  const broken = brokenOff(end);
  if (broken !== undefined) return broken;
  if (end.phase === 'work') return end.answered ? { outcome: 'completed' } : unserved(UNANSWERED);
  if (end.too_long) return failed(PLAN_TOO_LONG);
  if (end.message === '') return failed('The agent ended its turn without writing a plan.');
  if (!end.worked)
    return failed(`${NOTHING_DONE} Its message:\n${capText(end.message, WORDS).output}`);
  return { outcome: 'completed', plan: end.message };
};

const brokenOff = (end: AgentTurnEnd): TurnVerdict | undefined => {
  if (end.failure !== undefined) return failed(`The agent's turn failed: ${end.failure}`);
  if (end.stop_reason !== 'end_turn') return failed(earlyEnd(end));
  if (!end.acted) return failed('The agent ended its turn without any text or action.');
  const gave_up = end.gave_up ?? modelErrorIn(end.message);
  return gave_up === undefined
    ? undefined
    : unserved(`The agent's model did not recover: ${gave_up}`);
};

const UNANSWERED =
  'The agent ended its turn after a tool call without a message: its model may not have answered.';

const unserved = (error: string): TurnVerdict => ({
  ...failed(error),
  outage: { reason: 'model_unavailable' },
});

// Some agents send the error of their model as a message and end the turn normally.
const NOTHING_DONE = 'The agent wrote no plan: it called no tool and reported no use of its model.';
const WORDS = 1000;

const planned = (plan: string): TurnVerdict =>
  plan.length > LONGEST_PLAN ? failed(PLAN_TOO_LONG) : { outcome: 'completed', plan };

const earlyEnd = ({ stop_reason: reason = '', refused, phase }: AgentTurnEnd): string => {
  if (reason === 'cancelled' && refused !== undefined)
    return `The agent gave up after a request was refused: ${refused}.${phase === 'plan' ? ONLY_READS : ''}`;
  return EARLY.get(reason) ?? `The agent ended its turn for an unknown reason (${reason}).`;
};

const ONLY_READS = ' In Plan mode it may only read. Start another session.';

const failed = (error: string): TurnVerdict => ({ outcome: 'failed', error });
