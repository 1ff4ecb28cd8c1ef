import type { Dossier, Session } from '../../client/client.ts';
import { Refusal } from '../line/refusal.ts';

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
 * the two are read again. Throws a Refusal where they do not come together.
 */
export const readPlan = async (
  { request, call }: Dossier,
  { case_id: id, id: sid }: Session,
): Promise<PlanRead> => {
  const at = { id, sid };
  for (let left = TRIES; left > 0; left -= 1) {
    const { data, etag } = await request('GET /cases/{id}/sessions/{sid}/plan', at);
    const session = await call('GET /cases/{id}/sessions/{sid}', at);
    const sha256 = session.plan_sha256;
    if (etag !== undefined && sha256?.startsWith(etag))
      return { text: data ?? '', sha256, session };
  }
  throw new Refusal('The plan changes while it is read. Try again once nobody writes it');
};
