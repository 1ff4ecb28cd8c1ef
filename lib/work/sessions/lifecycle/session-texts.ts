import type { TextFile } from '../../../../store/front-matter/text-file.ts';
import { notice } from '../../../../store/reconcile/items.ts';
import type { DiffFile } from '../../../../store/records/diff-file.ts';
import type { Session } from '../../../../store/records/session.ts';
import {
  editComments,
  journalComments,
  readCommentsFile,
} from '../../../../store/sessions/comments.ts';
import { readApproved, readSentBack } from '../../../../store/sessions/plan-versions.ts';
import {
  readDiff,
  readPlan,
  readSinceApproval,
  writePlan,
} from '../../../../store/sessions/session-texts.ts';
import type { StoredSession } from '../../../../store/sessions/sessions.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { runsLater } from '../../../code/worktrees/inspect/runs-later.ts';
import { invalidState, ServiceError } from '../../../errors.ts';
import { filesOf } from '../../../text/patch.ts';
import type { EngineNeeds, TurnNeeds } from '../live/needs.ts';
import { getStoredSession } from './read.ts';

/** A plan: plan.md as it is now, the approved text, or the last plan that was sent back. */
export const getPlan = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  which: keyof typeof PLANS = 'current',
): Promise<TextFile> => {
  const { dir, session } = await getStoredSession(service, caseId, id);
  const isMissing = which === 'approved' && session.approved_sha256 === null;
  const plan = isMissing ? undefined : PLANS[which].read(service.store, dir);
  if (plan === undefined) throw missing(PLANS[which].missing, session);
  return plan;
};

const PLANS = {
  current: { read: readPlan, missing: 'no plan. There is one from plan_ready on' },
  approved: { read: readApproved, missing: 'no approved plan. Approve its plan first' },
  sent_back: { read: readSentBack, missing: 'no plan that was sent back. Leave `which` out' },
};

const missing = (what: string, { id, status }: Session): ServiceError =>
  new ServiceError('not_found', `Session ${id} is ${status} and has ${what}.`);

/** The operator's comments on the plan. */
export const getComments = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
): Promise<TextFile> => {
  const { dir } = await getStoredSession(service, caseId, id);
  return readCommentsFile(service.store, dir);
};

/** Replaces comments.md, as an edit by hand would. */
export const putComments = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  comments: { content: string; ifMatch: string | undefined },
): Promise<TextFile> => {
  const { dir } = await getStoredSession(service, caseId, id);
  await editComments(service.store, dir, () => comments.content, comments.ifMatch);
  await journalComments(service.store, caseId);
  return readCommentsFile(service.store, dir);
};

/** Replaces plan.md, as an edit by hand would. An approved plan cannot be changed. */
export const putPlan = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  plan: { content: string; ifMatch: string | undefined },
): Promise<TextFile> => {
  const { dir, session } = await getStoredSession(service, caseId, id);
  const byHand = session.status === 'planning' && session.provider === 'manual';
  if (!byHand && session.status !== 'plan_ready') throw noPlanNow(session);
  await writePlan(service.store, dir, plan.content, plan.ifMatch);
  notice(service.store, caseId);
  return getPlan(service, caseId, id);
};

const noPlanNow = ({ status, provider }: Session): ServiceError => {
  if (status === 'queued')
    return invalidState('The session is queued: it has no plan yet. Wait for plan_ready.');
  return invalidState(
    status === 'planning'
      ? `${provider} is still planning and would replace this plan. Wait for plan_ready, then write yours.`
      : `The session is ${status}, so its plan can no longer be changed. Create a new session for another plan.`,
  );
};

/** The session's changes as a patch, once Work mode has ended or is paused: since its base, or since its approval. */
export const getDiff = async (
  service: EngineNeeds,
  caseId: string,
  id: string,
  since?: Since,
): Promise<Buffer> => diffIn(service, await getStoredSession(service, caseId, id), since);

type Since = 'base' | 'approval';

const diffIn = (
  service: EngineNeeds,
  { dir, session }: StoredSession,
  since: Since = 'base',
): Buffer => {
  // While the session works, the patch of an earlier pause is out of date.
  const patch = session.status === 'working' ? undefined : readDiff(service.store, dir);
  if (patch === undefined) throw missing(NO_DIFF, session);
  return since === 'base' ? patch : (readSinceApproval(service.store, dir) ?? patch);
};

const NO_DIFF =
  'no diff. Work mode keeps one when it ends or pauses. If the worktree could not be read then, `error` says why';

/** The files of `getDiff`, those first that run something later. */
export const getDiffFiles = async (
  service: TurnNeeds,
  caseId: string,
  id: string,
  since?: Since,
): Promise<DiffFile[]> => {
  const kept = await getStoredSession(service, caseId, id);
  const whole = diffIn(service, kept);
  const patch = since === 'approval' ? diffIn(service, kept, since) : whole;
  const worktree = readWorktree(service.store, caseId);
  const git = worktree === undefined ? undefined : service.git.at(worktree);
  const { base_commit } = kept.session;
  const later = await runsLater(whole.toString('utf8'), { git, base_commit });
  const runsOf = new Map(later.map(({ path, runs }) => [path, runs]));
  const files = filesOf(patch.toString('utf8')).map(
    ({ path, from = null, kind, added, removed }) => ({
      path,
      from,
      kind,
      added,
      removed,
      runs: runsOf.get(path) ?? [],
    }),
  );
  return files.toSorted(
    (one, other) => Number(other.runs.length > 0) - Number(one.runs.length > 0),
  );
};
