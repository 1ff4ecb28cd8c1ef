import { capText } from '../../text/cap-text.ts';
import { LONGEST_PLAN, PLAN_TOO_LONG } from '../last-message.ts';
import type { Phase, RunResult } from '../provider.ts';

/** How a turn ended, as far as it tells whether it did what it was for. */
export interface AgentTurnEnd {
  phase: Phase;
  /** The agent's own word for it; undefined when its answer never came. */
  stop_reason: string | undefined;
  /** Whether the agent said or did anything. */
  acted: boolean;
  /** Whether it planned, called a tool, or used its model as far as it tells. */
  worked: boolean;
  /** What the turn failed of, as its adapter says. */
  failure: string | undefined;
  /** The failure of its model that it told of last, and did not get over. */
  gave_up: string | undefined;
  /** Whether its model said or did anything after its last tool call. */
  answered: boolean;
  /** Its last message, and in Plan mode so the plan. */
  message: string;
  /** Its last message is longer than a plan may be. */
  too_long: boolean;
  /** The plan it asked leave to carry out (`ExitPlanMode`). */
  captured: string | undefined;
  /** The title of what it was refused last, by the policy or the operator. */
  refused: string | undefined;
  /** Whether we stopped it: some agents answer `end_turn` even then. */
  stopped: boolean;
}

export type TurnVerdict = Pick<RunResult, 'outcome' | 'error' | 'plan' | 'outage'>;

const EARLY = new Map([
  ['cancelled', 'The agent cancelled its turn by itself.'],
  ['refusal', 'The agent refused to go on.'],
  ['max_tokens', 'The agent stopped because it reached its limit of tokens.'],
  ['max_turn_requests', 'The agent stopped because it reached its limit of model calls.'],
]);

/** What a turn that ended comes to. `end_turn` alone proves nothing: an agent that failed to reach its model says it too. */
export const judgeTurn = (end: AgentTurnEnd): TurnVerdict => {
  if (end.stopped) return { outcome: 'cancelled' };
  if (end.captured !== undefined) return planned(end.captured);
  const broken = brokenOff(end);
  if (broken !== undefined) return broken;
  if (end.phase === 'work') return end.answered ? { outcome: 'completed' } : unserved(UNANSWERED);
  if (end.too_long) return failed(PLAN_TOO_LONG);
  if (end.message === '') return failed('The agent ended its turn without writing a plan.');
  if (!end.worked)
    return failed(`${NOTHING_DONE} Its words:\n${capText(end.message, WORDS).output}`);
  return { outcome: 'completed', plan: end.message };
};

const brokenOff = (end: AgentTurnEnd): TurnVerdict | undefined => {
  if (end.failure !== undefined) return failed(`The agent's turn failed: ${end.failure}`);
  if (end.stop_reason !== 'end_turn') return failed(earlyEnd(end));
  if (!end.acted) return failed('The agent ended its turn without saying or doing anything.');
  return end.gave_up === undefined
    ? undefined
    : unserved(`Its model did not come back: ${end.gave_up}`);
};

const UNANSWERED =
  'The agent ended its turn after a tool call without a further word: its model may not have answered.';

const unserved = (error: string): TurnVerdict => ({
  ...failed(error),
  outage: { reason: 'model_unavailable' },
});

// Some agents give out the error of their model as their own words, and end their turn as if all were well.
const NOTHING_DONE =
  'The agent wrote no plan: it called no tool and used no model, as far as it tells.';
const WORDS = 1000;

const planned = (plan: string): TurnVerdict =>
  plan.length > LONGEST_PLAN ? failed(PLAN_TOO_LONG) : { outcome: 'completed', plan };

const earlyEnd = ({ stop_reason: reason = '', refused, phase }: AgentTurnEnd): string => {
  if (reason === 'cancelled' && refused !== undefined)
    return `The agent gave up when it was refused: ${refused}.${phase === 'plan' ? ONLY_READS : ''}`;
  return EARLY.get(reason) ?? `The agent ended its turn for an unknown reason (${reason}).`;
};

const ONLY_READS = ' In Plan mode it may only read. Begin another session.';

const failed = (error: string): TurnVerdict => ({ outcome: 'failed', error });
