import { sessionOf } from '../connection/session.ts';
import { warn as tell } from '../output/terminal.ts';
import { factLines, readPlanHead } from './plan-summary.ts';
import { approvalFor, readPlan, unpromptedLines } from './read-plan.ts';
import { verb } from './verb.ts';

/** `dossier plan ITEM`: shows the plan of its session. */
export const plan = verb(async (given) => {
  const { dossier, values, out } = given;
  const read = await readPlan(given, await sessionOf(given));
  const { text, sha256, session } = read;
  const waits = session.status === 'plan_ready';
  const head = waits ? await readPlanHead(dossier, read, values.ask) : undefined;
  const { body, commands: unasked, hash } = head?.approval ?? approvalFor('', sha256);
  if (values.json === true) out.json({ session, plan: text, unasked, ...body });
  else {
    await out.read(text);
    if (head === undefined) return undefined;
    const { facts, alarms } = head;
    for (const line of [...factLines(facts), ...alarms, ...unpromptedLines(unasked)]) tell(line);
    tell(`Hash: ${hash}`);
  }
});
