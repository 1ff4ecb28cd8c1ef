import { hasCode } from '../../../../store/base/attempt.ts';
import { etagOf } from '../../../../store/base/names.ts';
import { sha256 } from '../../../../store/base/sha256.ts';
import { visible } from '../../../../store/base/visible.ts';
import { storable } from '../../../../store/front-matter/text.ts';
import { readText } from '../../../../store/front-matter/text-file.ts';
import type { WorktreeRecord } from '../../../../store/records/worktree.ts';
import { journalComments, markSent } from '../../../../store/sessions/comments.ts';
import { noteSandboxed, planGivenTo } from '../../../../store/sessions/consent.ts';
import { waitingMessages } from '../../../../store/sessions/messages.ts';
import { keepEditedPlan } from '../../../../store/sessions/plan-versions.ts';
import { readPlan, writePlan } from '../../../../store/sessions/session-texts.ts';
import {
  type StoredSession,
  sessionDirOf,
  updateSession,
} from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import type { PromptParts, RunResult } from '../../../agents/provider.ts';
import type { WithProviders } from '../../../agents/providers.ts';
import { headCommit } from '../../../tools/git/read/repository.ts';
import { decide } from '../guards/decide.ts';
import { hasSandbox } from '../guards/preconditions.ts';
import type { EngineNeeds, SessionNeeds } from '../live/needs.ts';
import { noteStatus } from '../live/stream.ts';
import { planReady } from '../rules/rules.ts';
import { comparedRun, undoInterrupted } from './baseline.ts';
import { endTurn, failSession, wasCancelled } from './end.ts';
import { needsAnotherRun, recordFinishedRun } from './messages.ts';
import { prepareWorktree } from './prepare.ts';
import { promptFor, tellBackground } from './prompt.ts';
import { turnOfSession } from './reading-turn.ts';
import { providerOf, runTurn } from './run.ts';

/**
 * Runs Plan mode: the agent reads and proposes. The worktree and refs are compared with their state before, by this
 * daemon or by the next one after a crash. Changes are undone, kept as a patch, and fail the session.
 */
export const planTurn = async (service: SessionNeeds, kept: StoredSession): Promise<void> => {
  noteStatus(service.engine, kept);
  const former = await undoInterrupted(service, turnOfSession(service, kept));
  if (former !== undefined) return failSession(service, kept, former);
  const worktree = await prepareWorktree(service, kept);
  if (worktree === undefined) return;
  for (let next: PlanRun | undefined = { kept }; next !== undefined; )
    next = await planOnce(service, next, worktree);
};

interface PlanRun {
  kept: StoredSession;
  /** The hash of the plan that an earlier run of this turn wrote. */
  written?: string | undefined;
}

// Returns the next run, where a message arrived that this run did not read.
const planOnce = async (
  service: SessionNeeds,
  { kept, written }: PlanRun,
  worktree: WorktreeRecord,
): Promise<PlanRun | undefined> => {
  const turn = turnOfSession(service, kept);
  const { result, violation } = await comparedRun(service, turn, worktree, (signed_as) =>
    propose(service, kept, worktree, signed_as),
  );
  const goesOn = await needsAnotherRun(service, kept, result);
  if (!goesOn && wasCancelled(service.engine, result)) return undefined;
  if (violation !== undefined || result.outcome === 'failed') {
    const error = result.error ?? NO_PLAN;
    await (violation === undefined
      ? endTurn(service, kept, error, result)
      : failSession(service, kept, violation, result));
    return undefined;
  }
  const saved =
    result.outcome === 'completed' ? await savePlan(service, { kept, written }, result) : written;
  if (goesOn) return { kept: await recordFinishedRun(service, kept, result), written: saved };
  await announcePlan(service, kept, result);
  return undefined;
};

const NO_PLAN = 'The agent stopped without a plan.';

