import { Problem, type Session } from '../../client/client.ts';
import { LEAVES, openKeys, showByPages } from '../output/keys.ts';
import { ask } from '../output/terminal.ts';
import { planLines } from './plan-head.ts';
import { type PlanRead, readPlan, type ApprovalOffered } from './read-plan.ts';
import type { Verb } from './verb.ts';

type Decided = 'approved' | 'sent_back' | 'left';

/**
 * Shows the plan of a session by pages, and approves it or sends it back, as the key says that is pressed once its end is
 * shown. What is approved is the text that was shown; one that was changed meanwhile is shown anew.
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
  /** What was shown. */
  approval: ApprovalOffered;
}

const keyFor = async (given: Verb, plan: PlanRead): Promise<Answered> => {
  const { out } = given;
  const { text, alarms, approval } = await planLines(given, plan);
  const keys = openKeys();
  try {
    if (!(await showByPages(text, keys))) return { key: 'leave', approval };
    for (const alarm of alarms) out.say({ style: 'yellow', text: alarm });
    const pressed = await keys.ask(QUESTION, [...Object.keys(KEYS), ...LEAVES]);
    return { key: KEYS[pressed] ?? 'leave', approval };
  } finally {
    keys.close();
  }
};

const QUESTION = 'a: approve this plan   c: send it back   q: leave it\n';

const KEYS: Readonly<Record<string, Key>> = { a: 'approve', c: 'send_back' };

const sendBack = async ({ dossier }: Verb, { case_id: id, id: sid }: Session): Promise<boolean> => {
  const comment = await ask('What should be another way? ');
  if (comment === '') return false;
  await dossier.call('POST /cases/{id}/sessions/{sid}/revise', { id, sid, body: { comment } });
  return true;
};

// Somebody else may have changed the plan, or answered it.
const approve = async (
  { dossier, out }: Verb,
  session: Session,
  { body }: ApprovalOffered,
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
