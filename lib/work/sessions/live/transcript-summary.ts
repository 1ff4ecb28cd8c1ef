import type { Session, Usage } from '../../../../store/records/session.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import type { TranscriptEvent } from '../../../../store/sessions/transcript-event.ts';
import { isLook } from '../../../agents/permissions.ts';
import { isTurnNotice } from '../../../code/worktrees/turn/notices.ts';
import { list, record } from '../../../text/unknown-json.ts';
import { isRunning } from '../rules/rules.ts';
import { type AskedQuestions, readQuestionEvent } from './dialogue.ts';
import type { Engine } from './engine.ts';
import { type LeftRef, leftRefs } from './left-refs.ts';
import { PROCESSES_LEFT } from './stream.ts';

/** The last state of a tool call. */
export interface TranscriptCall {
  id: string;
  title: string;
  kind: string;
  status: string;
  /** No event has its end, because the daemon died meanwhile. */
  untold?: boolean;
  /** For a command that has ended, where the agent reports it. */
  exit_code?: number;
  /** The end of a command's output. */
  output?: string;
  /** True where the permission was refused, so it never ran. */
  refused?: boolean;
}

/** What a session's events say in sum. */
export interface SessionDigest {
  /** Since the approval, or all without one: each call once, in order of its start. */
  calls: readonly TranscriptCall[];
  /** Network destinations that were reached or refused, each once as `host:port`. */
  network: { reached: readonly string[]; refused: readonly string[] };
  /** Refs that changed in Plan mode and were not restored. */
  refs: readonly LeftRef[];
  /** Notes on the repositories of the Work turns, besides the work itself. */
  git: readonly string[];
  /** Notes on processes that outlived a turn. */
  left: readonly string[];
  /** The agent's questions, in both modes. */
  questions: AskedQuestions;
  /** The permission requests without an answer, by id. */
  asked: ReadonlyMap<string, Pick<AskedPermission, 'title' | 'kind'>>;
  /** Whether a request was open when its newest turn was cut off. */
  was_asking: boolean;
  /** What the operator refused: the command or title of each request. */
  refusals: readonly string[];
  /** The beginning of the agent's text after the last call. */
  last_words: string;
  /** The usage of the newest turn, if it was cut off. */
  usage: Usage | undefined;
  /** Whether its newest turn waits for a slot of `max_sessions`, so that nothing of it ran. */
  waits: boolean;
  /** Whether its approved work has only waited for a slot so far. */
  only_waited: boolean;
  /** Whether an earlier run of its approved work changed something or ran a command. */
  has_worked: boolean;
}

interface AskedPermission {
  title: string;
  kind: string;
  /** Its command, or its title. */
  name: string;
  /** The options that refuse it. */
  refusing: ReadonlySet<string>;
}

interface Reading
  extends Pick<SessionDigest, 'questions' | 'last_words' | 'usage' | 'waits' | 'has_worked'> {
  working: boolean;
  running: boolean;
  calls: Map<string, TranscriptCall>;
  asked: Map<string, AskedPermission>;
  /** The daemon closed an open request of the newest turn, and the agent read no message after that: the turn was ended. */
  closed: boolean;
  refusals: Set<string>;
  /** The titles of refused calls, until they are allowed. */
  refused_titles: Set<string>;
  reached: Set<string>;
  refused: Set<string>;
  refs: LeftRef[];
  git: string[];
  left: string[];
  work: 'waited' | 'begun' | undefined;
}

/** Reads the events of a session in batches, so that their number does not matter. */
export const digestOf = async (engine: Engine, kept: StoredSession): Promise<SessionDigest> => {
  const reading: Reading = {
    working: false,
    running: false,
    calls: new Map(),
    asked: new Map(),
    closed: false,
    refusals: new Set(),
    refused_titles: new Set(),
    reached: new Set(),
    refused: new Set(),
    refs: [],
    git: [],
    left: [],
    questions: new Map(),
    last_words: '',
    usage: undefined,
    waits: false,
    work: undefined,
    has_worked: false,
  };
  for await (const events of engine.transcript(kept).soFar(0))
    for (const { event, data } of events) READERS.get(event)?.(reading, data);
  const { questions, asked, refs, git, left, last_words, usage, waits, has_worked } = reading;
  const isOpen = [...questions.values()].some(({ outcome }) => !outcome);
  return {
    questions,
    asked,
    refs,
    git,
    left,
    last_words,
    usage,
    waits,
    has_worked,
    calls: [...reading.calls.values()],
    network: { reached: [...reading.reached], refused: [...reading.refused] },
    was_asking: reading.closed || asked.size > 0 || isOpen,
    refusals: [...reading.refusals],
    only_waited: reading.work === 'waited',
  };
};

type EventReader = (reading: Reading, data: TranscriptEvent['data']) => void;

