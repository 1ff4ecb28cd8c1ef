import { type AttentionItem, type Dossier, Problem, type Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { findItem } from '../connection/item.ts';
import { dropPendingInput } from '../output/keys.ts';
import { isTerminal } from '../output/terminal.ts';
import { askFields, askOption, type Body, fieldsGiven } from './answer-ask.ts';
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
  const asked = await oneOf(given, await findItem(dossier, word));
  const { message } = asked;
  const isGiven = [values.option, values.field, values.prefix].some((each) => each !== undefined);
  if (!isGiven && !isTerminal())
    throw new UsageError(`Not a terminal, so you cannot be asked. Answer with ${howTo(asked)}`);
  if (!isGiven) out.say({ style: 'bold', text: message });
  const body = isGiven ? fieldsGiven(asked, values) : await ask(given, asked);
  if (body === undefined) {
    out.say('Nothing was answered.');
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
  const body = await ask(given, asked);
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

const ask = ({ out }: Verb, asked: AttentionItem) =>
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

const oneOf = async ({ dossier, values }: Verb, id: string): Promise<AttentionItem> => {
  const { request = '' } = values;
  const all = (await dossier.call('GET /attention'))
    .filter((item) => item.case_id === id && isAsked(item))
    .toSorted((a, b) => (a.since < b.since ? -1 : 1));
  const found = all.filter((item) => requestOf(item).startsWith(request));
  const [first] = found;
  if (first === undefined)
    throw new Refusal(
      all.length === 0
        ? 'Its agent has no open request. dossier inbox lists everything that needs you'
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
