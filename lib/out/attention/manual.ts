import type { Session } from '../../../store/records/session.ts';
import type { Engine } from '../../work/sessions/live/engine.ts';
import type { AttentionEntry } from './entry.ts';

/** A session that the operator does by hand: its plan is to be written, or its work to be finished. */
export const ofManual = (engine: Engine, session: Session, since: string): AttentionEntry[] => {
  const { id, case_id, provider, status } = session;
  const call = provider === 'manual' ? CALLS[status] : undefined;
  const { run, worktree } = engine.live.get(id) ?? {};
  // It has begun: only then can it be finished.
  if (call === undefined || run === undefined || worktree === undefined) return [];
  const { message, method, path } = call;
  return [
    {
      ...{ id: `manual/${id}/${status}`, kind: 'manual', session_id: id, since, message },
      answer: { method, path: `/cases/${case_id}/sessions/${id}/${path}` },
    },
  ];
};

interface Call extends Pick<AttentionEntry['answer'], 'method' | 'path'> {
  message: string;
}

const CALLS: Partial<Record<Session['status'], Call>> = {
  planning: {
    method: 'PUT',
    path: 'plan',
    message: 'The session waits for the plan that you write.',
  },
  working: {
    ...{ method: 'POST', path: 'finish' },
    message: 'The session waits until you have carried its plan out.',
  },
};
