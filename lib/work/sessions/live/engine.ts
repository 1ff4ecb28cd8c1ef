import { randomBytes } from 'node:crypto';
import { lockOn } from '../../../../store/base/locks.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { transcriptFile } from '../../../../store/layout.ts';
import type { LockMatter } from '../../../../store/records/lock.ts';
import { acquireLock } from '../../../../store/sessions/locks.ts';
import { createPieces } from '../../../../store/sessions/pieces.ts';
import { type StoredSession, whereIs } from '../../../../store/sessions/sessions.ts';
import { openTranscript, type Transcript } from '../../../../store/sessions/transcript.ts';
import type { Store, WithStore } from '../../../../store/store.ts';
import type { Phase, Run, RunResult, Waiting } from '../../../agents/provider.ts';
import { isTokenOf } from '../../../agents/token.ts';
import type { AgentRequest } from './agent-requests.ts';
import type { AskedQuestions } from './dialogue.ts';
import { type LiveMessages, noMessages } from './messages.ts';

/** A session whose agent runs in this process. */
export interface LiveRun {
  case_id: string;
  session_id: string;
  /** In the environment of each of its processes. */
  run_marker: string;
  phase: Phase;
  /** Where it works; undefined while that is prepared. */
  worktree: string | undefined;
  /** What its agent presents to the MCP server; good as long as it runs. */
  token: string;
  /** Undefined while its worktree is prepared. */
  run: Run | undefined;
  /** It has its place among the `max_sessions` that run at once; until then it waits. */
  entered: boolean;
  enter: () => void;
  /** Somebody ends it: what has not started yet does not start. */
  stopping: boolean;
  /** What its agent asks the operator now, by its id: leave, and questions. */
  asking: Map<string, AgentRequest & { since: string }>;
  /** What it has asked, and what was answered. */
  questions: AskedQuestions;
  /** What the operator says to it. */
  messages: LiveMessages;
  /** A message waits: has it read soon, or at once with `now`. Undefined while nothing runs that could read it. */
  interrupt: ((now: boolean) => void) | undefined;
  /** They have waited so long that others may have its place until they are answered. */
  aside: boolean;
  onSlotYielded: () => void;
  /** What it waits for now, as far as it or its silence tells. */
  waiting: Waiting | undefined;
  /** How its newest turn ended: what a paused session is to remember of it. */
  result: RunResult | undefined;
  /** Settles when the Work item has followed what the agent asked so far. */
  followed: Promise<unknown>;
  /** Settles when everything that follows from its end is done. */
  finished: Promise<void>;
}

/** A run that has not begun. */
export const newRun = (
  run: Pick<LiveRun, 'case_id' | 'session_id' | 'run_marker' | 'phase'>,
): LiveRun => ({
  ...run,
  worktree: undefined,
  token: randomBytes(24).toString('base64url'),
  run: undefined,
  entered: false,
  enter: () => undefined,
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

/** What the daemon knows of the sessions that are going on. All of it can be found again from their records. */
export interface Engine {
  readonly live: Map<string, LiveRun>;
  /** The sessions whose turn it is and that wait for the operator's word, with what was told of each. */
  readonly untrusted: Map<string, string>;
  /** What the operator allows agents to run, by its beginning, per session: until it ends, or the daemon does. */
  readonly prefixes: Map<string, string[]>;
  /** What the sessions of a type are told of what they are about, by whoever makes them. */
  readonly words: Map<string, (kept: StoredSession) => string | undefined>;
  /** What follows of a turn that is over, once nothing of it runs, by whoever has more to do then. */
  readonly over: Set<(kept: StoredSession) => Promise<void>>;
  /** For how long a request keeps its place in `max_sessions` without being answered. */
  patience_ms: number;
  /** The daemon is stopping: runs end, and their records are left as they are. */
  closing: boolean;
  /** The events of a session. One that goes on is shared by all who ask, until it is let go. */
  transcript(kept: StoredSession): Transcript;
  /** Nothing is added to the session's events any more: who reads them is let go, once they have all. */
  release(id: string): void;
  /** Ends what runs, and resolves when none of it is alive. */
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
    patience_ms: PATIENCE_MS,
    untrusted: new Map(),
    closing: false,
    transcript: (kept) => {
      const { id } = kept.session;
      const known = transcripts.get(id);
      if (known !== undefined) return known;
      const rest = () => transcriptFile(store.layout, id);
      const opened = openTranscript(() => whereIs(store, kept), store.clock, { pieces, rest });
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
      await Promise.all([...live.values()].map(stopLive));
      for (const transcript of transcripts.values()) transcript.sync();
    },
  };
  return engine;
};

/** The run whose agent was given this token; undefined when none that goes on, and is not being ended, was. */
export const runOfToken = ({ live }: Engine, token: string): LiveRun | undefined =>
  [...live.values()].find((run) => !run.stopping && isTokenOf(sha256(run.token), token));

/** Somebody ends the run, or the daemon is stopping: what has not started yet does not start. */
export const mustStop = ({ closing }: Engine, { stopping }: LiveRun): boolean =>
  stopping || closing;

/** Lets the agent put its own session in order and ends its run; resolves as stopLive does. */
export const cancelLive = async (live: LiveRun): Promise<void> => {
  live.stopping = true;
  live.enter();
  await live.run?.cancel();
  await live.finished;
};

/** Ends a run, whatever it is at, and resolves when none of its processes is alive and its end is dealt with. */
export const stopLive = async (live: LiveRun): Promise<void> => {
  live.stopping = true;
  live.enter();
  await live.run?.kill();
  await live.finished;
};

/** The sessions that are going on. */
export interface WithEngine {
  readonly engine: Engine;
}

/** Whether a run is at work in the Work item's worktree. A lock that was deleted by hand frees the lock, not the worktree. */
export const isLive = ({ live }: Engine, caseId: string): boolean =>
  [...live.values()].some(({ case_id }) => case_id === caseId);

/** Takes the session lock for a step of the daemon's own; false while somebody holds it, or is at work without it. */
export const acquireUnlessLive = async (
  { engine, store }: WithEngine & WithStore,
  caseId: string,
  operation: string,
): Promise<boolean> => {
  const acquired_at = store.clock().toISOString();
  const matter: LockMatter = { kind: 'operator', name: 'the daemon', operation, acquired_at };
  return !isLive(engine, caseId) && acquireLock(store, caseId, matter);
};
