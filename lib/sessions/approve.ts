import { randomUUID } from 'node:crypto';
import type { Session } from '../../store/records/session.ts';
import { readPlan } from '../../store/sessions/session-texts.ts';
import type { TextFile } from '../../store/text/text-file.ts';
import { notFound } from '../errors.ts';
import { refuseClosedGate } from '../planning/gate.ts';
import type { Service } from '../service.ts';
import { decide } from './decide.ts';
import { goToWork, holdingLock } from './launch.ts';
import { keptSession } from './read.ts';
import { startWork } from './rules.ts';

/**
 * Approves the plan as it stands in plan.md, edited by hand or not, and starts Work mode with exactly this text. The
 * planning gate is looked at in the same moment.
 */
export const approvePlan = async (
  service: Service,
  caseId: string,
  id: string,
  seen?: string,
): Promise<Session> => {
  const kept = await keptSession(service, caseId, id);
  const run_marker = randomUUID();
  let plan: TextFile | undefined;
  const approved = await holdingLock(service, kept, () =>
    decide(service, caseId, id, (session, matter) => {
      plan = readPlan(service.store, kept.dir);
      const change = startWork({ plan, seen, run_marker })(session, matter);
      refuseClosedGate(service, caseId);
      return change;
    }),
  );
  if (approved === undefined || plan === undefined) throw notFound('session', id);
  goToWork(service, approved, { plan: plan.content, goesOn: false });
  return approved.session;
};