const propose = async (
  service: SessionNeeds,
  kept: StoredSession,
  worktree: WorktreeRecord,
  signed_as: string | undefined,
): Promise<RunResult> => {
  const { case_id, id, provider } = kept.session;
  const base_commit = (await headCommit(service.git.at(worktree))) ?? null;
  await updateSession(service.store, case_id, id, () => ({ branch: worktree.branch, base_commit }));
  const given = planGivenTo(service.store, { case_id, matter: kept.matter });
  if (given !== undefined) {
    await tellBackground(service, kept);
    return { outcome: 'completed', plan: given.plan };
  }
  noteSandboxed(service.store, id, hasSandbox(providerOf(service.providers, provider)));
  await markCommentsSent(service.store, kept);
  const prompt = await promptFor(service, kept, worktree, feedbackFor(service, kept));
  return runTurn(service, { kept, phase: 'plan', worktree, prompt, signed_as });
};

// The comment and text of a plan that was sent back; before the first plan the comment of the session's creation.
const feedbackFor = (
  { store, engine }: EngineNeeds,
  kept: StoredSession,
): Pick<PromptParts, 'feedback' | 'proposed'> => {
  const { feedback, comment, type } = kept.matter;
  const plan = readPlan(store, sessionDirOf(store, kept))?.content;
  if (feedback !== undefined && feedback !== null) return { feedback, proposed: plan ?? '' };
  const isAnswered = plan !== undefined && waitingMessages(store, kept).length > 0;
  const proposed = isAnswered ? { proposed: plan } : {};
  // The subject of some session types includes the comment.
  return comment === undefined || comment === null || engine.words.has(type)
    ? proposed
    : { feedback: comment, ...proposed };
};

// The manual provider's plan is the operator's file, which may have been saved again, and is not rewritten. An agent's text
// is written with invisible characters made visible, and without what looks like an unresolved merge. Returns the hash of
// what was written.
const savePlan = async (
  { store, engine, providers }: EngineNeeds & WithProviders,
  { kept, written }: PlanRun,
  { plan = '' }: RunResult,
): Promise<string | undefined> => {
  const dir = sessionDirOf(store, kept);
  const { case_id } = kept.session;
  const isGiven = planGivenTo(store, { case_id, matter: kept.matter }) !== undefined;
  const { isolation } = providerOf(providers, kept.session.provider);
  if (isolation === 'operator' && !isGiven) return undefined;
  const text = storable(visible(plan));
  if (readPlan(store, dir)?.content === text) return sha256(text);
  const edit = await replacePlan(store, dir, { text, written });
  if (edit !== undefined) {
    const message = `plan.md has the agent's plan. The text that it had before, such as an edit of yours, is in ${edit} beside it.`;
    engine.transcript(kept).append('error', { message });
  }
  return sha256(text);
};

// Again where plan.md is saved meanwhile. Returns the name under which an edit is kept.
const replacePlan = async (
  store: Store,
  dir: string,
  plan: { text: string; written: string | undefined },
): Promise<string | undefined> => {
  // With held edits, too.
  const before = readText(store.layout, dir, 'plan.md');
  const edit = await keepEditedPlan(store, dir, plan.written);
  try {
    await writePlan(store, dir, plan.text, before && etagOf(before.sha256));
    return edit;
  } catch (error) {
    if (!hasCode(error, 'precondition_failed')) throw error;
    return replacePlan(store, dir, plan);
  }
};

const announcePlan = async (
  service: EngineNeeds,
  kept: StoredSession,
  result: RunResult,
): Promise<void> => {
  const ready = await decide(service, kept.session, planReady(result));
  if (ready?.session.status !== 'plan_ready') return;
  noteStatus(service.engine, ready);
  const { plan_sha256, warnings } = ready.session;
  const plan = readPlan(service.store, sessionDirOf(service.store, ready))?.content ?? '';
  const told = { plan, plan_sha256, ...(warnings && { warnings }) };
  service.engine.transcript(ready).append('plan_ready', told);
};

/**
 * Marks the sent comments in comments.md. The session's record has them before, so a comment that was not sent is never
 * marked.
 */
export const markCommentsSent = async (store: Store, kept: StoredSession): Promise<void> => {
  const { feedback } = kept.matter;
  if (typeof feedback !== 'string') return;
  const dir = sessionDirOf(store, kept);
  await markSent(store, dir, feedback, readPlan(store, dir)?.sha256 ?? '');
  await journalComments(store, kept.session.case_id);
};
