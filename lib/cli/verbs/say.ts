import type { Session, SessionMessage } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { readInput } from '../args/input-text.ts';
import { sessionOf } from '../connection/find.ts';
import { hasEnded } from './session-text.ts';
import { type Verb, verb, withRefusals } from './verb.ts';

/**
 * `dossier say ITEM TEXT...`: sends a message to its session, or starts another one if that has ended. `-` reads the text from
 * standard input.
 */
export const say = verb(async (given) => {
  const { dossier, words, values } = given;
  const text = await textOf(words.slice(1));
  if (text.trim() === '') throw new UsageError('say needs a TEXT: dossier say ITEM "…"');
  const session = await sessionOf(given);
  const { case_id: id, id: sid } = session;
  const { now, approve } = values;
  const body = { text, ...(now && { now }), ...(approve && { approve }) };
  const sending = dossier.call('POST /cases/{id}/sessions/{sid}/messages', { id, sid, body });
  const message = await withRefusals(sending, approve ? notEnded(given, session) : {});
  given.report(message, told(given, session, message));
});

const notEnded = ({ typed }: Verb, { case_id, id, status }: Session) => {
  if (hasEnded(status)) return {};
  const or =
    status === 'plan_ready'
      ? `, or approve the plan: ${typed(`approve ${case_id.slice(0, 8)}`)}`
      : '';
  return {
    invalid_state: `Session ${id.slice(0, 8)} is ${status}, and --approve is for a session that has ended. Leave it out${or}`,
  };
};

const told = (
  { values, typed }: Verb,
  { case_id, id: sid, status }: Session,
  { session_id }: SessionMessage,
): string => {
  const { approve = false } = values;
  const id8 = case_id.slice(0, 8);
  if (session_id !== sid)
    return `Session ${sid.slice(0, 8)} has ended, so session ${session_id.slice(0, 8)} ${approve ? 'carries out your message as its plan' : 'plans with your message'}. Follow it with ${typed(`tail ${id8}`)}`;
  return status === 'paused'
    ? `Saved for the paused session. To deliver it: ${typed(`resume ${id8}`)}`
    : `Sent to session ${sid.slice(0, 8)}. Follow it with ${typed(`tail ${id8}`)}`;
};

const textOf = async (said: readonly string[]): Promise<string> => {
  const text = said.join(' ');
  if (text === '-') return (await readInput(process.stdin, 'Standard input')).trimEnd();
  return text;
};
