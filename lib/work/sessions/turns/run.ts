import { notice } from '../../../../store/reconcile/items.ts';
import { runLimits } from '../../../../store/records/applied.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { saveBlocks } from '../../../../store/sessions/blocks.ts';
import { awaitPlan } from '../../../../store/sessions/session-texts.ts';
import {
  type StoredSession,
  sessionDirOf,
  updateSession,
} from '../../../../store/sessions/sessions.ts';
import { settingsOf } from '../../../../store/settings/globals.ts';
import type { WithStore } from '../../../../store/store.ts';
import { type McpAccess, openMcpAccess } from '../../../agents/mcp-access.ts';
import type {
  Phase,
  PromptParts,
  Provider,
  RunEvent,
  RunResult,
  RunSpec,
} from '../../../agents/provider.ts';
import type { Providers } from '../../../agents/providers.ts';
import { projectCache } from '../../../code/worktrees/cache.ts';
import { type OpenTurn, viewOf } from '../../../code/worktrees/turn/open.ts';
import { ServiceError } from '../../../errors.ts';
import type { WithLog } from '../../../log.ts';
import { update } from '../../cases/change.ts';
import { moveTo } from '../../cases/moves.ts';
import { unblockCase } from '../guards/decide.ts';
import { lostSandbox } from '../guards/preconditions.ts';
import { allowedInProject } from '../guards/trust.ts';
import {
  isRequest,
  isRequestEvent,
  publishRequest,
  type RequestEvent,
  requestId,
} from '../live/agent-requests.ts';
import { questionsPart, readQuestionEvent } from '../live/dialogue.ts';
import { type Engine, type LiveRun, mustStop, type WithEngine } from '../live/engine.ts';
import { showsPromptReceived } from '../live/messages.ts';
import type { EngineNeeds, SessionNeeds } from '../live/needs.ts';
import { yieldSlotLater } from '../live/slots.ts';
import { noteLeftProcesses, toldSummary } from '../live/stream.ts';
import { refuseUnconfirmed } from '../rules/rules.ts';
import { loadMessages, noteDelivered, takeMessages } from './messages.ts';
import { namedPaths } from './prompt.ts';
import { runInTurnRepository } from './turn-repository.ts';

export interface SessionTurn {
  kept: StoredSession;
  phase: Phase;
  worktree: WorktreeRecord;
  prompt: PromptParts;
  /** See RunSpec. */
  signed_as?: string | undefined;
}

/**
 * Runs the provider for one turn and writes its events into the transcript. Never rejects for what the agent does;
 * rejects when an event cannot be written, so that no agent works unrecorded.
 */
export const runTurn = async (service: SessionNeeds, turn: SessionTurn): Promise<RunResult> => {
  const { session } = turn.kept;
  // The last check: only what the operator decided on this machine runs.
  refuseUnconfirmed(session, service.store.layout.root);
  const provider = providerOf(service.providers, session.provider);
  const live = service.engine.live.get(session.id);
  if (live === undefined || mustStop(service.engine, live)) return { outcome: 'cancelled' };
  const lost = turn.phase === 'work' ? lostSandbox(service.store, session, provider) : undefined;
  if (lost !== undefined) return { outcome: 'failed', error: lost, not_begun: true };
  live.worktree = turn.worktree.path;
  // Nothing is made ready for a Plan turn: its run begins at once.
  if (turn.phase === 'work' && provider.own_network) service.doors.prepare();
  return runInTurnRepository(service, { ...turn, live, isolation: provider.isolation }, (git) =>
    runProvider(service, provider, { ...turn, live, git }),
  );
};

type Driven = SessionTurn & { live: LiveRun; git: OpenTurn['view'] | undefined };

const runProvider = async (
  service: SessionNeeds,
  provider: Provider,
  { live, ...turn }: Driven,
): Promise<RunResult> => {
  let lost: { error: unknown } | undefined;
  const door = await openRunMcp(service, live, provider);
  if (door === undefined) return { outcome: 'cancelled' };
  const project = allowedInProject(service.store, turn.worktree, provider);
  loadMessages(service, live);
  const takes = { takeMessages: () => takeMessages(service, live) };
  const spec = { ...specOf(service, turn, door), project, ...takes };
  const unsubscribe = service.runs.onLeft((left) => {
    if (left.run.marker === spec.run_marker) noteLeftProcesses(service.engine, turn.kept, left);
  });
  const run = provider.start(spec, (event) => {
    try {
      service.engine.transcript(turn.kept).append(event.type, { ...event.data });
    } catch (error) {
      lost ??= { error };
      live.run?.kill().catch(() => undefined);
    }
    handleEvent(service, { live, kept: turn.kept }, event);
  });
  live.run = run;
  live.interrupt = (now) => {
    if (run.interrupt?.(now) === true || !now) return;
    void run.cancel().catch(() => undefined);
  };
  notice(service.store, live.case_id);
  if (lost !== undefined) await run.kill();
  const result = await run.done.finally(() => {
    door.close();
    unsubscribe();
  });
  live.interrupt = undefined;
  live.result = result;
  live.waiting = undefined;
  if (result.outcome === 'completed') noteDelivered(service, live);
  await live.followed;
  if (lost !== undefined) throw lost.error;
  return result;
};

