import type { MessageMatter } from '../../../../store/records/message.ts';
import {
  type Attached,
  isWaiting,
  type Session,
  type SessionMatter,
} from '../../../../store/records/session.ts';
import type { SessionRule } from '../../../../store/sessions/sessions.ts';
import { CONFLICT } from '../../../code/worktrees/rebase/rebase-state.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { MOST_MESSAGES } from './messages.ts';

/** Each takes two lines of session.md; older ones are still in the stream. */
const MOST = 50;

/** The agent's own terminal interface is attached to a session that waits for the operator. */
export const beginAttach =
  (started_at: string, run_marker: string): SessionRule =>
  (session, matter) => {
    refuseAttach(session);
    const before = (matter.attached ?? []).slice(1 - MOST);
    return { attached: [...before, { started_at, ended_at: null }], run_marker };
  };

interface Detached {
  /** Undefined if the interface never started: the record is as before. */
  ended_at: string | undefined;
  /** The operator's messages there. */
  messages?: readonly MessageMatter[];
}

/** The interface has ended; the status of the session stays. Undefined where the record has no open attachment. */
export const endAttach =
  ({ ended_at, messages = [] }: Detached): SessionRule =>
  (_session, matter) => {
    const open = openAttach(matter);
    if (open === undefined) return undefined;
    const before = (matter.attached ?? []).slice(0, -1);
    const said = [...(matter.messages ?? []), ...messages].slice(0, MOST_MESSAGES);
    return {
      attached: ended_at === undefined ? before : [...before, { ...open, ended_at }],
      ...(messages.length > 0 && { messages: said }),
    };
  };

/** The attachment that has not ended. */
export const openAttach = ({ attached }: Pick<SessionMatter, 'attached'>): Attached | undefined => {
  const last = attached?.at(-1);
  return last?.ended_at === null ? last : undefined;
};

/** Throws where no terminal interface can be attached in this status. */
export const refuseAttach = ({ id, status, type }: Session): void => {
  if (type === CONFLICT)
    throw invalidState(
      `Session ${id} resolves conflicts of a rebase, and no terminal is attached to it. Resolve them in the worktree, or send a message.`,
    );
  if (isWaiting(status)) return;
  if (status === 'planning' || status === 'working')
    throw new ServiceError(
      'session_active',
      `Session ${id} is ${status}: its agent is running. Pause the session, then attach.`,
    );
  if (status === 'queued')
    throw invalidState(`Session ${id} is queued and has no conversation yet. Wait for its plan.`);
  throw invalidState(
    `Session ${id} has ended (${status}). Send a message, which starts another session in the same worktree.`,
  );
};
