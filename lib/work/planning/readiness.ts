import { messageOf } from '../../../store/base/attempt.ts';
import { readLink } from '../../../store/codehost/links.ts';
import type { Case } from '../../../store/records/case.ts';
import type { Readiness } from '../../../store/records/planning.ts';
import { readLock } from '../../../store/sessions/locks.ts';
import { sessionStatus } from '../../../store/sessions/sessions.ts';
import type { WithStore } from '../../../store/store.ts';
import { readWorktree } from '../../../store/worktrees/worktrees.ts';
import type { WithProviders } from '../../agents/providers.ts';
import { getItem, repositoryFor } from '../../code/projects/project.ts';
import { adviceFor, stateOf } from '../../code/worktrees/inspect/status.ts';
import { rebaseUnderWay } from '../../code/worktrees/rebase/rebase-state.ts';
import type { WithConfig } from '../../config.ts';
import { counted } from '../../text/wording.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import { isClosed } from '../cases/moves.ts';
import { listChecklist } from '../proof/checklist.ts';
import { gateRefusal, planningGate } from './gate.ts';

type Check = Readiness['checks'][number];
type Found = Pick<Check, 'ok' | 'detail'>;
type Look = (
  service: WithConfig & WithGit & WithProviders & WithStore,
  item: Case,
) => Found | Promise<Found>;

/** Whether a session of the Work item can start and be approved now, with each check. Changes nothing. */
export const readiness = async (
  service: WithConfig & WithGit & WithProviders & WithStore,
  caseId: string,
): Promise<Readiness> => {
  const item = await getItem(service.store, caseId);
  const looks = [
    ...Object.entries(NEEDED).map((look) => ({ look, required: true })),
    ...Object.entries(TOLD).map((look) => ({ look, required: false })),
  ];
  const checks = await Promise.all(
    looks.map(async ({ look: [name, look], required }) => ({
      name,
      required,
      ...(await found(service, item, look)),
    })),
  );
  return { ready: checks.every(({ ok, required }) => ok || !required), checks };
};

// A check that fails to run is not ready, with the error as its detail.
const found = async (
  service: WithConfig & WithGit & WithProviders & WithStore,
  item: Case,
  look: Look,
): Promise<Found> => {
  try {
    return await look(service, item);
  } catch (error) {
    return { ok: false, detail: messageOf(error) };
  }
};

const state: Look = (_service, item) => ({
  ok: !isClosed(item.state),
  detail: isClosed(item.state)
    ? `The Work item is ${item.state}. Set its state to OPEN first.`
    : `The Work item is ${item.state}.`,
});

const planningIsApproved: Look = (service, { id }) => {
  const gate = planningGate(service.store, id);
  const { status, artifacts } = gate;
  if (status === 'not_started')
    return { ok: true, detail: 'There are no planning files, so the gate is open.' };
  if (status !== 'approved') return { ok: false, detail: gateRefusal(service.store, id, gate) };
  return { ok: true, detail: `${counted(artifacts.length, 'planning file')} approved.` };
};

const repository: Look = async (service, { project }) => ({
  ok: true,
  detail: (await repositoryFor(service, project)).root,
});

const provider: Look = async (service) => {
  const { chosen, get } = service.providers();
  const info = await get(chosen)?.probe();
  if (info === undefined)
    return {
      ok: false,
      detail: `There is no provider ${chosen}, which the settings name. Add it to workspace.md or choose another.`,
    };
  const { available, reason, version } = info;
  const known = version === undefined ? chosen : `${chosen} ${version}`;
  return { ok: available, detail: available ? known : (reason ?? `${chosen} is not available.`) };
};

// A session with a plan to approve is what would be executed, so its lock is fine.
const lock: Look = ({ store }, { id }) => {
  const { locked = false, holder = null } = readLock(store, id) ?? {};
  if (!locked) return { ok: true, detail: 'The session lock is free.' };
  const { session_id, name = 'An operator' } = holder ?? {};
  if (session_id === undefined)
    return { ok: false, detail: `${name} holds the session lock. Release it first.` };
  const status = sessionStatus(store, id, session_id) ?? 'gone';
  if (status === 'plan_ready')
    return { ok: true, detail: `Session ${session_id} waits for its plan to be approved.` };
  return {
    ok: false,
    detail: `Session ${session_id} is ${status} and holds the session lock. Wait for it to end, or abort it.`,
  };
};

const worktree: Look = async (service, { id }) => {
  const record = readWorktree(service.store, id);
  if (record === undefined) return { ok: true, detail: 'The first session creates the worktree.' };
  const is = await stateOf(record);
  if (is !== 'ok') return { ok: false, detail: adviceFor(record, is) };
  if (rebaseUnderWay(service.store, id) !== undefined)
    return {
      ok: false,
      detail: 'A rebase in the worktree waits for you. Apply or abort it first.',
    };
  return { ok: true, detail: `${record.path} is on ${record.branch}.` };
};

const linkedIssue: Look = ({ store }, { id }) => {
  const issue = readLink(store, id)?.issue;
  if (issue === undefined) return { ok: false, detail: 'The Work item is not linked to an issue.' };
  const { status = 'stale', repository: name, number } = issue;
  return { ok: status === 'linked', detail: `${name}#${number} is ${status}.` };
};

const planningFiles: Look = (service, { id }) => {
  const names = planningGate(service.store, id).artifacts.map(({ filename }) => filename);
  return { ok: names.length === 3, detail: names.join(', ') || 'None.' };
};

const checklist: Look = async (service, { id }) => {
  const entries = await listChecklist(service.store, id);
  if (entries.length === 0)
    return {
      ok: false,
      detail: 'The checklist is empty, so any verified proof opens the proof gate.',
    };
  const required = entries.filter((entry) => entry.required).length;
  return { ok: true, detail: `${counted(entries.length, 'item')}, ${required} of them required.` };
};

const NEEDED: Readonly<Record<string, Look>> = {
  state,
  planning_gate: planningIsApproved,
  repository,
  provider,
  session_lock: lock,
  worktree,
};

const TOLD: Readonly<Record<string, Look>> = {
  linked_issue: linkedIssue,
  planning_files: planningFiles,
  proof_checklist: checklist,
};
