import { hasCode } from '../../../store/base/attempt.ts';
import type { SessionEvent } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { counted } from '../../text/wording.ts';
import { sessionOf } from '../connection/find.ts';
import { EXIT } from '../exit-codes.ts';
import type { Out, Words } from '../output/out.ts';
import { warn } from '../output/terminal.ts';
import { failureLines } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

const LINES = '200';

/** `dossier tail ITEM`: follows its session until it has ended. Returns 0 if its work is completed, else 1. */
export const tail = verb(async (given) => {
  const { dossier, values, out, typed } = given;
  const { lines = LINES } = values;
  if (!/^[1-9]\d{0,5}$/.test(lines))
    throw new UsageError(`-n takes a number of events from 1 to 999999, not ${lines}`);
  const { case_id: id, id: sid } = await sessionOf(given);
  const forItem = (word: string): string => typed(`${word} ${id.slice(0, 8)}`);
  const tell = values.json === true ? out.jsonLine : createEventPrinter(out, forItem);
  const life = new AbortController();
  // The reader of the output has exited, as `head` does, or its disk is full.
  process.stdout.once('error', (error) => life.abort(error));
  const stream = dossier.stream('GET /cases/{id}/sessions/{sid}/stream', {
    id,
    sid,
    query: { after: -Number(lines) },
    signal: life.signal,
    ...breaksTold(given),
  });
  let last: SessionEvent | undefined;
  for await (const event of stream) {
    last = event;
    tell(event);
  }
  if (life.signal.aborted) return hasCode(life.signal.reason, 'EPIPE') ? EXIT.left : EXIT.failed;
  return last?.event === 'complete' && last.data.status === 'completed' ? 0 : 1;
});

/** Says once that the connection was lost, and again after it was restored. The stream reconnects by itself. */
export const breaksTold = ({ typed }: Verb) => {
  let isLost = false;
  return {
    onOpen: () => {
      isLost = false;
    },
    onBreak: () => {
      if (!isLost)
        warn(
          `The connection to the daemon was lost. This command connects again until Ctrl-C. If the daemon was stopped, start it: ${typed('up')}`,
        );
      isLost = true;
    },
  };
};

type Data = { [E in SessionEvent as E['event']]: E['data'] };
type Hear = { [E in keyof Data]?: (data: Data[E]) => void };
type Lines = { [E in keyof Data]?: (data: Data[E]) => readonly Words[] };

/**
 * Returns a function that prints events of a session. Consecutive pieces of text are printed as one text. Reads and searches are
 * summarized in one line without their results; the output of commands is printed. `typed` is what to type for a verb on
 * the Work item.
 */
export const createEventPrinter = (
  out: Out,
  typed: (verb: string) => string,
): ((event: SessionEvent) => void) => {
  const lines = linesFor(typed);
  const { piece, close } = textTo(out);
  const looks = looksTo((words) => {
    close();
    out.say(words);
  });
  const streamed = new Set<string>();
  const text = (of: string, words: string): void => {
    if (words !== '') looks.end();
    piece(of, words);
  };
  const told = ({ event, data }: Pick<SessionEvent, 'event' | 'data'>): void => {
    const words = (lines[event] as ((data: unknown) => readonly Words[]) | undefined)?.(data);
    if (words === undefined || words.length === 0) return;
    looks.end();
    close();
    for (const each of words) out.say(each);
  };
  const output = ({ tool_call_id, output = '' }: Data['tool_call']): void => {
    if (streamed.has(tool_call_id)) return;
    text(tool_call_id, output);
    close();
  };
  const others: Hear = {
    message: (data) => text('message', data.text),
    thought: (data) => text('thought', data.text),
    tool_output: (data) => {
      streamed.add(data.tool_call_id);
      text(data.tool_call_id, data.text);
    },
    tool_call: (data) => {
      told({ event: 'tool_call', data });
      output(data);
    },
    gap: (data) => {
      // The tool call itself contains the beginning and the end of an output that was cut.
      streamed.delete(data.tool_call_id ?? '');
      told({ event: 'gap', data });
    },
  };
  return (event) => {
    if (looks.take(event)) return;
    const hear = others[event.event] as ((data: unknown) => void) | undefined;
    if (hear === undefined) told(event);
    else hear(event.data);
  };
};

const LOOKS = ['read', 'search'];
const NAMED = 3;

