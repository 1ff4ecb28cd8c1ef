import { type AttentionItem, type Case, Problem, type Session } from '../../client/client.ts';
import { findOrStartDaemon } from '../connection/start.ts';
import { EXIT } from '../exit-codes.ts';
import { LEAVE_KEYS, openKeyboard, showPages } from '../output/keys.ts';
import { ask, isTerminal, warn } from '../output/terminal.ts';
import { abortOnInterrupt, follow, followWork, printNextSteps } from './follow.ts';
import { commandFor } from './inbox.ts';
import { makeItem, requireRepository } from './new.ts';
import { planLines } from './plan.ts';
import {
  approvalFor,
  type PlanApproval,
  type PlanRead,
  readBoundary,
  readPlan,
  unpromptedLines,
} from './read-plan.ts';
import { requireAgent, startSession } from './start.ts';
import { flagText, type Verb, verb } from './verb.ts';
import { waitForSession } from './wait.ts';

/**
 * `dossier run TITLE...`: creates a Work item, starts its session and shows the plan. After the approval it follows the work and
 * shows the changes. Without a terminal it returns 4 when the plan is ready, and prints how to approve it.
 */
export const run = verb(async (given) => {
  const { out, typed } = given;
  const isAsked = isTerminal() && given.values.json !== true;
  await requireAgent(given);
  await requireRepository(given);
  const item = await makeItem(given);
  const id8 = item.id.slice(0, 8);
  const { session, from } = await startSession(given, item.id, { type: 'implementing' }).catch(
    (error: unknown) => {
      warn(
        `Work item ${id8} was created. To start it: ${typed(`start ${id8}${sessionFlags(given)}`)}`,
      );
      throw error;
    },
  );
  if (!isAsked) return untilPlan(given, item);
  out.say({ style: 'bold', text: `${id8}  ${item.title}` });
  out.say(`Session ${session.id.slice(0, 8)} of ${session.provider}. Ctrl-C leaves it running.`);
  if (from !== undefined) out.say(from);
  return atTerminal(given, session);
}, findOrStartDaemon);

// What was asked of this session counts for the next attempt, too.
const sessionFlags = ({ values: { provider, model, effort, base } }: Verb): string =>
  flagText({ provider, model, effort, base });

// Asks again for the next plan after changes were requested.
const atTerminal = async (given: Verb, session: Session, after = 0): Promise<number> => {
  const leaving = abortOnInterrupt();
  const { stop, last } = await follow(given, session, { after, signal: leaving.signal });
  leaving.done();
  if (stop === 'completed' || stop === 'failed')
    return stop === 'completed' ? EXIT.done : EXIT.failed;
  if (stop !== 'plan') return printNextSteps(given, session, stop);
  const decided = await decide(given, session);
  if (decided === 'approved') return followWork(given, session);
  if (decided === 'left') return printNextSteps(given, session, 'left');
  return atTerminal(given, session, last);
};

const untilPlan = async (given: Verb, { id }: Pick<Case, 'id'>): Promise<number> => {
  const { values, out, typed } = given;
  const until = Number.POSITIVE_INFINITY;
  const { code, session, waiting } = await waitForSession(given, { id, goal: 'plan', until });
  const { plan_sha256, status, error } = session;
  if (status === 'plan_ready') return planWaits(given, session, waiting);
  if (values.json === true) out.json({ session, plan_sha256, waiting: waiting ?? null });
  else out.table([[id.slice(0, 8), status]]);
  if (waiting !== undefined)
    warn(`${waiting.message.replace(/\.$/, '')}. Answer: ${typed(commandFor(waiting))}`);
  else if (error !== null) warn(error);
  return code;
};

const planWaits = async (
  given: Verb,
  session: Session,
  waiting: AttentionItem | undefined,
): Promise<number> => {
  const { values, out, typed } = given;
  const boundary = await readBoundary(given, session);
  const { hash, body, commands: unasked } = approvalFor(boundary, session.plan_sha256 ?? '');
  const id8 = session.case_id.slice(0, 8);
  if (values.json === true) out.json({ session, ...body, unasked, waiting: waiting ?? null });
  else out.table([[id8, hash]]);
  for (const line of unpromptedLines(unasked)) warn(line);
  warn(`The plan is ready. Read it: ${typed(`plan ${id8}`)}`);
  warn(`Approve it: ${typed(`approve ${id8} --hash ${hash} --follow`)}`);
  return EXIT.needsYou;
};

type Decided = 'approved' | 'sent_back' | 'left';

/**
 * Shows the plan of a session page by page and, after its end, asks for a key to approve it or send it back. Approves exactly
 * the text that was shown; a plan that changed meanwhile is shown again.
 */
const decide = async (given: Verb, session: Session): Promise<Decided> => {
  for (;;) {
    const plan = await readPlan(given, session);
    const { key, approval } = await keyFor(given, plan);
    if (key === 'leave') return 'left';
    if (key === 'send_back') {
      if (await sendBack(given, session)) return 'sent_back';
      continue;
    }
    if (await approve(given, plan.session, approval)) return 'approved';
  }
};

type Key = 'approve' | 'send_back' | 'leave';

interface Answered {
  key: Key;
  /** The approval of the text that was shown. */
  approval: PlanApproval;
}

const keyFor = async (given: Verb, plan: PlanRead): Promise<Answered> => {
  const { out } = given;
  const { text, alarms, approval } = await planLines(given, plan);
  const keys = openKeyboard();
  try {
    if (!(await showPages(text, keys))) return { key: 'leave', approval };
    for (const alarm of alarms) out.say({ style: 'yellow', text: alarm });
    const pressed = await keys.ask(QUESTION, [...Object.keys(KEYS), ...LEAVE_KEYS]);
    return { key: KEYS[pressed] ?? 'leave', approval };
  } finally {
    keys.close();
  }
};

const QUESTION = 'a: approve the plan   c: request changes   q: leave\n';

const KEYS: Readonly<Record<string, Key>> = { a: 'approve', c: 'send_back' };

const sendBack = async ({ dossier }: Verb, { case_id: id, id: sid }: Session): Promise<boolean> => {
  const comment = await ask('What should change? ');
  if (comment === '') return false;
  await dossier.call('POST /cases/{id}/sessions/{sid}/revise', { id, sid, body: { comment } });
  return true;
};

// Returns false if the plan changed meanwhile.
const approve = async (
  { dossier, out }: Verb,
  session: Session,
  { body }: PlanApproval,
): Promise<boolean> => {
  const at = { id: session.case_id, sid: session.id };
  try {
    await dossier.call('POST /cases/{id}/sessions/{sid}/approve', { ...at, body });
    return true;
  } catch (error) {
    if (!(error instanceof Problem && error.code === 'plan_changed')) throw error;
    out.say({ style: 'yellow', text: error.message });
    return false;
  }
};
