import { withComment } from '../../../store/base/comments.ts';
import { type Dossier, Problem, type Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { Refusal } from '../args/refusal.ts';
import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import { edited } from '../output/editor.ts';
import { isTerminal } from '../output/terminal.ts';
import { readPlan } from './read-plan.ts';
import { type Verb, verb } from './verb.ts';

const TRIES = 5;

/** `dossier comment ITEM [TEXT...]`: a comment more in comments.md, or the file in an editor. No agent is told before `revise`. */
export const comment = verb(async (given) => {
  const { dossier, values, out } = given;
  const [word = '', ...said] = given.words;
  if (said.length === 0 && (values.on !== undefined || !isTerminal()))
    throw new UsageError('comment needs what you say, where no editor can be opened');
  const words = said.join(' ');
  if (said.length > 0 && words.trim() === '')
    throw new Refusal('Aborting: the comment is empty, so nothing is noted');
  const id = await itemOf(dossier, word);
  const session = await sessionOf(dossier, id, values.session);
  refuseWithoutPlan(session);
  const noted = said.length === 0 ? byHand(given, session) : addWords(given, session, words);
  const comments = await noted;
  if (values.json === true) out.json({ session, comments: comments ?? '' });
  else out.say(`Noted; dossier revise ${id.slice(0, 8)} sends the plan back with it`);
  return undefined;
});

// `revise` would refuse it: what was noted would reach nobody.
const refuseWithoutPlan = ({ id, case_id, status, mode }: Session): void => {
  if (mode === 'plan' && !ENDED.has(status)) return;
  throw new Refusal(
    `Session ${id.slice(0, 8)} is ${status} and has no plan to send back. Send a message instead: dossier say ${case_id.slice(0, 8)} "…"`,
  );
};

const ENDED: ReadonlySet<Session['status']> = new Set(['completed', 'failed', 'aborted']);

const readFile = ({ request }: Dossier, { case_id: id, id: sid }: Session) =>
  request('GET /cases/{id}/sessions/{sid}/comments', { id, sid });

const write = (
  { call }: Dossier,
  { case_id: id, id: sid }: Session,
  file: { body: string; ifMatch: string | undefined },
) => call('PUT /cases/{id}/sessions/{sid}/comments', { id, sid, ...file });

// Who writes there at the same time loses nothing: this comment comes below theirs.
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
  return edited({ text: data, name: 'comments.md', env: config.env }, async (text) => {
    if (text === data) throw new Refusal('Nothing was changed, so nothing is noted');
    return write(dossier, session, { body: text, ifMatch: etag });
  });
};

const blockWith = async (given: Verb, session: Session, words: string): Promise<string> => {
  const { text } = await readPlan(given, session);
  const [found, ...more] = blocksOf(text).filter((block) => block.includes(words));
  if (found !== undefined && more.length === 0) return found;
  throw new Refusal(
    `${found === undefined ? 'No' : 'More than one'} part of the plan has ${JSON.stringify(words)}. Quote it as dossier plan shows it`,
  );
};

// Parts between empty lines; a fenced one is whole.
const blocksOf = (text: string): string[] =>
  [
    ...text.matchAll(/^(`{3,}|~{3,})[\s\S]*?^\1.*$|^(?:.*\S.*\n?)(?:(?!`{3}|~{3}).*\S.*\n?)*/gm),
  ].map(([block]) => block.trimEnd());

/** `dossier revise ITEM [COMMENT...]`: without a comment, what comments.md says that was not sent yet. */
export const revise = verb(async ({ dossier, words: [word = '', ...said], values, out }) => {
  const id = await itemOf(dossier, word);
  const { id: sid } = await sessionOf(dossier, id, values.session);
  const body = said.length === 0 ? {} : { comment: said.join(' ') };
  const session = await dossier.call('POST /cases/{id}/sessions/{sid}/revise', { id, sid, body });
  if (values.json === true) out.json(session);
  else out.say(`The plan was sent back; session ${sid.slice(0, 8)} is ${session.status}`);
  return undefined;
});
