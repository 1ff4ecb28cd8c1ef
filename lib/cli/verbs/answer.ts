import {
  type AttentionItem,
  type Dossier,
  Problem,
  type QuestionField,
  type Session,
} from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/find.ts';
import { dropPendingInput } from '../output/keys.ts';
import type { Out } from '../output/out.ts';
import { ask, isTerminal } from '../output/terminal.ts';
import { type Verb, verb } from './verb.ts';

/**
 * `dossier answer ITEM`: answers the oldest request of its agent. At a terminal it is shown first; otherwise the answer is
 * given as options, with `--request` if there are several, so that no unread request is answered.
 */
export const answer = verb(async (given) => {
  const {
    dossier,
    words: [word = ''],
    values,
    out,
  } = given;
  const asked = await oneOf(given, await findItem(given, word));
  const { message } = asked;
  const isGiven = [values.option, values.field, values.prefix].some((each) => each !== undefined);
  if (!isGiven && !isTerminal())
    throw new UsageError(`Without a terminal, dossier cannot ask you. Answer with ${howTo(asked)}`);
  if (!isGiven) out.say({ style: 'bold', text: message });
  const body = isGiven ? fieldsGiven(asked, values) : await askFor(given, asked);
  if (body === undefined) {
    out.say('No answer was sent.');
    return 1;
  }
  const session = await send(dossier, asked, body);
  given.report(
    session,
    `Answered with ${'option_id' in body ? body.option_id : body.action}: ${message}`,
  );
});

/** Shows a request at this terminal and answers it. Returns false without an answer, and true if it was answered elsewhere. */
export const answerHere = async (given: Verb, request: string): Promise<boolean> => {
  const { dossier, out } = given;
  const asked = (await dossier.call('GET /attention')).find(
    (item) => isAsked(item) && requestOf(item) === request,
  );
  if (asked === undefined) return true;
  await dropPendingInput();
  const body = await askFor(given, asked);
  if (body === undefined) return false;
  await send(dossier, asked, body).catch((error: unknown) => {
    if (!(error instanceof Problem)) throw error;
    out.say({ style: 'yellow', text: error.message });
  });
  return true;
};

/** Whether an entry is a request of an agent. */
export const isAsked = ({ kind }: AttentionItem): boolean =>
  kind === 'permission' || kind === 'question';

const askFor = ({ out }: Verb, asked: AttentionItem) =>
  asked.kind === 'permission' ? askOption(out, asked) : askFields(out, asked);

const send = ({ call }: Dossier, asked: AttentionItem, body: Body): Promise<Session> => {
  const { session_id: sid = '', case_id: id = '' } = asked;
  const which = requestOf(asked);
  return 'option_id' in body
    ? call('POST /cases/{id}/sessions/{sid}/permissions/{request_id}', {
        id,
        sid,
        body,
        request_id: which,
      })
    : call('POST /cases/{id}/sessions/{sid}/questions/{question_id}', {
        id,
        sid,
        body,
        question_id: which,
      });
};

const requestOf = ({ answer: { path } }: AttentionItem): string =>
  decodeURIComponent(path.split('/').at(-1) ?? '');

const oneOf = async ({ dossier, values, typed }: Verb, id: string): Promise<AttentionItem> => {
  const { request = '' } = values;
  const all = (await dossier.call('GET /attention')).filter(
    (item) => item.case_id === id && isAsked(item),
  );
  const found = all.filter((item) => requestOf(item).startsWith(request));
  const [first] = found;
  if (first === undefined)
    throw new Refusal(
      all.length === 0
        ? `Its agent has no open request. List everything that needs you: ${typed('inbox')}`
        : `No request has an id that begins with ${request}: ${listed(all)}`,
    );
  if (found.length > 1 && !isTerminal())
    throw new Refusal(`There are several requests. Choose one with --request ID: ${listed(all)}`);
  return first;
};

const listed = (all: readonly AttentionItem[]): string =>
  all.map((item) => `\n  ${requestOf(item).slice(0, 8)}  ${item.message}`).join('');

const howTo = ({ options, fields = [] }: AttentionItem): string => {
  if (options !== undefined)
    return `--option ${options.map(({ option_id }) => option_id).join(' or ')}`;
  const named = fields.map(({ name }) => `--field ${name}=…`);
  return [...named, '--option decline'].join(' ');
};

type Value = string | number | boolean | string[];

const ACTIONS = ['accept', 'decline', 'cancel'] as const;

