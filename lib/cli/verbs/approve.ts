import { shellQuoted } from '../../../store/base/shell-quoted.ts';
import type { Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import { Refusal } from '../args/refusal.ts';
import { itemOf } from '../connection/item.ts';
import { sessionOf } from '../connection/session.ts';
import { ask, isTerminal } from '../output/terminal.ts';
import { followWork } from './follow.ts';
import { planLines } from './plan-head.ts';
import { readPlan, type ApprovalOffered, offeredBy, readBoundary } from './read-plan.ts';
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
  if (values.hash === undefined && !isTerminal())
    throw new UsageError(await commandFor(given, session));
  const body = named(given, session) ?? (await agreed(given, session));
  if (body === undefined) {
    out.say('Nothing was approved.');
    return 1;
  }
  const approved = await dossier.call('POST /cases/{id}/sessions/{sid}/approve', {
    ...{ id, sid: session.id },
    body,
  });
  if (values.json === true) out.json(approved);
  else out.say(`Approved; session ${session.id.slice(0, 8)} is ${approved.status}`);
  return values.follow === true ? followWork(given, approved) : undefined;
});

const checkOptions = ({ hash, follow, json }: Values): void => {
  if (hash !== undefined && !/^[0-9a-f]{64}$/i.test(hash))
    throw new UsageError('--hash takes all 64 digits of the hash that dossier plan shows');
  if (follow === true && json === true)
    throw new UsageError('--follow prints text: leave --json out, or call dossier tail --json');
};

type Body = ApprovalOffered['body'] | { approval_sha256: string; ask?: string[] };

// The hash of the plan alone approves its text: each command is asked for.
const named = ({ values: { hash, ask } }: Verb, session: Session): Body | undefined => {
  if (hash === undefined) return undefined;
  const sha256 = hash.toLowerCase();
  if (sha256 !== (session.approved_sha256 ?? session.plan_sha256))
    return { approval_sha256: sha256, ...(ask && { ask }) };
  if (ask !== undefined)
    throw new UsageError(
      `--hash ${hash.slice(0, 8)}… is of the text alone, and --ask changes nothing of it. Take the hash that dossier plan --ask shows`,
    );
  return { plan_sha256: sha256 };
};

// As it is typed, once the plan was read.
const commandFor = async (given: Verb, session: Session): Promise<string> => {
  const {
    dossier,
    words: [word = ''],
    config,
    values: { ask = [] },
  } = given;
  const sha256 = session.approved_sha256 ?? session.plan_sha256 ?? '';
  const { hash } = offeredBy(await readBoundary(dossier, session, ask), sha256, ask);
  const asked = ask.map((command) => ` --ask ${shellQuoted(command)}`).join('');
  const where = `--session ${session.id.slice(0, 8)} --workspace ${shellQuoted(config.workspace)}${asked}`;
  return `Nobody can be asked here. Read the plan: dossier plan ${word} ${where}. To approve it: dossier approve ${word} ${where} --hash ${hash}`;
};

const agreed = async (given: Verb, session: Session): Promise<Body | undefined> => {
  const { out } = given;
  const plan = await readPlan(given, session);
  const { text, alarms, approval } = await planLines(given, plan);
  await out.read(text);
  for (const alarm of alarms) out.say({ style: 'yellow', text: alarm });
  out.say(`Hash ${approval.hash}`);
  const said = await ask(`Approve it? Its hash begins with (${ASKED} letters): `);
  return said.toLowerCase() === approval.hash.slice(0, ASKED) ? approval.body : undefined;
};