/** Opens the MCP server for a run, to be closed with it. Undefined where the run has to stop. */
export const openRunMcp = async (
  { engine, mcp, doors }: SessionNeeds,
  live: LiveRun,
  provider: Provider,
): Promise<McpAccess | undefined> => {
  const door = await openMcpAccess({ mcp, doors }, provider, live.token);
  if (!mustStop(engine, live)) return door;
  door.close();
  return undefined;
};

export const providerOf = (providers: () => Providers, name: string): Provider => {
  const provider = providers().get(name);
  if (provider !== undefined) return provider;
  throw new ServiceError(
    'provider_failed',
    `There is no provider ${name}. Add it to workspace.md, or create a session with another one.`,
  );
};

const specOf = (service: EngineNeeds, turn: Omit<Driven, 'live'>, { mcp }: McpAccess): RunSpec => {
  const { kept, phase, worktree, prompt, signed_as, git } = turn;
  const { store } = service;
  const { session, matter } = kept;
  const { model, effort } = session;
  const view = viewOf(store, worktree, { phase, git });
  return {
    session_id: session.id,
    ...view,
    ...(phase === 'work' && projectCache(store, worktree)),
    kept: [...view.kept, ...namedPaths(store, prompt)],
    session_dir: sessionDirOf(store, kept),
    prompt,
    choice: { ...(model !== undefined && { model }), ...(effort !== undefined && { effort }) },
    run_marker: matter.run_marker ?? session.id,
    ...(signed_as !== undefined && { signed_as }),
    mcp,
    limits: runLimits(settingsOf(store)),
    prefixes: prefixesOf(service.engine, session.id),
    unasked: matter.unasked ?? [],
    attended: true,
    saveBlocks: (done, begun) => saveBlocks(store.layout, session, done, begun),
    awaitPlan: (signal) => awaitPlan(store, () => sessionDirOf(store, kept), signal),
    ...(matter.native_session_id !== undefined && {
      native_session_id: matter.native_session_id,
      native_cost_usd: matter.native_cost_usd ?? 0,
    }),
  };
};

const prefixesOf = ({ prefixes }: Engine, id: string): string[] => {
  const known = prefixes.get(id) ?? [];
  prefixes.set(id, known);
  return known;
};

const handleEvent = (
  service: WithEngine & WithLog & WithStore,
  { live, kept }: Pick<Driven, 'live' | 'kept'>,
  event: RunEvent,
) => {
  if (showsPromptReceived(event)) noteDelivered(service, live);
  if (event.type === 'waiting') live.waiting = event.data;
  if (event.type === 'waiting_over') live.waiting = undefined;
  if (event.type === 'waiting' || event.type === 'waiting_over')
    notice(service.store, live.case_id);
  if (!isRequestEvent(event)) return;
  const followed = followRequest(service, { live, kept }, event).catch((error: unknown) => {
    service.log.error(
      { err: error, session_id: live.session_id },
      'updating the Work item for an agent request failed',
    );
  });
  live.followed = live.followed.then(() => followed);
};

/**
 * A request of an agent blocks the Work item; once no request is open it returns to its state before. While a run is
 * being ended the state is left to the caller that ends it.
 */
const followRequest = async (
  service: EngineNeeds,
  { live, kept }: { live: LiveRun; kept: StoredSession },
  event: RequestEvent,
): Promise<void> => {
  const { case_id, asking, stopping } = live;
  const id = requestId(event);
  const since = service.store.clock().toISOString();
  const noted = recordQuestion(service, { live, kept }, { event, at: since });
  if (isRequest(event)) {
    asking.set(id, { ...event, since });
    yieldSlotLater(service.engine, live, id);
    await publishRequest(service.store, live, event);
    await update(service.store, case_id, (current) => moveTo(current, 'BLOCKED'));
    return noted;
  }
  const wasAsked = asking.has(id);
  if (!stopping) asking.delete(id);
  if (wasAsked) await publishRequest(service.store, live, event);
  await noted;
  if (service.engine.closing || stopping || !wasAsked || asking.size > 0) return;
  live.aside = false;
  await unblockCase(service, case_id);
};

// The open question is in session.md for readers of files. The summary at the end has all questions again.
const recordQuestion = async (
  { store, engine }: EngineNeeds,
  { live, kept }: { live: LiveRun; kept: StoredSession },
  { event, at }: { event: RequestEvent; at: string },
): Promise<void> => {
  if (!event.type.startsWith('question_')) return;
  readQuestionEvent(live.questions, event.type, { ...event.data, at });
  if (live.stopping || engine.closing) return;
  const { case_id, id } = kept.session;
  const text = questionsPart(live.questions.values()).join('\n\n');
  const summary = toldSummary(engine, kept, text);
  await updateSession(store, case_id, id, () => ({ summary }));
};
