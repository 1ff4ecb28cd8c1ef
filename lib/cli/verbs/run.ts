import type { AttentionItem, Case, Session } from '../../client/client.ts';
import { daemonOrStart } from '../connection/start.ts';
import { isTerminal, warn } from '../output/terminal.ts';
import { decide } from './decide.ts';
import { follow, followWork, onLeave, sayHowToGoOn } from './follow.ts';
import { commandFor } from './inbox.ts';
import { makeItem, refuseWithoutRepository } from './new.ts';
import { begin, refuseAgent } from './start.ts';
import { offeredBy, readBoundary, unaskedLines } from './read-plan.ts';
import { commandIn, type Verb, verb } from './verb.ts';
import { awaited } from './wait.ts';

const FAILED = 1;
const NEEDS_YOU = 4;

/**
 * `dossier run TITLE...`: a Work item, its session, the plan, and on a key, once all of the plan was shown, the work and what it
 * changed. Where nobody can be asked it ends with 4 once the plan waits, and says how to approve it.
 */
export const run = verb(async (given) => {
  const { out } = given;
  const isAsked = isTerminal() && given.values.json !== true;
  await refuseAgent(given);
  await refuseWithoutRepository(given);
  const item = await makeItem(given);
  if (item === undefined) return FAILED;
  const id8 = item.id.slice(0, 8);
  const { session, from } = await begin(given, item.id, { type: 'implementing' }).catch(
    (error: unknown) => {
      warn(`Work item ${id8} is kept. Start it: ${commandIn(given, `start ${id8}`)}`);
      throw error;
    },
  );
  if (!isAsked) return untilPlan(given, item);
  out.say({ style: 'bold', text: `${id8}  ${item.title}` });
  out.say(`Session ${session.id.slice(0, 8)} of ${session.provider}. Ctrl-C leaves it as it is.`);
  if (from !== undefined) out.say(from);
  return atTerminal(given, session);
}, daemonOrStart);

// A plan that is sent back comes again.
const atTerminal = async (given: Verb, session: Session, after = 0): Promise<number> => {
  const leaving = onLeave();
  const { stop, last } = await follow(given, session, { after, signal: leaving.signal });
  leaving.done();
  if (stop === 'completed' || stop === 'failed') return stop === 'completed' ? 0 : FAILED;
  if (stop !== 'plan') return sayHowToGoOn(given, session, stop);
  const decided = await decide(given, session);
  if (decided === 'approved') return followWork(given, session);
  if (decided === 'left') return sayHowToGoOn(given, session, 'left');
  return atTerminal(given, session, last);
};

const untilPlan = async (given: Verb, { id }: Pick<Case, 'id'>): Promise<number> => {
  const { values, out } = given;
  const until = Number.POSITIVE_INFINITY;
  const { code, session, waiting } = await awaited(given, { id, goal: 'plan', until });
  const { plan_sha256, status, error } = session;
  if (status === 'plan_ready') return planWaits(given, session, waiting);
  if (values.json === true) out.json({ session, plan_sha256, waiting: waiting ?? null });
  else out.table([[id.slice(0, 8), status]]);
  if (waiting !== undefined)
    warn(`${waiting.message.replace(/\.$/, '')}. Answer: ${commandIn(given, commandFor(waiting))}`);
  else if (error !== null) warn(error);
  return code;
};

const planWaits = async (
  given: Verb,
  session: Session,
  waiting: AttentionItem | undefined,
): Promise<number> => {
  const { dossier, values, out } = given;
  const boundary = await readBoundary(dossier, session);
  const { hash, body, commands: unasked } = offeredBy(boundary, session.plan_sha256 ?? '');
  const id8 = session.case_id.slice(0, 8);
  if (values.json === true) out.json({ session, ...body, unasked, waiting: waiting ?? null });
  else out.table([[id8, hash]]);
  for (const line of unaskedLines(unasked)) warn(line);
  warn(`The plan waits. Read it: ${commandIn(given, `plan ${id8}`)}`);
  warn(`Approve it: ${commandIn(given, `approve ${id8} --hash ${hash} --follow`)}`);
  return NEEDS_YOU;
};
