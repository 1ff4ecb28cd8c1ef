import { Problem, type Session } from '../../client/client.ts';
import { LEAVE_KEYS, openKeyboard, showPages } from '../output/keys.ts';
import { ask } from '../output/terminal.ts';
import { planLines } from './plan-summary.ts';
import { type PlanApproval, type PlanRead, readPlan } from './read-plan.ts';
import type { Verb } from './verb.ts';

type Decided = 'approved' | 'sent_back' | 'left';

/**
 * Shows the plan of a session page by page and, after its end, asks for a key to approve it or send it back. Approves exactly
 * the text that was shown; a plan that changed meanwhile is shown again.
 */
export const decide = async (given: Verb, session: Session): Promise<Decided> => {
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