/** Counts reads and searches until something else is printed. */
const looksTo = (say: (words: Words) => void) => {
  const known = new Set<string>();
  let since: string[] = [];
  const add = (id: string, names: readonly string[]): void => {
    if (known.has(id)) return;
    known.add(id);
    since.push(names.join(', '));
  };
  return {
    /** Returns true if the event belongs to such a call. */
    take: ({ event, data }: SessionEvent): boolean => {
      if (event === 'tool_output') return known.has(data.tool_call_id);
      if (event !== 'tool_call' || !LOOKS.includes(data.kind)) return false;
      const { tool_call_id, title, locations = [] } = data;
      add(tool_call_id, locations.length > 0 ? locations : [title]);
      return true;
    },
    end: (): void => {
      if (since.length === 0) return;
      const names = [...new Set(since)];
      const more = names.length > NAMED ? ', …' : '';
      const text = `* ${counted(since.length, 'read')}: ${names.slice(0, NAMED).join(', ')}${more}`;
      since = [];
      say({ style: 'dim', text });
    },
  };
};

// A line without an end is completed before text of another kind.
const textTo = (out: Out) => {
  let [kind, isOpen] = ['', false];
  const close = (): void => {
    if (isOpen) out.say('');
    [kind, isOpen] = ['', false];
  };
  const piece = (of: string, text: string): void => {
    if (text === '') return;
    if (kind !== of) close();
    out.piece(of === 'message' ? text : { style: 'dim', text });
    [kind, isOpen] = [of, !text.endsWith('\n')];
  };
  return { piece, close };
};

const marked = (text: string): Words => ({ style: 'cyan', text });
const alarm = (text: string): Words => ({ style: 'yellow', text });
const strong = (text: string): Words => ({ style: 'bold', text });

const linesFor = (typed: (verb: string) => string): Lines => ({
  ...askedFor(typed),
  tool_call: toolLines(),
  plan: ({ entries }) => entries.map(({ content, status }) => `  ${status}: ${content}`),
  gap: ({ message }) => [alarm(message)],
  network: ({ host, port, allowed, reason = '' }) =>
    allowed ? [] : [alarm(`Refused: ${host}:${port}. ${reason}`)],
  sandbox_limit: ({ message }) => [alarm(`Sandbox: ${message}`)],
  waiting: ({ message }) => [alarm(`Waits: ${message}`)],
  status: ({ status, message = '' }) => [
    strong(message === '' ? `-- ${status}` : `-- ${status}: ${message}`),
    ...(status === 'paused' ? [alarm(`It waits for you: ${typed('resume')}`)] : []),
  ],
  operator_message: ({ text }) => [strong(`You: ${text}`)],
  operator_message_delivered: () => ['The agent has read your message'],
  terminal_attached: () => ['A terminal was attached to the agent'],
  terminal_detached: () => ['The terminal was detached'],
  block_skipped: ({ title }) => [`Skipped: ${title}`],
  operator_edit: ({ action, path }) => [`You: ${action} ${path}`],
  diff: ({ files, additions, deletions }) =>
    files === 0
      ? ['No file changed']
      : [
          `Changed: ${counted(files, 'file')}, +${additions} -${deletions}. Show it with ${typed('diff')}`,
        ],
  error: ({ message, code }) => [alarm(message ?? code ?? 'It failed')],
  log_continued: ({ message }) => [message],
  // Its error is an event of its own.
  complete: ({ status, commands }) => [...failureLines(commands), strong(`-- ended: ${status}`)],
});

const askedFor = (typed: (verb: string) => string): Lines => ({
  permission_request: ({ title, command, other_arguments }) => [
    alarm(`? ${command ?? title}`),
    ...(other_arguments === undefined ? [] : [alarm(`  with ${other_arguments}`)]),
    `  ${typed('answer')}`,
  ],
  permission_resolved: ({ title, option_id, by }) => [
    `  ${title}: ${option_id ?? 'cancelled'} (${by})`,
  ],
  question_request: ({ message }) => [alarm(`? ${message}`), `  ${typed('answer')}`],
  question_resolved: ({ message, action, by }) => [`  ${message}: ${action} (${by})`],
  plan_ready: () => [alarm(`The plan is ready: ${typed('approve')}`)],
  approved: ({ approved_by }) => [`Approved by ${approved_by ?? 'operator'}`],
});

const UNDER_WAY = ['pending', 'in_progress'];
const BAD = ['failed', 'killed'];

const howItEnded = (status: string, exit_code: number | undefined): string =>
  exit_code === undefined ? ` ${status}` : ` ${status} (exit ${exit_code})`;

// Prints a tool call when it starts and when it ends.
const toolLines = (): NonNullable<Lines['tool_call']> => {
  const started = new Set<string>();
  return ({ tool_call_id, title, kind, status, exit_code, locations = [] }) => {
    const isOver = !UNDER_WAY.includes(status);
    if (!isOver && started.has(tool_call_id)) return [];
    started.add(tool_call_id);
    const files = locations.length === 0 ? '' : ` (${locations.join(', ')})`;
    const text = `* ${kind}: ${title}${files}${isOver ? howItEnded(status, exit_code) : ''}`;
    return [BAD.includes(status) ? alarm(text) : marked(text)];
  };
};
