import { readComments } from '../../../store/base/comments.ts';
import { type Boundary, type Dossier, Problem, type Session } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';
import { nextText } from './session-text.ts';
import { type Verb, withRefusals } from './verb.ts';

/** A plan, with control and invisible characters made visible. */
export interface PlanRead {
  text: string;
  /** The hash of the file. */
  sha256: string;
  /** The session when the plan was read. */
  session: Session;
}

const TRIES = 5;

/**
 * Reads plan.md of a session with the hash of exactly this text (the ETag is the beginning of the hash). Reads again while the
 * plan is being written. Throws a Refusal if it keeps changing, or there is no plan.
 */
export const readPlan = async (given: Verb, session: Session): Promise<PlanRead> => {
  const { request, call } = given.dossier;
  const { case_id: id, id: sid, unconfirmed } = session;
  // For a plan that was approved on another machine, the approved text needs confirmation.
  const isAgain = unconfirmed === 'approved';
  const at = { id, sid };
  const not_found = noPlan(given, session);
  for (let left = TRIES; left > 0; left -= 1) {
    const asked = request('GET /cases/{id}/sessions/{sid}/plan', {
      ...at,
      ...(isAgain && { query: { which: 'approved' } }),
    });
    const { data, etag } = await withRefusals(asked, { not_found });
    const now = await call('GET /cases/{id}/sessions/{sid}', at);
    const sha256 = isAgain ? now.approved_sha256 : now.plan_sha256;
    if (etag !== undefined && sha256?.startsWith(etag))
      return { text: data ?? '', sha256, session: now };
  }
  throw new Refusal('The plan keeps changing while it is read. Try again later');
};

/** Why a session has no plan to read, and what to do. */
export const noPlan = (given: Verb, session: Session): string => {
  const { config, typed } = given;
  const { id, case_id, status, provider, path } = session;
  const name = `Session ${id.slice(0, 8)}`;
  const file = `${config.workspace}/${path}/plan.md`;
  const id8 = case_id.slice(0, 8);
  if (status === 'plan_ready')
    return `${name} had a plan, but ${file} is missing. Restore or write it, or abort the session: ${typed(`abort ${id8}`)}`;
  if (provider === 'manual' && status === 'planning')
    return `${name} has no plan yet: write it to ${file}`;
  return `${name} has no plan yet: it is ${status}. ${nextText(given, session)}`;
};

/** An approval of a plan and of the commands that run without asking, for the API call. */
export interface PlanApproval {
  hash: string;
  /** The commands that run without asking. */
  commands: string[];
  body: { plan_sha256: string; approval_sha256?: string; ask?: string[] };
}

/**
 * Reads the boundary of a session, with `ask` removed from the commands that run without asking. Returns the reason as a string if
 * it cannot be read, for example because its provider was removed: the plan can be read without it.
 */
export const readBoundary = async (
  { dossier, typed }: Pick<Verb, 'dossier' | 'typed'>,
  { case_id: id, id: sid }: Pick<Session, 'case_id' | 'id'>,
  ask: string[] = [],
): Promise<Boundary | string> => {
  try {
    return await dossier.call('GET /cases/{id}/sessions/{sid}/boundary', {
      id,
      sid,
      ...(ask.length > 0 && { query: { ask: ask.join('\n') } }),
    });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    if (error.code !== 'bad_request') return error.message;
    throw new Refusal(
      error.message.replace(' with GET …/boundary.', `: ${typed(`plan ${id.slice(0, 8)}`)}`),
    );
  }
};

/** The approval of a plan with this hash. Throws a Refusal if the boundary belongs to another text. */
export const approvalFor = (
  boundary: Boundary | string,
  plan_sha256: string,
  ask: string[] = [],
): PlanApproval => {
  const { unasked } = typeof boundary === 'string' ? {} : boundary;
  const { commands = [], approval_sha256, plan_sha256: of = plan_sha256 } = unasked ?? {};
  if (of !== plan_sha256) throw new Refusal('The plan changed while it was read. Try again');
  if (approval_sha256 === undefined) {
    if (ask.length === 0) return { hash: plan_sha256, commands, body: { plan_sha256 } };
    throw new Refusal('No command of this plan runs without asking, so leave --ask out');
  }
  const asked = ask.length > 0 ? { ask } : {};
  return { hash: approval_sha256, commands, body: { plan_sha256, approval_sha256, ...asked } };
};

/** Lists the commands that an approval allows to run without asking. */
export const unpromptedLines = (commands: readonly string[]): string[] =>
  commands.length === 0
    ? []
    : [
        'Will run without asking (dossier approve --ask COMMAND removes one):',
        ...commands.map((command) => `  ${command}`),
      ];

/** The comments on a plan that were not sent yet, indented. They may have come by git, and an approval sends none of them. */
export const readUnsentComments = async (
  { request }: Pick<Dossier, 'request'>,
  { case_id: id, id: sid }: Pick<Session, 'case_id' | 'id'>,
): Promise<string> => {
  const { data = '' } = await request('GET /cases/{id}/sessions/{sid}/comments', { id, sid });
  const { pending } = readComments(data);
  return pending.replaceAll(/^(?=.)/gm, '  ');
};
