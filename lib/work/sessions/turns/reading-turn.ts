import { createSessionFile } from '../../../../store/sessions/session-texts.ts';
import { type StoredSession, sessionDirOf } from '../../../../store/sessions/sessions.ts';
import type { EngineNeeds } from '../live/needs.ts';

/** A turn that may only read and is compared afterwards: of a session in Plan mode, or of planning. */
export interface ReadingTurn {
  case_id: string;
  /** The id of the session, or of the run where there is none. */
  id: string;
  of: 'session' | 'planning';
  provider: string;
  run_marker: string;
  /** Reports a finding to the operator. */
  tell(found: Record<string, unknown>): void;
  keepPatch(name: string, patch: Buffer): Promise<unknown>;
}

export const turnOfSession = ({ engine, store }: EngineNeeds, kept: StoredSession): ReadingTurn => {
  const { session, matter } = kept;
  const { id, case_id, provider } = session;
  return {
    id,
    case_id,
    of: 'session',
    provider,
    run_marker: matter.run_marker ?? id,
    tell: (found) => engine.transcript(kept).append('error', found),
    keepPatch: (name, patch) => createSessionFile(store, sessionDirOf(store, kept), name, patch),
  };
};
