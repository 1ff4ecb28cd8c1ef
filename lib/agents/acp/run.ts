import { messageOf } from '../../../store/base/attempt.ts';
import { reportOncePerTarget } from '../../sandbox/egress/doors.ts';
import { capRaw, capText } from '../../text/cap-text.ts';
import { record } from '../../text/unknown-json.ts';
import { oneLine } from '../../text/wording.ts';
import type { Environment } from '../../tools/process/environment.ts';
import type { Program } from '../../tools/process/spawn.ts';
import { environmentIn } from '../ask-switches.ts';
import { coalesce } from '../coalesce.ts';
import { LIMITS, launch, type ProviderDeps, TOLD_OUTPUT } from '../launch.ts';
import type { PermissionPolicy } from '../permissions.ts';
import type { AcpAgent } from '../presets.ts';
import type { Run, RunEvent, RunResult, RunSpec } from '../provider.ts';
import { hasNotBegun } from '../run-end.ts';
import { reportSandboxLimits } from '../sandbox-limits.ts';
import { atLeast } from '../usage.ts';
import { watchQuiet } from '../waiting.ts';
import { commandOf } from './call-command.ts';
import { type AgentListener, connectAgent } from './connection.ts';
import { endForMessage, interrupt } from './conversation.ts';
import { createPermissionRequests } from './permission-requests.ts';
import { createQuestionRequests } from './question-requests.ts';
import type { ToolCall } from './tool-call.ts';
import { createTranscript } from './transcript.ts';
import {
  type AcpTurn,
  cancelRequests,
  capturePlan,
  endAcpTurn,
  handleNotice,
  runAcpTurn,
  TOKEN_VARIABLE,
} from './turn.ts';
import type { TurnVerdict } from './turn-verdict.ts';
import { createUsageMeter } from './usage.ts';

export interface AcpDeps extends ProviderDeps {
  policy: PermissionPolicy;
}

/** With the cache of the agent's offers. */
type RunDeps = AcpDeps & Pick<AcpTurn, 'seen'>;

/** Starts the agent for one turn. Throws if the sandbox or the network cannot be set up. */
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
      cancelRequests(turn);
      const exit = await turn.program.end();
      return { ...resultOf(turn, verdict), not_begun: hasNotBegun(exit) };
    })
    .catch((error: unknown): RunResult => ({ outcome: 'failed', error: messageOf(error) }))
    .finally(() => {
      turn.watch.end();
      told.flush();
    });
  const stop = async (end: () => Promise<unknown>): Promise<void> => {
    turn.stopped = true;
    cancelRequests(turn);
    await end();
    await done;
  };
  return {
    done,
    cancel: () => stop(() => endAcpTurn(turn)),
    kill: () => stop(() => turn.program.end()),
    answer: turn.permissions.answer,
    reply: turn.questions.reply,
    interrupt: (now) => interrupt(turn, now),
    finish: () => false,
  };
};

const startTurn = (
  preset: AcpAgent,
  spec: RunSpec,
  told: (event: RunEvent) => void,
  deps: RunDeps,
): AcpTurn => {
  const tell = reportSandboxLimits(spec, told, deps);
  const onNetwork = reportOncePerTarget((data) => tell({ type: 'network', data }));
  const env = environmentFor(preset, spec);
  const program = launch(spec, { argv: preset.argv, env, onNetwork }, deps);
  const transcript = createTranscript(tell, TOLD_OUTPUT);
  const clock = idleClock(program, spec.limits.idle_ms, transcript.calling);
  const { onWaiting } = clock;
  const busy = (): boolean => clock.isAsking() || transcript.calling();
  const turn: AcpTurn = {
    preset,
    spec,
    program,
    transcript,
    meter: createUsageMeter(preset.sums_turn),
    permissions: createPermissionRequests({
      scope: permissionScope(spec, deps),
      tell,
      onWaiting,
      ...(spec.project !== undefined && { project: spec.project }),
    }),
    questions: createQuestionRequests({ attended: spec.attended ?? false, tell, onWaiting }),
    tell,
    seen: deps.seen,
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

const environmentFor = (preset: AcpAgent, spec: RunSpec): Environment => {
  const token = preset.token_by_env ? spec.mcp?.token : undefined;
  const env = environmentIn(spec.phase, preset);
  return token === undefined ? env : { ...env, [TOKEN_VARIABLE]: token };
};

const permissionScope = (spec: RunSpec, { policy, isInside }: RunDeps) => ({
  phase: spec.phase,
  policy,
  inside: (path: string): boolean => isInside(spec.cwd, path),
  cwd: spec.cwd,
  prefixes: spec.prefixes ?? [],
  unasked: spec.unasked ?? [],
});

// No idle limit while the operator is asked or a tool call runs; only the operator's time does not count for the time limit.
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
    if (handleNotice(turn(), method, params)) return;
    if (method !== 'session/update') return tell(unserved(method, params));
    const { update } = record(params);
    if (transcript.hear(update)) watch.heard();
    turn().wind();
    endForMessage(turn());
    if (meter.hear(update)) tell({ type: 'usage', data: meter.read() });
  },
  onPermission: (params, signal) => {
    const { transcript, permissions } = turn();
    const { toolCall, options } = record(params);
    const call = transcript.toolCall(record(toolCall));
    capturePlan(turn(), call.kind, call.raw_input);
    return permissions.ask(call, options, signal);
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
const LONGEST_NAME = 200;

const nameOf = (call: ToolCall): string =>
  oneLine(commandOf(call) ?? call.title).slice(0, LONGEST_NAME);

const resultOf = (turn: AcpTurn, verdict: TurnVerdict): RunResult => {
  turn.transcript.close(turn.stopped);
  // Without a final response the reported usage is incomplete.
  const told = turn.meter.read();
  const usage = turn.answered && !turn.stopped ? told : atLeast(told);
  const used = Object.values(told).some((figure) => figure !== null);
  if (used) turn.tell({ type: 'usage', data: usage });
  const refused = turn.permissions.onlyRefused();
  const { called, didMoreThan, lastMessage } = turn.transcript;
  const isIdle = refused === undefined ? !called() : !didMoreThan(refused);
  return {
    ...verdict,
    ...(turn.spec.phase === 'work' &&
      isIdle && {
        only_said: capText(lastMessage(), LAST_WORDS).output,
        ...(refused && { refused: [...refused.values()].map(nameOf) }),
      }),
    ...(used && { usage }),
    ...(turn.session_id !== undefined && {
      native_session_id: turn.session_id,
      native_cost_usd: turn.meter.costSoFar(),
    }),
  };
};
