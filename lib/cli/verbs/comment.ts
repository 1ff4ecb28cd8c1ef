import { withComment } from '../../../store/base/comments.ts';
import { type Dossier, Problem, type Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { sessionOf } from '../connection/find.ts';
import { editText } from '../output/editor.ts';
import { isTerminal } from '../output/terminal.ts';
import { readPlan, readUnsentComments } from './read-plan.ts';
import { hasEnded, nextText } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

const TRIES = 5;

/** `dossier comment ITEM [TEXT...]`: adds to comments.md, or opens it in an editor. `revise` sends comments to the agent. */
export const comment = verb(async (given) => {
  const { values, report, typed } = given;
  const said = given.words.slice(1);
  if (said.length === 0 && (values.on !== undefined || !isTerminal()))
    throw new UsageError('comment needs a TEXT with --on, or without a terminal');
  const words = said.join(' ');
  if (said.length > 0 && words.trim() === '')
    throw new Refusal('The comment is empty, so nothing was saved');
  const session = await sessionOf(given);
  refuseWithoutPlan(given, session);
  const noted = said.length === 0 ? byHand(given, session) : addWords(given, session, words);
  report(
    { session, comments: await noted },
    session.elsewhere === true
      ? 'Saved. The machine where the session started can send it'
      : `Saved. To send the plan back with it: ${typed(`revise ${session.case_id.slice(0, 8)}`)}`,
  );
});

// The daemon refuses too, but a message is what the operator can send.
const refuseWithoutPlan = (given: Verb, session: Session): void => {
  const { id, case_id, status, mode, provider } = session;
  if (mode === 'plan' && !hasEnded(status)) return;
  // These read no messages while they work.
  const next =
    (provider === 'runbook' || provider === 'manual') && !hasEnded(status)
      ? nextText(given, session)
      : `Send a message instead: ${given.typed(`say ${case_id.slice(0, 8)} "…"`)}`;
  throw new Refusal(`Session ${id.slice(0, 8)} is ${status} and has no plan to send back. ${next}`);
};

const readFile = ({ request }: Dossier, { case_id: id, id: sid }: Session) =>
  request('GET /cases/{id}/sessions/{sid}/comments', { id, sid });

const write = (
  { call }: Dossier,
  { case_id: id, id: sid }: Session,
  file: { body: string; ifMatch: string | undefined },
) => call('PUT /cases/{id}/sessions/{sid}/comments', { id, sid, ...file });

// Appends, and tries again after a concurrent change, so that no comment is lost.
const addWords = async (given: Verb, session: Session, words: string): Promise<string> => {
  const { dossier, values } = given;
  const quote = values.on === undefined ? '' : await blockWith(given, session, values.on);
  for (let left = TRIES; ; left -= 1) {
    const { data = '', etag } = await readFile(dossier, session);
    try {
      const body = withComment(data, quote, words);
      return await write(dossier, session, { body, ifMatch: etag });
    } catch (error) {
      if (!(error instanceof Problem && error.status === 412) || left === 1) throw error;
    }
  }
};

const byHand = async ({ dossier, config }: Verb, session: Session): Promise<string> => {
  const { data = '', etag } = await readFile(dossier, session);
  return editText({ text: data, name: 'comments.md', env: config.env }, async (text) => {
    if (text === data) throw new Refusal('Nothing was changed');
    return write(dossier, session, { body: text, ifMatch: etag });
  });
};

const blockWith = async (given: Verb, session: Session, words: string): Promise<string> => {
  const { text } = await readPlan(given, session);
  const [found, ...more] = blocksOf(text).filter((block) => block.includes(words));
  if (found !== undefined && more.length === 0) return found;
  throw new Refusal(
    `${found === undefined ? 'No part' : 'More than one part'} of the plan contains ${JSON.stringify(words)}. Quote the plan as dossier plan shows it`,
  );
};

// Parts are separated by empty lines; a fenced block is one part.
const blocksOf = (text: string): string[] =>
  [
    ...text.matchAll(/^(`{3,}|~{3,})[\s\S]*?^\1.*$|^(?:.*\S.*\n?)(?:(?!`{3}|~{3}).*\S.*\n?)*/gm),
  ].map(([block]) => block.trimEnd());

/** `dossier revise ITEM [COMMENT...]`: sends the plan back, without a comment with the unsent ones of comments.md. */
export const revise = verb(async (given) => {
  const { dossier, words, report, typed } = given;
  const said = words.slice(1);
  const known = await sessionOf(given);
  refuseWithoutPlan(given, known);
  const { case_id: id, id: sid } = known;
  const unsent = said.length === 0 ? await readUnsentComments(dossier, known) : '';
  if (said.length === 0 && unsent === '')
    throw new Refusal(
      `There is no unsent comment. Give one: ${typed(`revise ${id.slice(0, 8)} COMMENT`)}`,
    );
  const body = said.length === 0 ? {} : { comment: said.join(' ') };
  const session = await dossier.call('POST /cases/{id}/sessions/{sid}/revise', { id, sid, body });
  const sent = unsent === '' ? '' : `. Sent:\n${unsent}`;
  report(session, `The plan was sent back; session ${sid.slice(0, 8)} is ${session.status}${sent}`);
});
