import type { Session } from '../../client/client.ts';
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
