import { isEnded } from '../../store/records/session.ts';
import { forgetRun, type KeptSession, readSession } from '../../store/sessions.ts';
import type { Service } from '../service.ts';
import { sweep } from '../tools/process-tree.ts';
import { decide } from './decide.ts';
import { wakeQueue } from './launch.ts';
import { INTERRUPTED, interrupt } from './rules.ts';
import { settle } from './settle.ts';
import { noteStatus } from './stream.ts';

/**
 * What a former life of the daemon left: processes are ended, half-done follow-ups are done, sessions that ran are
 * paused. Nothing goes on by itself; only what waited in the queue, unplanned, starts to plan.
 */
export const recoverSessions = async (service: Service): Promise<void> => {
  for (const [id, { case_id }] of [...service.store.journal.runs]) {
    await recover(service, case_id, id).catch((error: unknown) => {
      service.log.error(
        { err: error, session_id: id },
        'A session could not be taken up again; its files are as they were',
      );
    });
  }
  await wakeQueue(service);
};

const recover = async (service: Service, caseId: string, id: string): Promise<void> => {
  const found = readSession(service.store, caseId, id);
  if (found === undefined) return forgetRun(service.store, id);
  if (found.matter.run_marker !== undefined) await sweep(found.matter.run_marker);
  const told = service.store.journal.runs.get(id)?.status;
  await settle(service, found);
  if (isEnded(found.session.status)) return;
  const kept = (await decide(service, caseId, id, interrupt(INTERRUPTED))) ?? found;
  if (kept.session.status !== told) noteInterrupted(service, kept);
};

const noteInterrupted = (service: Service, kept: KeptSession): void => {
  const { error } = kept.session;
  if (error !== null) service.engine.transcript(kept).append('error', { message: error });
  noteStatus(service, kept);
};
