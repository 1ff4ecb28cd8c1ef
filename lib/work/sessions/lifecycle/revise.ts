import { randomUUID } from 'node:crypto';
import type { Session } from '../../../../store/records/session.ts';
import { notFound } from '../../../errors.ts';
import { decide } from '../guards/decide.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { sendBack } from '../rules/rules.ts';
import { goToPlan, holdingLock } from './launch.ts';
import { keptSession } from './read.ts';

/** Sends the plan back with the operator's words: the agent plans again, from its plan as it stands and from these. */
export const revisePlan = async (
  service: SessionNeeds,
  caseId: string,
  id: string,
  comment: string,
): Promise<Session> => {
  const kept = await keptSession(service, caseId, id);
  const rule = sendBack({ comment, run_marker: randomUUID() });
  const revised = await holdingLock(service, kept, () => decide(service, caseId, id, rule));
  if (revised === undefined) throw notFound('session', id);
  goToPlan(service, revised);
  return revised.session;
};
