import type { SessionEvent, SessionEvents } from '../../../../lib/client/client.ts';
import type { Note } from './entry.ts';
import { cutText } from './file-diffs.ts';

type Words = Pick<Note, 'tone' | 'text' | 'detail' | 'tab'>;

type Telling = { [E in keyof SessionEvents]?: (data: SessionEvents[E]) => Words | undefined };

const quiet = (text: string, detail?: string): Words => ({ tone: 'quiet', text, detail });
const DETAIL = { head: 2000, tail: 1000 };

const WAITS = { max_sessions: 'for another session to end', trust: 'until a setting is trusted' };
const REASONS = {
  operator: 'by you',
  usage_limit: 'the model has had enough requests',
  model_unavailable: 'the model failed or cannot be reached',
  login: 'the model does not take the credential',
  interrupted: 'it was interrupted',
};
const DONE = {
  created: 'made',
  written: 'changed',
  deleted: 'removed',
  renamed: 'renamed',
  directory_created: 'made',
};

const status = (data: SessionEvents['status']): Words => {
  const { pause_reason, resume_at, waits_for, message } = data;
  const parts = [
    data.status.replace('_', ' '),
    waits_for && `waits ${WAITS[waits_for]}`,
    pause_reason && REASONS[pause_reason],
    resume_at && `can go on at ${resume_at.slice(0, 16).replace('T', ' ')} UTC`,
    message,
  ];
  return quiet(`Now ${parts.filter(Boolean).join(', ')}.`);
};

const error = ({
  message,
  code,
  files = [],
  refs = [],
  kept_ref,
}: SessionEvents['error']): Words => {
  const more = [
    ...files,
    ...refs.map(
      ({ ref, before, after }) => `${ref}: ${before ?? 'nothing'} -> ${after ?? 'nothing'}`,
    ),
    ...(kept_ref === undefined ? [] : [`Kept under ${kept_ref}`]),
  ];
  return {
    ...{ tone: 'bad', text: message ?? code ?? 'It failed.' },
    detail: more.length === 0 ? undefined : cutText(more.join('\n'), DETAIL),
  };
};

const network = ({ host, port, allowed, reason }: SessionEvents['network']): Words =>
  allowed
    ? quiet(`Reached ${host}:${port}.`)
    : { tone: 'warn', text: `Was kept from ${host}:${port}${reason ? `: ${reason}` : ''}.` };

const unaskedWords = (commands: readonly string[]): string =>
  commands.length === 0 ? '' : ` Run without asking: ${commands.join('; ')}.`;

const TELLING: Telling = {
  status,
  error,
  network,
  plan_ready: () => ({ tone: 'warn', text: 'The plan is ready, and waits for you.', tab: 'plan' }),
  approved: ({ approved_by, approved_sha256, unasked = [] }) => ({
    ...{ tone: 'good', tab: 'plan' },
    text: `Approved by ${approved_by ?? 'the operator'}: ${approved_sha256.slice(0, 12)}.${unaskedWords(unasked)}`,
  }),
  operator_message: ({ text }) => ({ tone: 'good', text: `You: ${text}` }),
  operator_message_delivered: () => quiet('The agent has read your message.'),
  block_skipped: ({ title }) => quiet(`Left as it is: ${title}`),
  operator_edit: ({ action, path, from }) =>
    quiet(`You ${DONE[action]} ${from === undefined ? path : `${from} to ${path}`} meanwhile.`),
  diff: ({ files, additions, deletions }) => ({
    ...{ tone: 'good', tab: 'diff' },
    text: `Changed ${files} ${files === 1 ? 'file' : 'files'}: +${additions} −${deletions}.`,
  }),
  log_continued: ({ message }) => quiet(message),
  gap: ({ message }) => ({ tone: 'warn', text: message }),
  plan: ({ entries }) => {
    const done = entries.filter((entry) => entry.status === 'completed').length;
    const list = entries.map((entry) => `${entry.status.replace('_', ' ')}: ${entry.content}`);
    return quiet(
      `Its own list: ${done} of ${entries.length} done.`,
      cutText(list.join('\n'), DETAIL),
    );
  },
  agent_state: ({ mode, title, commands, options }) => {
    const list = (options ?? []).map(({ name, value }) => `${name}: ${value}`);
    const words = [title && `calls this ${title}`, mode && `mode ${mode}`, ...list];
    const text = words.filter(Boolean).join(', ');
    return text === '' ? undefined : quiet(`Agent: ${text}.`, commands?.join('\n'));
  },
  agent_event: ({ kind, raw }) =>
    quiet(`The agent told of ${kind}.`, cutText(JSON.stringify(raw, null, 2) ?? '', DETAIL)),
  complete: ({ status: end, error: why }) => ({
    tone: end === 'completed' ? 'good' : 'bad',
    text: why === null ? `The session is ${end}.` : `The session has ${end}: ${why}`,
  }),
};

/** What is said of an event that is nothing else; undefined where there is nothing to say. */
export const wordsOf = ({ event, data }: SessionEvent): Words | undefined => {
  const tell = TELLING[event] as ((data: unknown) => Words | undefined) | undefined;
  // A newer daemon may tell of what has no words here.
  if (tell === undefined) return SILENT.has(event) ? undefined : quiet(`${event}.`);
  return tell(data);
};

const SILENT: ReadonlySet<string> = new Set([
  ...['usage', 'waiting', 'waiting_over', 'comments_changed'],
]);