// A map, because an event name in an edited file can be anything, `constructor` too.
const READERS = new Map<string, EventReader>(
  Object.entries({
    status: (reading, { status, mode, waits_for }) => {
      reading.usage = undefined;
      reading.closed = false;
      reading.waits = waits_for === 'max_sessions';
      reading.running = isRunning(status as Session['status']);
      if (status === 'paused') killOpenCalls(reading.calls);
      if (status === 'working') reading.work = reading.waits ? (reading.work ?? 'waited') : 'begun';
      if (reading.working) reading.has_worked = [...reading.calls.values()].some(isWork);
      if (mode !== 'work' || reading.working) return;
      reading.working = true;
      reading.calls.clear();
      reading.last_words = '';
    },
    usage: (reading, { input_tokens, output_tokens, cost_usd }) => {
      if (reading.running) reading.usage = { input_tokens, output_tokens, cost_usd } as Usage;
    },
    tool_call: (reading, data) => {
      const call = callIn(data);
      // Only a new call ends the text before it.
      if (!reading.calls.has(call.id)) reading.last_words = '';
      const refused = call.status === 'failed' && reading.refused_titles.has(call.title);
      reading.calls.set(call.id, refused ? { ...call, refused } : call);
    },
    permission_request: ({ asked }, { request_id, title, kind, command = title, options }) => {
      const refusing = list(options)
        .map(record)
        .filter(({ kind }) => /^reject/.test(String(kind)));
      asked.set(String(request_id), {
        title: String(title),
        kind: String(kind),
        name: String(command),
        refusing: new Set(refusing.map(({ option_id }) => String(option_id))),
      });
    },
    permission_resolved: (reading, { request_id, title, option_id, by }) => {
      const { asked, refused_titles, refusals } = reading;
      const request = asked.get(String(request_id));
      reading.closed ||= by === 'daemon' && request !== undefined;
      asked.delete(String(request_id));
      const isAnswer = request?.refusing.has(String(option_id)) === true;
      if (isAnswer && refusals.size < MOST_KEPT) refusals.add(request.name);
      const isRefused = option_id === null || isAnswer;
      if (isRefused) refused_titles.add(String(title));
      else refused_titles.delete(String(title));
    },
    block_skipped: ({ calls }, { tool_call_id }) => {
      const call = calls.get(String(tool_call_id));
      if (call !== undefined) calls.set(call.id, { ...call, status: 'skipped' });
    },
    network: ({ reached, refused }, { host, port, allowed }) => {
      (allowed === true ? reached : refused).add(`${String(host)}:${String(port)}`);
    },
    error: (reading, data) => {
      reading.refs.push(...leftRefs(data));
      if (data.code === PROCESSES_LEFT && reading.left.length < MOST_KEPT)
        reading.left.push(String(data.message));
      if (isTurnNotice(data.code) && reading.git.length < MOST_KEPT)
        reading.git.push(String(data.message));
    },
    question_request: ({ questions }, data) =>
      readQuestionEvent(questions, 'question_request', data),
    question_resolved: (reading, data) => {
      // A question that the daemon declined at once was never open.
      const question = reading.questions.get(String(data.question_id));
      reading.closed ||= data.by === 'daemon' && question !== undefined && !question.outcome;
      readQuestionEvent(reading.questions, 'question_resolved', data);
    },
    // The message cancelled the prompt and so closed its requests. The turn goes on.
    operator_message_delivered: (reading) => {
      reading.closed = false;
    },
    message: (reading, { text }) => {
      if (reading.last_words.length <= LONGEST)
        reading.last_words += String(text).slice(0, LONGEST);
    },
  } satisfies Record<string, EventReader>),
);

const callIn = (data: TranscriptEvent['data']): TranscriptCall => {
  const { tool_call_id, title, kind, status, exit_code, output } = data;
  const call = { id: String(tool_call_id), title: String(title), kind: String(kind) };
  return {
    ...call,
    status: String(status),
    ...(typeof exit_code === 'number' && { exit_code }),
    ...(call.kind === 'execute' && typeof output === 'string' && { output: endOf(output) }),
  };
};

const LAST_LINES = 10;

const endOf = (output: string): string =>
  output.trimEnd().split('\n').slice(-LAST_LINES).join('\n').slice(-LAST_CHARACTERS);

const LAST_CHARACTERS = 1000;

/** A call that is open when its run ends was ended with it. */
const killOpenCalls = (calls: Map<string, TranscriptCall>): void => {
  for (const [id, call] of calls)
    if (isUnfinishedCall(call)) calls.set(id, { ...call, status: 'killed', untold: true });
};

export const isUnfinishedCall = ({ status }: TranscriptCall): boolean =>
  status === 'pending' || status === 'in_progress';

const isWork = (call: TranscriptCall): boolean =>
  !isLook(call) && !isUnfinishedCall(call) && call.status !== 'killed' && call.refused !== true;

const LONGEST = 4096;
const MOST_KEPT = 100;
