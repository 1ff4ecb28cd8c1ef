import { messageOf } from '../../../../store/base/attempt.ts';
import { newRunMarker } from '../../../../store/sessions/run-marker.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import type { RunEvent, RunResult, Terminal, TerminalLaunch } from '../../../agents/provider.ts';
import { projectCache } from '../../../code/worktrees/cache.ts';
import { checkState } from '../../../code/worktrees/inspect/status.ts';
import { getWorktree } from '../../../code/worktrees/read.ts';
import { viewOf } from '../../../code/worktrees/turn/open.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { decideWith } from '../guards/decide.ts';
import { approvedPlan, refuseLost } from '../guards/preconditions.ts';
import { type LiveRun, newRun, stopLive } from '../live/engine.ts';
import type { SessionNeeds } from '../live/needs.ts';
import { beginAttach, refuseAttach } from '../rules/attach.ts';
import { runInTurnRepository } from '../turns/turn-repository.ts';
import { recordDetached } from './detach.ts';
import { startQueued, withSessionLock } from './launch.ts';
import { getStoredSession } from './read.ts';

/**
 * Attaches the agent's own terminal interface while the returned stream is read: its first line is what to start. The end of
 * the reader ends the interface, and the end of the interface ends the stream.
 */
export const attachedTerminal = (service: SessionNeeds, caseId: string, sid: string) => ({
  filename: 'attach.ndjson',
  type: 'application/x-ndjson',
  open: async function* (signal: AbortSignal): AsyncGenerator<Uint8Array> {
    const { launch, live } = await attachTerminal(service, caseId, sid);
    const end = (): void => void stopLive(live);
    signal.addEventListener('abort', end);
    if (signal.aborted) end();
    yield Buffer.from(`${JSON.stringify(launch)}\n`);
    await live.finished;
  },
});

/**
 * Prepares the agent's own terminal interface on the conversation of a session that waits: with the sandbox, the network, the
 * copy of the agent's state and the repository of a turn in the session's mode. Until it ends, no turn of the session starts.
 * Returns what the command line starts, and the run, whose `finished` never rejects.
 */
const attachTerminal = async (
  service: SessionNeeds,
  caseId: string,
  sid: string,
): Promise<{ launch: TerminalLaunch; live: LiveRun }> => {
  const found = await getStoredSession(service, caseId, sid);
  refuseAttach(found.session);
  const opened = openTerminal(service, found);
  await refuseLost(service.store, found.session);
  await checkPlace(service, caseId);
  const { kept, live } = await begin(service, found);
  let ready: (launch: TerminalLaunch) => void = () => undefined;
  const started = new Promise<TerminalLaunch>((resolve) => {
    ready = resolve;
  });
  let launch: TerminalLaunch | undefined;
  const run = drive(service, { kept, live, ...opened }, (its) => {
    launch = its;
    ready(its);
  });
  live.finished = run
    .then((result) => result, failed)
    .then((result) => recordDetached(service, { kept, result, isStarted: launch !== undefined }))
    .catch((error: unknown) =>
      service.log.error({ err: error, session_id: sid }, 'recording a terminal interface failed'),
    )
    .finally(() => service.engine.live.delete(sid))
    .then(() => startQueued(service))
    .catch(() => undefined);
  const its = await Promise.race([started, live.finished.then(() => run)]);
  if (!('argv' in its)) throw new ServiceError('provider_failed', its.error ?? NOT_STARTED);
  return { launch: its, live };
};

const failed = (error: unknown): RunResult => ({ outcome: 'failed', error: messageOf(error) });

const NOT_STARTED = 'The terminal interface was ended before it started.';

/** Ends the terminal interface of a session. Throws `invalid_state` if none is attached. */
export const detachTerminal = async (
  service: SessionNeeds,
  caseId: string,
  sid: string,
): Promise<StoredSession['session']> => {
  const { session } = await getStoredSession(service, caseId, sid);
  const live = service.engine.live.get(sid);
  if (live?.attached === true) await stopLive(live);
  else if (session.attached === undefined)
    throw invalidState(`No terminal was attached to session ${sid}. There is nothing to end.`);
  return (await getStoredSession(service, caseId, sid)).session;
};

