import type { StoredSession } from '../../../store/sessions/sessions.ts';
import type { Transcript } from '../../../store/sessions/transcript.ts';

/** The sessions whose agents run, as far as it concerns whoever is about to touch a worktree. */
interface LiveSessions {
  readonly live: ReadonlyMap<string, { readonly run_marker: string }>;
  transcript(kept: StoredSession): Transcript;
}

export interface WithLive {
  readonly engine: LiveSessions;
}
