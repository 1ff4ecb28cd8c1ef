import { itemOf } from '../reach/item.ts';
import { sessionOf } from '../reach/session.ts';
import { warn as tell } from '../show/terminal.ts';
import { readPlan } from './read-plan.ts';
import { verb } from './verb.ts';

/** `dossier plan ITEM`: the plan of its session. */
export const plan = verb(async (given) => {
  const {
    dossier,
    words: [word = ''],
    values,
    out,
  } = given;
  const id = await itemOf(dossier, word);
  const { text, sha256, session } = await readPlan(
    given,
    await sessionOf(dossier, id, values.session),
  );
  if (values.json === true) out.json({ session, plan_sha256: sha256, plan: text });
  else {
    await out.read(text);
    if (session.status === 'plan_ready') tell(`Hash: ${sha256}`);
  }
  return undefined;
});
