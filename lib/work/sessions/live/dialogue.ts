import { fenceOff } from '../../../../store/base/text.ts';
import type { SessionMessage } from '../../../../store/records/message.ts';
import type { Session } from '../../../../store/records/session.ts';
import { list, record, text, type Wire } from '../../../text/unknown-json.ts';
import { attachedText, shorten } from '../../../text/wording.ts';
import { minuteOf } from '../../cases/text.ts';

/** A question of the agent, with its outcome. */
interface AskedQuestion {
  message: string;
  fields: readonly string[];
  asked_at: string;
  /** Undefined while the question is open. */
  outcome: { action: string; by: string; reason: string; content: Wire } | undefined;
}

/** By id, in the order of asking. */
export type AskedQuestions = Map<string, AskedQuestion>;

/** Reads a question event of a session's stream, whose file may have been edited by hand. */
export const readQuestionEvent = (questions: AskedQuestions, event: string, data: Wire): void => {
  const id = String(data.question_id);
  const known = questions.get(id);
  if (event === 'question_request' && questions.size < MOST_KEPT) questions.set(id, askedIn(data));
  if (event !== 'question_resolved') return;
  // A question that the daemon declined by itself has no request event.
  const question = known ?? (questions.size < MOST_KEPT ? askedIn(data) : undefined);
  if (question === undefined) return;
  const { action, by, reason } = data;
  const outcome = { action: String(action), by: String(by), reason: text(reason) ?? '' };
  questions.set(id, { ...question, outcome: { ...outcome, content: record(data.content) } });
};

const askedIn = ({ message, fields, at }: Wire): AskedQuestion => ({
  message: shorten(text(message) ?? '', LONGEST),
  fields: list(fields).map((field) => fieldLine(record(field))),
  asked_at: text(at) ?? '',
  outcome: undefined,
});

const fieldLine = ({ name, title, description, required, ...field }: Wire): string => {
  const options = list(field.options).map((option) => text(record(option).value) ?? '');
  const words = [
    ...[text(title), text(description)].filter((word) => word !== undefined),
    ...(options.length === 0 ? [] : [`one of: ${options.join(', ')}`]),
    ...(required === true ? ['required'] : []),
  ];
  return `- ${String(name)}${words.length === 0 ? '' : `: ${words.join('; ')}`}`;
};

/** The part of session.md with the agent's questions and their answers. */
export const questionsPart = (questions: Iterable<AskedQuestion>): string[] => {
  const all = [...questions];
  const more = all.length - MOST_SHOWN;
  const rest = more > 0 ? [`And ${more} more, which are in events.ndjson.`] : [];
  const parts = all.slice(0, MOST_SHOWN).flatMap(questionPart);
  return parts.length === 0 ? [] : ['## Questions', ...parts, ...rest];
};

const questionPart = ({ message, fields, asked_at, outcome }: AskedQuestion): string[] => {
  const at = asked_at === '' ? '' : ` at ${minuteOf(asked_at)}`;
  const asked = [message, ...fields].join('\n');
  return [
    `The agent asked${at}:`,
    fenceOff(shorten(asked, LONGEST), 'text'),
    ...outcomeOf(outcome),
  ];
};

const outcomeOf = (outcome: AskedQuestion['outcome']): string[] => {
  if (outcome === undefined) return ['It waits for your answer: `GET /attention` has the call.'];
  const { action, by, reason, content } = outcome;
  if (by !== 'operator')
    return ['It was not answered:', fenceOff(shorten(reason, LONGEST), 'text')];
  if (action !== 'accept')
    return [action === 'decline' ? 'The operator declined.' : 'The operator cancelled it.'];
  const answers = Object.entries(content).map(([name, value]) => `${name}: ${plain(value)}`);
  if (answers.length === 0) return ['The operator accepted.'];
  return ['The operator answered:', fenceOff(shorten(answers.join('\n'), LONGEST), 'text')];
};

const plain = (value: unknown): string => (Array.isArray(value) ? value.join(', ') : String(value));

const MOST_KEPT = 1000;
const MOST_SHOWN = 100;
const LONGEST = 4000;

/** The part of session.md with the operator's messages. */
export const messagesPart = (messages: readonly SessionMessage[]): string[] => {
  const more = messages.length - MOST_SHOWN;
  const rest = more > 0 ? [`And ${more} more, which are in the front matter.`] : [];
  const parts = messages.slice(0, MOST_SHOWN).flatMap(messagePart);
  return parts.length === 0 ? [] : ['## Messages', ...parts, ...rest];
};

/** The part of session.md with the times at which the agent's own interface was attached. */
export const attachedPart = ({ attached = [] }: Pick<Session, 'attached'>): string[] => {
  const lines = attached.map(
    (each) => `${each.started_at.slice(0, 10)}: ${attachedText(each, 'UTC')} UTC`,
  );
  const heading = "## The agent's own interface";
  return lines.length === 0 ? [] : [heading, fenceOff(lines.join('\n'), 'text')];
};

const messagePart = ({ at, mode, text, sha256, delivered_at, from }: SessionMessage): string[] => {
  const where = from === 'attach' ? " in the agent's own interface, by its transcript," : '';
  const approved = mode === 'work' ? `, SHA-256 \`${sha256}\`` : '';
  const unread = delivered_at === null ? ' No agent has read it.' : '';
  return [
    `The operator at ${minuteOf(at)}${where} in ${mode === 'work' ? 'Work' : 'Plan'} mode${approved}:${unread}`,
    fenceOff(shorten(text, LONGEST), 'markdown'),
  ];
};