interface Opened {
  terminal: Terminal;
  native_session_id: string;
}

const openTerminal = (
  { providers }: SessionNeeds,
  { session: { id, provider: name }, matter: { native_session_id } }: StoredSession,
): Opened => {
  const terminal = providers().get(name)?.terminal;
  if (terminal === undefined)
    throw unsupported(
      `The provider ${name} has no terminal interface that continues a conversation. Claude Code, Codex, Gemini CLI, OpenCode and Qwen Code have one, with \`kind: acp\`. Send a message instead.`,
    );
  const missing = terminal.missing();
  if (missing !== undefined) throw unsupported(missing);
  if (native_session_id === undefined || !CONVERSATION.test(native_session_id))
    throw unsupported(
      `Session ${id} has no conversation that ${name} can continue. Send a message instead.`,
    );
  return { terminal, native_session_id };
};

// The id comes from the agent, and becomes an argument of its own program.
const CONVERSATION = /^[A-Za-z0-9][\w.:-]{0,199}$/;

const unsupported = (message: string): ServiceError =>
  new ServiceError('attach_unsupported', message);

const checkPlace = async ({ store }: SessionNeeds, caseId: string): Promise<void> => {
  const worktree = readWorktree(store, caseId);
  if (worktree === undefined)
    throw invalidState('The Work item has no worktree yet. Resume the session, which creates it.');
  await checkState(worktree);
};

// Under the decision lock, so that no other run of the session begins in between.
const begin = async (service: SessionNeeds, found: StoredSession) => {
  const { store, engine } = service;
  const { id: session_id, case_id, mode } = found.session;
  const run_marker = newRunMarker(store.layout, session_id);
  const live: LiveRun = {
    ...newRun({ session_id, case_id, run_marker, phase: mode }),
    attached: true,
    // It takes no place of `max_sessions`.
    aside: true,
  };
  live.entered.raise();
  const rule = beginAttach(store.clock().toISOString(), run_marker);
  const start = () =>
    decideWith(service, found.session, async (now) => {
      rule(now.session, now.matter);
      if (now.session.mode === 'work') approvedPlan(store, now);
      if (now.session.mode !== mode || engine.live.has(session_id)) throw busy(session_id);
      engine.live.set(session_id, live);
      return rule;
    });
  try {
    return { kept: await withSessionLock(service, found, start), live };
  } catch (error) {
    if (engine.live.get(session_id) === live) engine.live.delete(session_id);
    throw error;
  }
};

const busy = (id: string): ServiceError =>
  new ServiceError(
    'session_active',
    `Another run of session ${id} is starting or ending. Try again in a moment.`,
  );

const drive = async (
  service: SessionNeeds,
  { kept, live, terminal, native_session_id }: Opened & { kept: StoredSession; live: LiveRun },
  ready: (launch: TerminalLaunch) => void,
): Promise<RunResult> => {
  const { store, engine } = service;
  const { id: session_id, case_id, mode: phase } = kept.session;
  const worktree = getWorktree(store, case_id);
  live.worktree = worktree.path;
  const transcript = engine.transcript(kept);
  const turn = { kept, phase, worktree, live, isolation: 'enforced' as const };
  return runInTurnRepository(service, turn, (git) => {
    const { run_marker } = live;
    const spec = {
      ...viewOf(store, worktree, { phase, git }),
      ...(phase === 'work' && projectCache(store, worktree)),
      ...{ session_id, run_marker, native_session_id },
    };
    const tell = (event: RunEvent): void => void transcript.append(event.type, { ...event.data });
    live.run = terminal.start(spec, tell, (launch) => {
      transcript.append('terminal_attached', {});
      transcript.sync();
      ready(launch);
    });
    return live.run.done;
  });
};
