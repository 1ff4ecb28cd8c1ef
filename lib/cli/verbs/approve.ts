import { shellQuoted } from '../../../store/base/text.ts';
import type { Session } from '../../client/client.ts';
import { UsageError } from '../../config.ts';
import type { Values } from '../args/options.ts';
import { Refusal } from '../args/refusal.ts';
import { sessionOf } from '../connection/find.ts';
import { ask, isTerminal } from '../output/terminal.ts';
import { followWork } from './follow.ts';
import { planLines } from './plan.ts';
import { approvalFor, noPlan, type PlanApproval, readBoundary, readPlan } from './read-plan.ts';
import { nextText, statusText, unlessRefused } from './session-text.ts';
import { type Verb, verb } from './verb.ts';

const ASKED = 4;

/**
 * `dossier approve ITEM`: shows the plan and asks for the beginning of its hash; without a terminal the whole hash is
 * required. The hash ties the approval to the text that was read: if the plan has changed, the daemon refuses it.
 */
export const approve = verb(async (given) => {
  const { dossier, values, out } = given;
  checkOptions(values);
  const session = await sessionOf(given);
  const { status, unconfirmed, elsewhere } = session;
  if ((status !== 'plan_ready' && unconfirmed !== 'approved') || elsewhere === true)
    throw new Refusal(
      `There is no plan to approve: session ${session.id.slice(0, 8)} is ${statusText(session)}. ${nextText(given, session)}`,
    );
  if (values.hash === undefined && !isTerminal())
    throw new UsageError(await commandFor(given, session));
  const body = named(given, session) ?? (await agreed(given, session));
  if (body === undefined) {
    out.say('Nothing was approved.');
    return 1;
  }
  const approved = await dossier.call('POST /cases/{id}/sessions/{sid}/approve', {
    id: session.case_id,
    sid: session.id,
    body,
  });
  const next = await ownWork(given, approved);
  given.report(
    approved,
    `Approved; session ${session.id.slice(0, 8)} is ${approved.status}${next}`,
  );
  return values.follow === true ? followWork(given, approved) : undefined;
});

// Where the operator works, if nothing else does.
const ownWork = async (given: Verb, session: Session): Promise<string> => {
  const { provider, status, case_id: id } = session;
  if (provider !== 'manual' || status !== 'working') return '';
  const read = given.dossier.call('GET /api/cases/{id}/worktree', { id });
  const worktree = await unlessRefused(read);
  const place = worktree === undefined ? '' : `. Carry out the plan in ${worktree.path}`;
  return `${place}. ${nextText(given, session)}`;
};

const checkOptions = ({ hash, follow, json }: Values): void => {
  if (hash !== undefined && !/^[0-9a-f]{64}$/i.test(hash))
    throw new UsageError(
      `--hash needs all 64 digits of the hash that dossier plan shows, not ${hash}`,
    );
  if (follow === true && json === true)
    throw new UsageError('--follow prints text: leave --json out, or run dossier tail --json');
};

type Body = PlanApproval['body'] | { approval_sha256: string; ask?: string[] };

// The hash of the plan alone approves only its text: every command asks.
const named = ({ values: { hash, ask } }: Verb, session: Session): Body | undefined => {
  if (hash === undefined) return undefined;
  const sha256 = hash.toLowerCase();
  if (sha256 !== (session.approved_sha256 ?? session.plan_sha256))
    return { approval_sha256: sha256, ...(ask && { ask }) };
  if (ask !== undefined)
    throw new UsageError(
      `--hash ${hash.slice(0, 8)}… is the hash of the text alone, so --ask has no effect. Use the hash that dossier plan --ask shows`,
    );
  return { plan_sha256: sha256 };
};

// The command to type after reading the plan.
const commandFor = async (given: Verb, session: Session): Promise<string> => {
  const {
    typed,
    values: { ask = [] },
  } = given;
  const id8 = session.case_id.slice(0, 8);
  const sha256 = session.approved_sha256 ?? session.plan_sha256;
  if (sha256 === null) throw new Refusal(noPlan(given, session));
  const { hash } = approvalFor(await readBoundary(given, session, ask), sha256, ask);
  const asked = ask.map((command) => ` --ask ${shellQuoted(command)}`).join('');
  const command = (name: string, more = '') =>
    typed(`${name} ${id8} --session ${session.id.slice(0, 8)}${asked}${more}`);
  return `Without a terminal, dossier cannot ask you. Read the plan: ${command('plan')}. To approve it: ${command('approve', ` --hash ${hash}`)}`;
};

const agreed = async (given: Verb, session: Session): Promise<Body | undefined> => {
  const { out } = given;
  const plan = await readPlan(given, session);
  const { text, alarms, approval } = await planLines(given, plan);
  await out.read(text);
  for (const alarm of alarms) out.say({ style: 'yellow', text: alarm });
  out.say(`Hash ${approval.hash}`);
  const said = await ask(`To approve it, type the first ${ASKED} characters of the hash: `);
  return said.toLowerCase() === approval.hash.slice(0, ASKED) ? approval.body : undefined;
};
