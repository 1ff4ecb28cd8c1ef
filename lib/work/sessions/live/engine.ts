import { randomBytes } from 'node:crypto';
import { type Signal, signal } from '../../../../store/base/async.ts';
import { lockOn } from '../../../../store/base/locks.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { transcriptFile } from '../../../../store/layout.ts';
import type { Session } from '../../../../store/records/session.ts';
import { createPieces } from '../../../../store/sessions/log-reader.ts';
import { assertRecord } from '../../../../store/sessions/session-texts.ts';
import { type StoredSession, sessionDirOf } from '../../../../store/sessions/sessions.ts';
import { openTranscript, type Transcript } from '../../../../store/sessions/transcript.ts';
import type { Store } from '../../../../store/store.ts';
import { isTokenOf } from '../../../agents/mcp-access.ts';
import type { Phase, Run, RunResult, Waiting } from '../../../agents/provider.ts';
import type { AgentRequest } from './agent-requests.ts';
import type { AskedQuestions } from './dialogue.ts';
import { type LiveMessages, noMessages } from './messages.ts';

/** A run of a session in this process. */
export interface LiveRun {
  case_id: string;
  session_id: string;
  /** Set in the environment of each of its processes. */
  run_marker: string;
  phase: Phase;
  /** The path of the worktree; undefined while it is prepared. */
  worktree: string | undefined;
  /** The agent's credential for the MCP server, valid while the run lasts. */
  token: string;
  /** Undefined while its worktree is prepared. */
  run: Run | undefined;
  /** Raised once the run has a slot of `max_sessions`; until then it waits. */
  entered: Signal;
  /** The agent's own terminal interface, at the operator's terminal: no turn of the session. */
  attached: boolean;
  /** The run is being ended: whatever has not started yet does not start. */
  stopping: boolean;
  /** The open permission requests and questions, by id. */
  asking: Map<string, AgentRequest & { since: string }>;
  /** All questions of the run, with their answers. */
  questions: AskedQuestions;
  /** The operator's messages. */
  messages: LiveMessages;
  /**
   * Has the agent read a waiting message soon, or at once with `now`. Undefined while nothing runs that could read it.
   */
  interrupt: ((now: boolean) => void) | undefined;
  /** True once the requests have waited so long that others may have the slot until they are answered. */
  aside: boolean;
  onSlotYielded: () => void;
  /** What the agent waits for, as reported or concluded from its silence. */
  waiting: Waiting | undefined;
  /** The result of the newest turn, for the record of a paused session. */
  result: RunResult | undefined;
  /** Settles when the Work item has followed all requests so far. */
  followed: Promise<unknown>;
  /** Settles when everything that follows from the end of the run is done. */
  finished: Promise<void>;
}

/** A run that has not started. */
export const newRun = (
  run: Pick<LiveRun, 'case_id' | 'session_id' | 'run_marker' | 'phase'>,
): LiveRun => ({
  ...run,
  worktree: undefined,
  token: randomBytes(24).toString('base64url'),
  run: undefined,
  entered: signal(),
  attached: false,
  stopping: false,
  asking: new Map(),
  questions: new Map(),
  messages: noMessages(),
  interrupt: undefined,
  aside: false,
  onSlotYielded: () => undefined,
  waiting: undefined,
  result: undefined,
  followed: Promise.resolve(),
  finished: Promise.resolve(),
});

/** What others say about the subject of a session. */
export interface OthersWords {
  tell(kept: StoredSession): Promise<string | undefined>;
  since(kept: Pick<Session, 'case_id' | 'id' | 'mode'>): string | undefined;
}

