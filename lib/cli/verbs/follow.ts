import type { Session, SessionEvent } from '../../client/client.ts';
import { isTerminal } from '../output/terminal.ts';
import { answerHere } from './answer.ts';
import { showDiff } from './diff.ts';
import { tellerOf } from './tail-lines.ts';
import { commandIn, type Verb } from './verb.ts';

const NEEDS_YOU = 4;

/** Why nothing more is told: its plan is ready, it ended, it needs the operator, or the operator left. */
type Stop = 'plan' | 'completed' | 'failed' | 'needs_you' | 'left';

interface Following {
  /** Nothing is told before this event. */
  from?: SessionEvent['event'];
  /** The number of the event after which to begin. */
  after?: number;
  signal: AbortSignal;
}

/**
 * Tells what a session does until that is over. What its agent asks meanwhile is asked at a terminal; elsewhere, or where it is not
 * answered, it ends there. `last`: the number of the event that was told last.
 */
export const follow = async (
  given: Verb,
  { case_id: id, id: sid }: Session,
  { from, after = 0, signal }: Following,
): Promise<{ stop: Stop; last: number }> => {
  const tell = tellerOf(given.out, id.slice(0, 8));
  const at = { id, sid, query: { after }, signal };
  let [isTold, last] = [from === undefined, after];
  for await (const event of given.dossier.stream('GET /cases/{id}/sessions/{sid}/stream', at)) {
    isTold ||= event.event === from;
    last = event.id;
    if (!isTold) continue;
    tell(event);
    const stop = await stopAt(given, event);
    if (stop !== undefined) return { stop, last };
  }
  return { stop: 'left', last };
};

const stopAt = async (given: Verb, event: SessionEvent): Promise<Stop | undefined> => {
  const request = requestIn(event);
  if (request === undefined) return overAt(event);
  return isTerminal() && (await answerHere(given, request)) ? undefined : 'needs_you';
};

const overAt = ({ event, data }: SessionEvent): Stop | undefined => {
  if (event === 'plan_ready') return 'plan';
  if (event === 'complete') return data.status === 'completed' ? 'completed' : 'failed';
  return event === 'status' && data.status === 'paused' ? 'needs_you' : undefined;
};

const requestIn = ({ event, data }: SessionEvent): string | undefined => {
  if (event === 'permission_request') return data.request_id;
  return event === 'question_request' ? data.question_id : undefined;
};

/** Follows a session from its approval to its end, then shows what it changed. Answers the exit code. */
export const followWork = async (given: Verb, session: Session): Promise<number> => {
  const leaving = onLeave();
  const { stop } = await follow(given, session, { from: 'approved', signal: leaving.signal });
  leaving.done();
  if (stop === 'left' || stop === 'needs_you') return sayHowToGoOn(given, session, stop);
  if (stop === 'failed') return 1;
  const { out } = given;
  const { commands } = await given.dossier.call('GET /cases/{id}/sessions/{sid}', {
    ...{ id: session.case_id, sid: session.id },
  });
  await showDiff(given, session);
  const id8 = session.case_id.slice(0, 8);
  if (commands?.message != null) out.say({ style: ['red', 'bold'], text: commands.message });
  out.say(`To merge it: ${commandIn(given, `merge ${id8}`)}`);
  return 0;
};

/** The first Ctrl-C aborts the signal; a second one ends the process as ever. */
export const onLeave = (): { signal: AbortSignal; done: () => void } => {
  const life = new AbortController();
  const leave = (): void => life.abort();
  process.once('SIGINT', leave);
  return { signal: life.signal, done: () => process.off('SIGINT', leave) };
};

const CTRL_C = 130;

/** Says how a session that was left, or waits, is gone on with; nothing of it was changed. Answers the exit code. */
export const sayHowToGoOn = async (
  given: Verb,
  { case_id: id, id: sid }: Session,
  stop: 'left' | 'needs_you',
): Promise<number> => {
  const { dossier, out } = given;
  const session = await dossier.call('GET /cases/{id}/sessions/{sid}', { id, sid });
  const [id8, waiting] = [id.slice(0, 8), await dossier.call('GET /attention')];
  const asks = waiting.some(
    ({ session_id, kind }) => session_id === sid && (kind === 'permission' || kind === 'question'),
  );
  const next = asks ? 'answer' : (GO_ON[session.status] ?? 'show');
  out.say(`\nSession ${sid.slice(0, 8)} is ${session.status}; nothing of it was changed.`);
  out.say(`To go on:  ${commandIn(given, `${next} ${id8}`)}`);
  if (!['completed', 'failed', 'aborted'].includes(session.status))
    out.say(`To end it: ${commandIn(given, `abort ${id8}`)}`);
  return stop === 'left' ? CTRL_C : NEEDS_YOU;
};

const GO_ON: Readonly<Partial<Record<Session['status'], string>>> = {
  ...{ queued: 'tail', planning: 'tail', working: 'tail' },
  ...{ plan_ready: 'approve', paused: 'resume', completed: 'diff' },
};
