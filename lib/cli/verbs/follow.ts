import type { Session, SessionEvent } from '../../client/client.ts';
import { EXIT } from '../exit-codes.ts';
import { isTerminal } from '../output/terminal.ts';
import { answerHere, isAsked } from './answer.ts';
import { showDiff } from './diff.ts';
import { hasEnded, nextText, nextWords } from './session-text.ts';
import { breaksTold, createEventPrinter } from './tail.ts';
import type { Verb } from './verb.ts';

/** Why following ended: the plan is ready, the session ended, it needs the operator, or the operator left. */
type Stop = 'plan' | 'completed' | 'failed' | 'needs_you' | 'left';

interface Following {
  /** Print nothing before this event. */
  from?: SessionEvent['event'];
  /** The id of the event after which to start. */
  after?: number;
  signal: AbortSignal;
}

/**
 * Prints the events of a session until it ends. Requests of its agent are asked at a terminal; without one, or without an answer,
 * following ends there. `last`: the id of the last event.
 */
export const follow = async (
  given: Verb,
  { case_id: id, id: sid }: Session,
  { from, after = 0, signal }: Following,
): Promise<{ stop: Stop; last: number }> => {
  const { dossier, out, typed } = given;
  const tell = createEventPrinter(out, (word) => typed(`${word} ${id.slice(0, 8)}`));
  const at = { id, sid, query: { after }, signal, ...breaksTold(given) };
  let [isTold, last] = [from === undefined, after];
  for await (const event of dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at)) {
    isTold ||= event.event === from;
    last = event.id;
    if (!isTold) continue;
    tell(event);
    const stop = await stopOn(given, event);
    if (stop !== undefined) return { stop, last };
  }
  return { stop: 'left', last };
};

const stopOn = async (given: Verb, event: SessionEvent): Promise<Stop | undefined> => {
  const request = requestIn(event);
  if (request === undefined) return stopOnEvent(event);
  return isTerminal() && (await answerHere(given, request)) ? undefined : 'needs_you';
};

const stopOnEvent = ({ event, data }: SessionEvent): Stop | undefined => {
  if (event === 'plan_ready') return 'plan';
  if (event === 'complete') return data.status === 'completed' ? 'completed' : 'failed';
  return event === 'status' && data.status === 'paused' ? 'needs_you' : undefined;
};

const requestIn = ({ event, data }: SessionEvent): string | undefined => {
  if (event === 'permission_request') return data.request_id;
  return event === 'question_request' ? data.question_id : undefined;
};

/** Follows a session from its approval to its end, then shows its changes. Returns the exit code. */
export const followWork = async (given: Verb, session: Session): Promise<number> => {
  const leaving = abortOnInterrupt();
  const { stop } = await follow(given, session, { from: 'approved', signal: leaving.signal });
  leaving.done();
  if (stop === 'left' || stop === 'needs_you') return printNextSteps(given, session, stop);
  const { dossier, out, typed } = given;
  if (stop === 'failed') {
    out.say(nextText(given, { ...session, status: 'failed' }));
    return EXIT.failed;
  }
  const { commands, commit } = await dossier.call('GET /cases/{id}/sessions/{sid}', {
    id: session.case_id,
    sid: session.id,
  });
  await showDiff(given, session);
  const id8 = session.case_id.slice(0, 8);
  if (commands?.message != null) out.say({ style: ['red', 'bold'], text: commands.message });
  if (commit?.id != null) out.say(`To merge it: ${typed(`merge ${id8}`)}`);
  return 0;
};

/** The first Ctrl-C aborts the signal; a second one ends the process. */
export const abortOnInterrupt = (): { signal: AbortSignal; done: () => void } => {
  const life = new AbortController();
  const leave = (): void => life.abort();
  process.once('SIGINT', leave);
  return { signal: life.signal, done: () => process.off('SIGINT', leave) };
};

/** Prints the commands to continue or end a session that was left or needs the operator. Returns the exit code. */
export const printNextSteps = async (
  { dossier, out, typed }: Verb,
  { case_id: id, id: sid }: Session,
  stop: 'left' | 'needs_you',
): Promise<number> => {
  const session = await dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid });
  const [id8, waiting] = [id.slice(0, 8), await dossier.call('GET /attention')];
  const asks = waiting.some((item) => item.session_id === sid && isAsked(item));
  const next = asks ? `answer ${id8}` : nextWords(session);
  out.say(`\nSession ${sid.slice(0, 8)} is ${session.status}; it was not changed.`);
  out.say(`To continue: ${typed(next)}`);
  if (!hasEnded(session.status)) out.say(`To end it:   ${typed(`abort ${id8}`)}`);
  return stop === 'left' ? EXIT.left : EXIT.needsYou;
};
