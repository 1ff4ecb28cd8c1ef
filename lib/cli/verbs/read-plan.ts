import { type Session, type Boundary, type Dossier, Problem } from '../../client/client.ts';
import { Refusal } from '../args/refusal.ts';
import { orRefuse, type Verb } from './verb.ts';

/** A plan as it can be read, with nothing hidden in it. */
export interface PlanRead {
  text: string;
  /** Of the file that it stands in, and of no other. */
  sha256: string;
  /** As it stood with this plan. */
  session: Session;
}

const TRIES = 5;

/**
 * plan.md of a session and the hash of just this text: its ETag is what the hash begins with. While somebody writes it
 * the two are read again. Throws a Refusal where they do not come together, or there is no plan.
 */
export const readPlan = async (
  { dossier: { request, call }, config }: Pick<Verb, 'dossier' | 'config'>,
  { case_id: id, id: sid, path, provider, status, unconfirmed }: Session,
): Promise<PlanRead> => {
  // Of one that was approved elsewhere the text that would run is asked for again.
  const isAgain = unconfirmed === 'approved';
  const at = { id, sid };
  const isOnes = provider === 'manual' && status === 'planning';
  const next = isOnes
    ? `write it to ${config.workspace}/${path}/plan.md`
    : `it is ${status}, and dossier tail ${id.slice(0, 8)} shows what it does`;
  const not_found = `Session ${sid.slice(0, 8)} has no plan yet: ${next}`;
  for (let left = TRIES; left > 0; left -= 1) {
    const asked = request('GET /cases/{id}/sessions/{sid}/plan', {
      ...at,
      ...(isAgain && { query: { which: 'approved' } }),
    });
    const { data, etag } = await orRefuse(asked, { not_found });
    const session = await call('GET /cases/{id}/sessions/{sid}', at);
    const sha256 = isAgain ? session.approved_sha256 : session.plan_sha256;
    if (etag !== undefined && sha256?.startsWith(etag))
      return { text: data ?? '', sha256, session };
  }
  throw new Refusal('The plan changes while it is read. Try again once nobody writes it');
};

/** What the operator approves with a plan, as the call takes it, and the one hash of all of it. */
export interface ApprovalOffered {
  hash: string;
  /** The commands that run without asking. */
  commands: string[];
  body: { plan_sha256: string; approval_sha256?: string; ask?: string[] };
}

/**
 * The boundary of a session, with these commands taken out of the list of those that run without asking; or why it cannot be
 * read, as where the settings name its provider no more: the plan can be read all the same.
 */
export const readBoundary = async (
  { call }: Pick<Dossier, 'call'>,
  { case_id: id, id: sid }: Pick<Session, 'case_id' | 'id'>,
  ask: string[] = [],
): Promise<Boundary | string> => {
  try {
    return await call('GET /cases/{id}/sessions/{sid}/boundary', {
      ...{ id, sid },
      ...(ask.length > 0 && { query: { ask: ask.join('\n') } }),
    });
  } catch (error) {
    if (error instanceof Problem && error.code !== 'bad_request') return error.message;
    throw error;
  }
};

/** The approval of a plan with this hash. Throws a Refusal where the boundary is of another text. */
export const offeredBy = (
  boundary: Boundary | string,
  plan_sha256: string,
  ask: string[] = [],
): ApprovalOffered => {
  const { unasked } = typeof boundary === 'string' ? {} : boundary;
  const { commands = [], approval_sha256, plan_sha256: of = plan_sha256 } = unasked ?? {};
  if (of !== plan_sha256)
    throw new Refusal('The plan changes while it is read. Try again once nobody writes it');
  if (approval_sha256 === undefined) return { hash: plan_sha256, commands, body: { plan_sha256 } };
  const asked = ask.length > 0 ? { ask } : {};
  return { hash: approval_sha256, commands, body: { plan_sha256, approval_sha256, ...asked } };
};

/** The commands as they are listed before the operator approves them. */
export const unaskedLines = (commands: readonly string[]): string[] =>
  commands.length === 0
    ? []
    : [
        'Will run without asking (dossier approve --ask COMMAND takes one out):',
        ...commands.map((command) => `  ${command}`),
      ];
