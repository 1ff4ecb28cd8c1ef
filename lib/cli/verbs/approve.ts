import { shellQuoted } from '../../../base/shell-quoted.ts';
import type { Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import type { Values } from '../line/options.ts';
import { Refusal } from '../line/refusal.ts';
import { itemOf } from '../reach/item.ts';
import { sessionOf } from '../reach/session.ts';
import { ask, isTerminal } from '../show/terminal.ts';
import { followWork } from './follow.ts';
import { planLines } from './plan-lines.ts';
import { readPlan } from './read-plan.ts';
import { type Verb, verb } from './verb.ts';

const ASKED = 4;

/**
 * `dossier approve ITEM`: shows the plan, and asks for the first letters of its hash; where nobody can be asked, the
 * whole hash has to be given. What is approved is the text that was shown: should it be another by then, it is refused.
 */
export const approve = verb(async (given) => {
  const {
    dossier,
    words: [word = ''],
    values,
    out,
  } = given;
  checkOptions(values);
  const id = await itemOf(dossier, word);
  const session = await sessionOf(dossier, id, values.session);
  if (session.status !== 'plan_ready' && session.unconfirmed !== 'approved')
    throw new Refusal(`No plan waits: session ${session.id.slice(0, 8)} is ${session.status}`);
  if (values.hash === undefined && !isTerminal()) throw new UsageError(commandFor(given, session));
  const plan_sha256 = values.hash?.toLowerCase() ?? (await agreed(given, session));
  if (plan_sha256 === undefined) {
    out.say('Nothing was approved.');
    return 1;
  }
  const approved = await dossier.call('POST /cases/{id}/sessions/{sid}/approve', {
    ...{ id, sid: session.id },
    body: { plan_sha256 },
  });
  if (values.json === true) out.json(approved);
  else out.say(`Approved; session ${session.id.slice(0, 8)} is ${approved.status}`);
  return values.follow === true ? followWork(given, approved) : undefined;
});

const checkOptions = ({ hash, follow, json }: Values): void => {
  if (hash !== undefined && !/^[0-9a-f]{64}$/i.test(hash))
    throw new UsageError('--hash takes all 64 digits of the plan’s hash');
  if (follow === true && json === true)
    throw new UsageError('--follow prints text: leave --json out, or call dossier tail --json');
};

// As it is typed, once the plan was read.
const commandFor = ({ words: [word = ''], config }: Verb, session: Session): string => {
  const [id, hash] = [session.id.slice(0, 8), session.approved_sha256 ?? session.plan_sha256];
  const where = `--session ${id} --workspace ${shellQuoted(config.workspace)}`;
  return `Nobody can be asked here. Read the plan: dossier plan ${word} ${where}. To approve it: dossier approve ${word} ${where} --hash ${hash}`;
};

const agreed = async (given: Verb, session: Session): Promise<string | undefined> => {
  const { out } = given;
  const plan = await readPlan(given, session);
  const { text, alarms } = await planLines(given, plan);
  await out.read(text);
  for (const alarm of alarms) out.say({ style: 'yellow', text: alarm });
  out.say(`Hash ${plan.sha256}`);
  const said = await ask(`Approve it? Its hash begins with (${ASKED} letters): `);
  return said.toLowerCase() === plan.sha256.slice(0, ASKED) ? plan.sha256 : undefined;
};
