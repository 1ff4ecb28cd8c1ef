import { findItem } from '../connection/item.ts';
import { findSession } from '../connection/session.ts';
import { warn as tell } from '../output/terminal.ts';
import { factLines, readPlanHead } from './plan-summary.ts';
import { approvalFor, readPlan, unpromptedLines } from './read-plan.ts';
import { verb } from './verb.ts';

/** `dossier plan ITEM`: shows the plan of its session. */
export const plan = verb(async (given) => {
  const {
    dossier,
    words: [word = ''],
    values,
    out,
  } = given;
  const id = await findItem(dossier, word);
  const read = await readPlan(given, await findSession(dossier, id, values.session));
  const { text, sha256, session } = read;
  if (session.status !== 'plan_ready') {
    if (values.json === true)
      out.json({ session, plan: text, unasked: [], ...approvalFor('', sha256).body });
    else await out.read(text);
    return undefined;
  }
  const { facts, alarms, approval } = await readPlanHead(dossier, read, values.ask);
  const { body, commands: unasked, hash } = approval;
  if (values.json === true) out.json({ session, plan: text, unasked, ...body });
  else {
    await out.read(text);
    const about = factLines(facts.filter(([name]) => name !== 'Hash'));
    for (const line of [...about, ...alarms, ...unpromptedLines(unasked), `Hash: ${hash}`])
      tell(line);
  }
  return undefined;
});
