import { shellQuoted } from '../../../base/shell-quoted.ts';
import type { Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import { Refusal } from '../line/refusal.ts';
import { itemOf } from '../reach/item.ts';
import { sessionOf } from '../reach/session.ts';
import { ask, isTerminal } from '../show/terminal.ts';
import { headOf } from './plan-head.ts';
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
  if (values.hash !== undefined && !/^[0-9a-f]{64}$/i.test(values.hash))
    throw new UsageError('--hash takes all 64 digits of the plan’s hash');
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
  return undefined;
});

// As it is typed, once the plan was read.
const commandFor = ({ words: [word = ''], config }: Verb, session: Session): string => {
  const [id, hash] = [session.id.slice(0, 8), session.approved_sha256 ?? session.plan_sha256];
  const where = `--session ${id} --workspace ${shellQuoted(config.workspace)}`;
  return `Nobody can be asked here. Read the plan: dossier plan ${word} ${where}. To approve it: dossier approve ${word} ${where} --hash ${hash}`;
};

// What nobody may overlook stands above the plan, and is said again where the question is.
const agreed = async (given: Verb, session: Session): Promise<string | undefined> => {
  const { dossier, out } = given;
  const plan = await readPlan(given, session);
  const { title } = await dossier.call('GET /cases/{id}', { id: session.case_id });
  const { facts, alarms } = await headOf(dossier, plan);
  const lines = [`Plan of ${title}`, ...facts.map(([name, text]) => `${name.padEnd(9)}${text}`)];
  await out.read([...lines, ...alarms, '', plan.text].join('\n'));
  for (const text of alarms) out.say({ style: 'yellow', text });
  out.say(`Hash ${plan.sha256}`);
  const said = await ask(`Approve it? Its hash begins with (${ASKED} letters): `);
  return said.toLowerCase() === plan.sha256.slice(0, ASKED) ? plan.sha256 : undefined;
};
