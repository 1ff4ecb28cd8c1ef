import { messageOf } from '../../../store/base/message-of.ts';
import { onceEach } from '../../sandbox/egress/doors.ts';
import { capRaw, capText } from '../../text/cap-text.ts';
import { record } from '../../text/unknown-json.ts';
import type { Program } from '../../tools/process/spawn.ts';
import { askingEnv } from '../ask-switches.ts';
import { coalesce } from '../coalesce.ts';
import { LIMITS, launch, type ProviderDeps, TOLD_OUTPUT } from '../launch.ts';
import type { PermissionPolicy } from '../permissions.ts';
import type { AcpAgent } from '../presets.ts';
import type { Run, RunEvent, RunResult, RunSpec } from '../provider.ts';
import { atLeast } from '../usage.ts';
import { watchQuiet } from '../waiting.ts';
import { type AgentListener, connectAgent } from './connection.ts';
import { endForMessage, interrupt } from './conversation.ts';
import { createPermissionDesk } from './permission-requests.ts';
import { createQuestionDesk } from './question-requests.ts';
import { createTranscript } from './transcript.ts';
import {
  type AcpTurn,
  capturePlan,
  closeDesks,
  endAcpTurn,
  hearNotice,
  runAcpTurn,
  TOKEN_VARIABLE,
} from './turn.ts';
import type { TurnVerdict } from './turn-verdict.ts';
import { createUsageMeter } from './usage.ts';

export interface AcpDeps extends ProviderDeps {
  policy: PermissionPolicy;
}

/** Besides, where what the agent offers is remembered. */
export type RunDeps = AcpDeps & Pick<AcpTurn, 'seen'>;

/** Starts the agent for one turn. Throws when its program cannot even be wrapped for the sandbox. */
export const startAcpRun = (
  preset: AcpAgent,
  spec: RunSpec,
  tell: (event: RunEvent) => void,
  deps: RunDeps,
): Run => {
  const told = coalesce(tell);
  const turn = startTurn(preset, spec, told.tell, deps);
  const done = runAcpTurn(turn)
    .then(async (verdict): Promise<RunResult> => {
      closeDesks(turn);
      await turn.program.end();
      return resultOf(turn, verdict);
    })
    .catch((error: unknown): RunResult => ({ outcome: 'failed', error: messageOf(error) }))
    .finally(() => {
      turn.watch.end();
      told.flush();
    });
  const stop = async (end: () => Promise<unknown>): Promise<void> => {
    turn.stopped = true;
    closeDesks(turn);
    await end();
    await done;
  };
  return {
    done,
    cancel: () => stop(() => endAcpTurn(turn)),
    kill: () => stop(() => turn.program.end()),
    answer: turn.desk.answer,
    reply: turn.questions.reply,
    interrupt: (now) => interrupt(turn, now),
    finish: () => false,
  };
};

const startTurn = (
  preset: AcpAgent,
  spec: RunSpec,
  tell: (event: RunEvent) => void,
  deps: RunDeps,
): AcpTurn => {
  const { argv, token_by_env } = preset;
  const token = token_by_env ? spec.mcp?.token : undefined;
  const env = {
    ...preset.env,
    ...(spec.phase === 'work' && askingEnv(preset.asking, preset.env)),
    ...(token !== undefined && { [TOKEN_VARIABLE]: token }),
  };
  const onNetwork = onceEach((data) => tell({ type: 'network', data }));
  const program = launch(spec, { argv, env, onNetwork }, deps);
  const transcript = createTranscript(tell, TOLD_OUTPUT);
  const meter = createUsageMeter(preset.sums_turn);
  const inside = (path: string): boolean => deps.isInside(spec.cwd, path);
  const clock = idleClock(program, spec.limits.idle_ms, transcript.calling);
  const { onWaiting } = clock;
  const desk = createPermissionDesk({
    scope: {
      ...{ phase: spec.phase, policy: deps.policy, inside, cwd: spec.cwd },
      ...{ prefixes: spec.prefixes ?? [], unasked: spec.unasked ?? [] },
    },
    ...{ tell, onWaiting },
    ...(spec.project !== undefined && { project: spec.project }),
  });
  const { attended = false } = spec;
  const questions = createQuestionDesk({ attended, tell, onWaiting });
  const busy = (): boolean => clock.isAsking() || transcript.calling();
  const turn: AcpTurn = {
    ...{ preset, spec, program, transcript, meter, desk, questions, tell, seen: deps.seen },
    busy,
    wind: clock.wind,
    watch: watchQuiet({
      quiet_ms: spec.limits.quiet_ms ?? LIMITS.quiet_ms,
      stderr: program.stderr,
      tell,
      busy,
    }),
    agent: connectAgent(
      program,
      listener(() => turn),
    ),
    images: false,
    stopped: false,
  };
  return turn;
};

// The operator may think as long as it takes, and a tool call may be silent; only the time of the former is not counted.
const idleClock = (program: Program, idle_ms: number, calling: () => boolean) => {
  let waiting = 0;
  let now = 'idle';
  const underWay = () => (calling() ? 'calling' : 'idle');
  const wind = (): void => {
    const next = waiting > 0 ? 'asking' : underWay();
    if (next === now) return;
    now = next;
    program.idle(next === 'idle' ? idle_ms : undefined, next !== 'asking');
  };
  return {
    wind,
    isAsking: (): boolean => waiting > 0,
    onWaiting: (is: boolean): void => {
      waiting += is ? 1 : -1;
      wind();
    },
  };
};

const listener = (turn: () => AcpTurn): AgentListener => ({
  onNotification: (method, params) => {
    const { transcript, meter, tell, watch } = turn();
    if (hearNotice(turn(), method, params)) return;
    if (method !== 'session/update') return tell(unserved(method, params));
    const { update } = record(params);
    if (transcript.hear(update)) watch.heard();
    turn().wind();
    endForMessage(turn());
    if (meter.hear(update)) tell({ type: 'usage', data: meter.read() });
  },
  onPermission: (params, signal) => {
    const { transcript, desk } = turn();
    const { toolCall, options } = record(params);
    const call = transcript.toolCall(record(toolCall));
    capturePlan(turn(), call.kind, call.raw_input);
    return desk.ask(call, options, signal);
  },
  onQuestion: (params, signal) => {
    const { transcript, questions } = turn();
    transcript.breakOff();
    return questions.ask(params, signal);
  },
  onUnknownRequest: (method, params) => turn().tell(unserved(method, params)),
});

const unserved = (kind: string, raw: unknown): RunEvent => ({
  type: 'agent_event',
  data: { kind, raw: capRaw(raw) },
});

const LAST_WORDS = 1000;

const resultOf = (turn: AcpTurn, verdict: TurnVerdict): RunResult => {
  turn.transcript.close(turn.stopped);
  // Who is ended, or goes by itself, before it has answered has not told all.
  const told = turn.meter.read();
  const usage = turn.answered && !turn.stopped ? told : atLeast(told);
  const used = Object.values(told).some((figure) => figure !== null);
  if (used) turn.tell({ type: 'usage', data: usage });
  const said = turn.transcript.called() ? undefined : turn.transcript.lastMessage();
  return {
    ...verdict,
    ...(turn.spec.phase === 'work' &&
      said !== undefined && { only_said: capText(said, LAST_WORDS).output }),
    ...(used && { usage }),
    ...(turn.session_id !== undefined && {
      native_session_id: turn.session_id,
      native_cost_usd: turn.meter.costSoFar(),
    }),
  };
};