/** The body of the API call. */
type Body =
  | { option_id: string; prefix?: string }
  | { action: (typeof ACTIONS)[number]; content?: Record<string, Value> };

/** Reads the answer from the options. Throws UsageError if it does not match the request. */
const fieldsGiven = ({ kind, options = [], fields = [] }: AttentionItem, values: Values): Body => {
  const { option, field = [], prefix } = values;
  if (kind === 'permission') return optionGiven(options, option, prefix);
  if (prefix !== undefined) throw new UsageError('--prefix is only for a permission');
  const action = ACTIONS.find((each) => each === (option ?? 'accept'));
  if (action === undefined) throw new UsageError(`--option takes ${ACTIONS.join(' or ')} here`);
  if (action !== 'accept') return { action };
  const content = Object.fromEntries(
    field.map((given): [string, Value] => {
      const [, name = '', text = ''] = /^([^=]+)=([\s\S]*)$/.exec(given) ?? [];
      const known = fields.find((each) => each.name === name);
      if (known !== undefined) return [name, typedOf(known, text)];
      throw new UsageError(
        `--field takes NAME=VALUE, of ${fields.map((each) => each.name).join(', ') || 'no field here'}`,
      );
    }),
  );
  return { action, content };
};

const optionGiven = (
  options: NonNullable<AttentionItem['options']>,
  option: string | undefined,
  prefix: string | undefined,
): Body => {
  const chosen = options.find(({ option_id }) => option_id === option);
  if (chosen === undefined)
    throw new UsageError(
      `Answer it with --option ${options.map(({ option_id }) => option_id).join(' or ')}`,
    );
  if (prefix !== undefined && !takesPrefix(chosen))
    throw new UsageError('--prefix is only for --option allow_prefix or allow_project');
  return { option_id: chosen.option_id, ...(prefix !== undefined && { prefix }) };
};

const takesPrefix = ({ kind }: { kind: string }): boolean =>
  kind === 'allow_prefix' || kind === 'allow_project';

/** Asks for an option of a permission, by its number; undefined for no answer. */
const askOption = async (out: Out, { options = [] }: AttentionItem): Promise<Body | undefined> => {
  for (const [at, { name, kind }] of options.entries())
    out.say(`  ${at + 1}  ${name} (${kind.replaceAll('_', ' ')})`);
  const said = await ask('Which number? ');
  const chosen = /^\d+$/.test(said) ? options[Number(said) - 1] : undefined;
  if (chosen === undefined || !takesPrefix(chosen))
    return chosen && { option_id: chosen.option_id };
  const prefix = await ask('Allow commands that begin with (Enter: this whole command): ');
  return { option_id: chosen.option_id, ...(prefix !== '' && { prefix }) };
};

/** Asks for the fields of a question; undefined if a required one was left out. */
const askFields = async (out: Out, { fields = [] }: AttentionItem): Promise<Body | undefined> => {
  const content: Record<string, Value> = {};
  for (const field of fields) {
    const value = await askField(out, field);
    if (value === undefined && field.required) return undefined;
    if (value !== undefined) content[field.name] = value;
  }
  if (fields.length > 0) return { action: 'accept', content };
  const said = (await ask(`${ACTIONS.join(', ')}? `)).toLowerCase();
  const action = ACTIONS.find((each) => each === said);
  return action && { action };
};

const askField = async (out: Out, field: QuestionField): Promise<Value | undefined> => {
  out.say(aboutOf(field));
  for (const { value, title, description } of field.options ?? [])
    out.say(`  ${[value, title, description].filter(Boolean).join('  ')}`);
  const said = await ask('> ');
  return said === '' ? field.default : typedOf(field, said);
};

const aboutOf = ({
  name,
  title,
  description,
  required,
  type,
  default: usual,
}: QuestionField): string =>
  [
    title ?? name,
    ...(description === undefined ? [] : [description]),
    `(${[type === 'array' ? 'several, separated by commas' : type, ...(required ? [] : ['optional'])].join(', ')}${
      usual === undefined ? '' : `; default: ${usual}`
    })`,
  ].join(' ');

// Sends a value of another type unchanged, for the daemon to reject.
const typedOf = ({ type }: QuestionField, text: string): Value => {
  if (type === 'number' || type === 'integer')
    return Number.isNaN(Number(text)) ? text : Number(text);
  if (type === 'array') return text.split(',').map((part) => part.trim());
  if (type !== 'boolean') return text;
  if (/^(y|yes|true)$/i.test(text)) return true;
  return /^(n|no|false)$/i.test(text) ? false : text;
};
