import { findItem } from '../connection/item.ts';
import { findSession } from '../connection/session.ts';
import { warn as tell } from '../output/terminal.ts';
import { approvalFor, readBoundary, readPlan, unpromptedLines } from './read-plan.ts';
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
  const { text, sha256, session } = await readPlan(
    given,
    await findSession(dossier, id, values.session),
  );
  const waits = session.status === 'plan_ready';
  const boundary = waits ? await readBoundary(dossier, session, values.ask) : '';
  const { body, commands: unasked, hash } = approvalFor(boundary, sha256, values.ask);
  if (values.json === true) out.json({ session, plan: text, unasked, ...body });
  else {
    await out.read(text);
    for (const line of waits ? [...unpromptedLines(unasked), `Hash: ${hash}`] : []) tell(line);
  }
  return undefined;
});
