import { listSessions } from '../../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../../store/store.ts';
import type { WithGit } from '../../../tools/git/run/git.ts';
import { decide } from '../guards/decide.ts';
import type { WithEngine } from '../live/engine.ts';
import { abort } from '../rules/rules.ts';
import { wrapUp } from '../turns/wrap-up.ts';

/** Ends the sessions of this type that only wait: what they were to be about is no more. */
export const endQueued = async (
  service: WithEngine & WithGit & WithStore,
  caseId: string,
  type: string,
): Promise<void> => {
  for (const kept of listSessions(service.store, caseId) ?? []) {
    const { session } = kept;
    if (session.type !== type || session.status !== 'queued' || session.elsewhere === true)
      continue;
    const ending = await wrapUp(service, kept, { status: 'aborted' });
    await decide(service, caseId, session.id, (current, matter) =>
      current.status === 'queued' ? abort(ending)(current, matter) : undefined,
    );
  }
};