/** The daemon's memory of running sessions. All of it can be restored from their records. */
export interface Engine {
  readonly live: Map<string, LiveRun>;
  /** Queued sessions that only lack trust, with the message that was appended to the stream of each. */
  readonly untrusted: Map<string, string>;
  /** The command prefixes that the operator allows in a session, until it or the daemon ends. */
  readonly prefixes: Map<string, string[]>;
  /**
   * By session type: the words of others for a plan's prompt, and which of them have changed since, as a sentence.
   * Registered by the room that creates such sessions.
   */
  readonly words: Map<string, OthersWords>;
  /** Called after each turn, once none of its processes runs. */
  readonly over: Set<(kept: StoredSession) => Promise<void>>;
  /**
   * Sessions whose record was gone while they ran, or at the start, or whose recovery failed: recovered at the next change
   * of their Work item, with this error.
   */
  readonly away: Map<string, string>;
  /** Sessions whose run has ended although their record says that they run, because its end could not be written. */
  readonly unrecorded: Map<string, Pick<Waiting, 'since' | 'message'>>;
  /** Queued sessions whose record could not be read when they were to start. */
  readonly unread: Set<string>;
  /** Sessions that are being recovered while the daemon runs. */
  readonly recovering: Set<string>;
  /** How long an unanswered request keeps its slot of `max_sessions`. */
  patience_ms: number;
  /** The daemon is stopping: runs end, and their records are left as they are. */
  closing: boolean;
  /** The events of a session. All callers share one transcript until it is released. */
  transcript(kept: StoredSession): Transcript;
  /** Closes the transcript: nothing is appended any more, and readers end once they have all events. */
  release(id: string): void;
  /** Ends all runs; resolves when none of their processes is alive. */
  close(): Promise<void>;
}

const PATIENCE_MS = 10 * 60_000;

export const createEngine = (store: Store): Engine => {
  const transcripts = new Map<string, Transcript>();
  const live = new Map<string, LiveRun>();
  const pieces = createPieces();
  const engine: Engine = {
    live,
    prefixes: new Map(),
    words: new Map(),
    over: new Set(),
    away: new Map(),
    unrecorded: new Map(),
    unread: new Set(),
    recovering: new Set(),
    patience_ms: PATIENCE_MS,
    untrusted: new Map(),
    closing: false,
    transcript: (kept) => {
      const { id } = kept.session;
      const known = transcripts.get(id);
      if (known !== undefined) return known;
      const rest = () => transcriptFile(store.layout, id);
      const where = () => sessionDirOf(store, kept);
      const assertMeant = () => assertRecord(where());
      const opened = openTranscript(where, store.clock, { pieces, rest, assertMeant });
      if (!opened.complete) transcripts.set(id, opened);
      return opened;
    },
    release: (id) => {
      engine.prefixes.delete(id);
      transcripts.get(id)?.end();
      transcripts.delete(id);
    },
    close: async () => {
      engine.closing = true;
      await store.locks.whenFree(lockOn.start());
      await Promise.all([...live.values()].map((run) => stopLive(run)));
      for (const transcript of transcripts.values()) transcript.sync();
    },
  };
  return engine;
};

/** The run of this token; undefined when there is none, or it is being ended. */
export const runOfToken = ({ live }: Engine, token: string): LiveRun | undefined =>
  [...live.values()].find((run) => !run.stopping && isTokenOf(sha256(run.token), token));

/** True while the run is being ended or the daemon stops: whatever has not started yet does not start. */
export const mustStop = ({ closing }: Engine, { stopping }: LiveRun): boolean =>
  stopping || closing;

/**
 * Ends a run at any point; resolves when none of its processes is alive and its end is recorded. By `cancel` the agent's turn
 * is cancelled first, which lets it save its own session.
 */
export const stopLive = async (live: LiveRun, by: 'kill' | 'cancel' = 'kill'): Promise<void> => {
  live.stopping = true;
  live.entered.raise();
  await live.run?.[by]();
  await live.finished;
};

/** The running sessions. */
export interface WithEngine {
  readonly engine: Engine;
}

/** Whether a run uses the Work item's worktree. Deleting lock.md by hand frees the lock but not the worktree. */
export const isLive = ({ live }: Engine, caseId: string): boolean =>
  [...live.values()].some(({ case_id }) => case_id === caseId);
