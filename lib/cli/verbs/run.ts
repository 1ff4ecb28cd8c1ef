import type { AttentionItem, Case, Session } from '../../client/client.ts';
import { findOrStartDaemon } from '../connection/start.ts';
import { isTerminal, warn } from '../output/terminal.ts';
import { decide } from './decide.ts';
import { abortOnInterrupt, follow, followWork, printNextSteps } from './follow.ts';
import { commandFor } from './inbox.ts';
import { makeItem, requireRepository } from './new.ts';
import { approvalFor, readBoundary, unpromptedLines } from './read-plan.ts';
import { requireAgent, startSession } from './start.ts';
import { shellCommand, type Verb, verb } from './verb.ts';
import { waitForSession } from './wait.ts';

const FAILED = 1;
const NEEDS_YOU = 4;

/**
 * `dossier run TITLE...`: creates a Work item, starts its session and shows the plan. After the approval it follows the work and
 * shows the changes. Without a terminal it returns 4 when the plan is ready, and prints how to approve it.
 */
export const run = verb(async (given) => {
  const { out } = given;
  const isAsked = isTerminal() && given.values.json !== true;
  await requireAgent(given);
  await requireRepository(given);
  const item = await makeItem(given);
  const id8 = item.id.slice(0, 8);
  const { session, from } = await startSession(given, item.id, { type: 'implementing' }).catch(
    (error: unknown) => {
      warn(`Work item ${id8} was created. To start it: ${shellCommand(given, `start ${id8}`)}`);
      throw error;
    },
  );
  if (!isAsked) return untilPlan(given, item);
  out.say({ style: 'bold', text: `${id8}  ${item.title}` });
  out.say(`Session ${session.id.slice(0, 8)} of ${session.provider}. Ctrl-C leaves it running.`);
  if (from !== undefined) out.say(from);
  return atTerminal(given, session);
}, findOrStartDaemon);

// Asks again for the next plan after changes were requested.
const atTerminal = async (given: Verb, session: Session, after = 0): Promise<number> => {
  const leaving = abortOnInterrupt();
  const { stop, last } = await follow(given, session, { after, signal: leaving.signal });
  leaving.done();
  if (stop === 'completed' || stop === 'failed') return stop === 'completed' ? 0 : FAILED;
  if (stop !== 'plan') return printNextSteps(given, session, stop);
  const decided = await decide(given, session);
  if (decided === 'approved') return followWork(given, session);
  if (decided === 'left') return printNextSteps(given, session, 'left');
  return atTerminal(given, session, last);
};

const untilPlan = async (given: Verb, { id }: Pick<Case, 'id'>): Promise<number> => {
  const { values, out } = given;
  const until = Number.POSITIVE_INFINITY;
  const { code, session, waiting } = await waitForSession(given, { id, goal: 'plan', until });
  const { plan_sha256, status, error } = session;
  if (status === 'plan_ready') return planWaits(given, session, waiting);
  if (values.json === true) out.json({ session, plan_sha256, waiting: waiting ?? null });
  else out.table([[id.slice(0, 8), status]]);
  if (waiting !== undefined)
    warn(
      `${waiting.message.replace(/\.$/, '')}. Answer: ${shellCommand(given, commandFor(waiting))}`,
    );
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
  const { hash, body, commands: unasked } = approvalFor(boundary, session.plan_sha256 ?? '');
  const id8 = session.case_id.slice(0, 8);
  if (values.json === true) out.json({ session, ...body, unasked, waiting: waiting ?? null });
  else out.table([[id8, hash]]);
  for (const line of unpromptedLines(unasked)) warn(line);
  warn(`The plan is ready. Read it: ${shellCommand(given, `plan ${id8}`)}`);
  warn(`Approve it: ${shellCommand(given, `approve ${id8} --hash ${hash} --follow`)}`);
  return NEEDS_YOU;
};
