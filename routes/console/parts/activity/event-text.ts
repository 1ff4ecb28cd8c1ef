import type { SessionEvent, SessionEvents } from '../../../../lib/client/client.ts';
import { counted, utcOf } from '../../../../lib/text/wording.ts';
import type { Note } from './entry.ts';
import { cutText } from './file-diffs.ts';

type EventText = Pick<Note, 'tone' | 'text' | 'detail' | 'tab'>;

type Describers = {
  [E in keyof SessionEvents]?: (data: SessionEvents[E]) => EventText | undefined;
};

const quiet = (text: string, detail?: string): EventText => ({ tone: 'quiet', text, detail });
const warn = (text: string): EventText => ({ tone: 'warn', text });
const DETAIL = { head: 2000, tail: 1000 };

const WAITS = {
  max_sessions: 'waiting for another session to end',
  trust: 'waiting for trust of a setting',
};
const REASONS = {
  operator: 'by you',
  usage_limit: 'the usage limit of the model is reached',
  model_unavailable: 'the model is unavailable',
  login: 'the model rejected the credential',
  interrupted: 'interrupted',
};
const DONE = {
  created: 'created',
  written: 'changed',
  deleted: 'deleted',
  renamed: 'renamed',
  directory_created: 'created',
};

const status = (data: SessionEvents['status']): EventText => {
  const { pause_reason, resume_at, waits_for, message } = data;
  const parts = [
    data.status.replace('_', ' '),
    waits_for && WAITS[waits_for],
    pause_reason && REASONS[pause_reason],
    resume_at && `can resume at ${utcOf(resume_at)}`,
    message,
  ];
  return quiet(`Status: ${parts.filter(Boolean).join(', ')}.`);
};

const error = ({
  message,
  code,
  files = [],
  refs = [],
  kept_ref,
}: SessionEvents['error']): EventText => {
  const more = [
    ...files,
    ...refs.map(
      ({ ref, before, after }) => `${ref}: ${before ?? 'nothing'} -> ${after ?? 'nothing'}`,
    ),
    ...(kept_ref === undefined ? [] : [`Saved as ${kept_ref}`]),
  ];
  return {
    tone: 'bad',
    text: message ?? code ?? 'Error.',
    detail: more.length === 0 ? undefined : cutText(more.join('\n'), DETAIL),
  };
};

const network = ({ host, port, allowed, reason }: SessionEvents['network']): EventText =>
  allowed
    ? quiet(`Connected to ${host}:${port}.`)
    : warn(`Blocked a connection to ${host}:${port}${reason ? `: ${reason}` : ''}.`);

const unaskedWords = (commands: readonly string[]): string =>
  commands.length === 0 ? '' : ` Runs without asking: ${commands.join('; ')}.`;

const DESCRIBE: Describers = {
  status,
  error,
  network,
  sandbox_limit: ({ message }) => warn(`Sandbox: ${message}`),
  plan_ready: () => ({ tone: 'warn', text: 'The plan is ready for review.', tab: 'plan' }),
  approved: ({ approved_by, approved_sha256, unasked = [] }) => ({
    tone: 'good',
    tab: 'plan',
    text: `Approved by ${approved_by ?? 'the operator'}: ${approved_sha256.slice(0, 12)}.${unaskedWords(unasked)}`,
  }),
  operator_message: ({ text }) => ({ tone: 'good', text: `You: ${text}` }),
  operator_message_delivered: () => quiet('Your message was delivered to the agent.'),
  terminal_attached: () => quiet('You attached a terminal to the agent.'),
  terminal_detached: () => quiet('You detached the terminal from the agent.'),
  block_skipped: ({ title }) => quiet(`Skipped: ${title}`),
  operator_edit: ({ action, path, from }) =>
    quiet(
      `You ${DONE[action]} ${from === undefined ? path : `${from} to ${path}`} during the session.`,
    ),
  diff: ({ files, additions, deletions }) => ({
    tone: 'good',
    tab: 'diff',
    text: `Changed ${counted(files, 'file')}: +${additions} −${deletions}.`,
  }),
  log_continued: ({ message }) => quiet(message),
  gap: ({ message }) => warn(message),
  plan: ({ entries }) => {
    const done = entries.filter((entry) => entry.status === 'completed').length;
    const list = entries.map((entry) => `${entry.status.replace('_', ' ')}: ${entry.content}`);
    return quiet(
      `To-do list: ${done} of ${entries.length} completed.`,
      cutText(list.join('\n'), DETAIL),
    );
  },
  agent_state: ({ mode, title, commands, options }) => {
    const list = (options ?? []).map(({ name, value }) => `${name}: ${value}`);
    const words = [title && `title ${title}`, mode && `mode ${mode}`, ...list];
    const text = words.filter(Boolean).join(', ');
    return text === '' ? undefined : quiet(`Agent: ${text}.`, commands?.join('\n'));
  },
  agent_event: ({ kind, raw }) =>
    quiet(`Agent event: ${kind}.`, cutText(JSON.stringify(raw, null, 2) ?? '', DETAIL)),
  // Its error is an event of its own.
  complete: ({ status: end }) => ({
    tone: end === 'completed' ? 'good' : 'bad',
    text: `The session is ${end}.`,
  }),
};

/** Describes an event that has no entry of its own; undefined if it is not shown. */
export const describeEvent = ({ event, data }: SessionEvent): EventText | undefined => {
  const tell = DESCRIBE[event] as ((data: unknown) => EventText | undefined) | undefined;
  // A newer daemon may send events that are unknown here.
  if (tell === undefined) return NOT_SHOWN.has(event) ? undefined : quiet(`${event}.`);
  return tell(data);
};

const NOT_SHOWN: ReadonlySet<string> = new Set([
  ...['usage', 'waiting', 'waiting_over', 'comments_changed'],
]);
