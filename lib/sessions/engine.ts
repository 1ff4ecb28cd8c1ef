import { openTranscript, type Transcript } from '../../store/transcript.ts';
import { createTurns, type Turns } from '../../store/turns.ts';
import type { Run } from '../providers/provider.ts';

/** A session whose agent runs in this process. */
export interface LiveRun {
  case_id: string;
  session_id: string;
  /** Undefined while its worktree is prepared. */
  run: Run | undefined;
  /** Settles when everything that follows from its end is done. */
  finished: Promise<void>;
}

/** What the daemon knows of the sessions that are going on. All of it can be found again from their records. */
export interface Engine {
  readonly live: Map<string, LiveRun>;
  /** Per Work item: one decision about its sessions at a time, with all that follows from it. */
  readonly decisions: Turns;
  /** The daemon is stopping: runs end, and their records are left as they are. */
  closing: boolean;
  transcript(id: string, dir: string): Transcript;
  /** Drops the transcripts that nobody writes to. */
  close(): Promise<void>;
}

export const createEngine = (clock: () => Date): Engine => {
  const transcripts = new Map<string, Transcript>();
  const live = new Map<string, LiveRun>();
  const engine: Engine = {
    live,
    decisions: createTurns(),
    closing: false,
    transcript: (id, dir) => {
      const open = transcripts.get(id) ?? openTranscript(dir, clock);
      transcripts.set(id, open);
      return open;
    },
    close: async () => {
      engine.closing = true;
      await Promise.all([...live.values()].map(({ run }) => run?.kill()));
      await Promise.all([...live.values()].map(({ finished }) => finished));
      for (const transcript of transcripts.values()) transcript.sync();
    },
  };
  return engine;
};
