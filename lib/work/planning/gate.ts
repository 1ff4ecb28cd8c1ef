import { dossierCommand } from '../../../store/base/text.ts';
import { refuseConflict, type TextFile } from '../../../store/front-matter/text-file.ts';
import {
  PLANNING_FILES,
  type PlanningArtifact,
  type PlanningFile,
  type PlanningGate,
} from '../../../store/records/planning.ts';
import {
  changePlanning,
  grantPlanning,
  isPlanningGranted,
  type Planning,
  readPlanning,
} from '../../../store/sessions/planning.ts';
import type { Store } from '../../../store/store.ts';
import { badField, invalidState, notFound, orNotFound, ServiceError } from '../../errors.ts';
import { getMemory, putMemory } from '../memory/memory.ts';

/** The planning gate of a Work item, from its current files. */
export const planningGate = (store: Store, caseId: string): PlanningGate => {
  const planning = planningFor(store, caseId);
  const { approved } = planning.matter;
  if (approved == null || isPlanningGranted(store, caseId, approved.artifacts))
    return gateOf(planning);
  // The approval in planning.md was not given on this machine.
  const matter = { ...planning.matter, approved: null };
  return { ...gateOf({ ...planning, matter }), approved_elsewhere: true };
};

export const planningFor = (store: Store, caseId: string): Planning =>
  orNotFound(readPlanning(store, caseId), 'Work item', caseId);

/** An approval applies to the exact files: editing, adding or removing one makes it stale. */
const gateOf = (planning: Planning): PlanningGate => {
  const { approved } = planning.matter;
  const artifacts = artifactsOf(planning);
  return { status: statusOf(planning), artifacts, approved_at: approved?.at ?? null };
};

const statusOf = ({ matter: { approved }, artifacts }: Planning): PlanningGate['status'] => {
  if (artifacts.length === 0) return 'not_started';
  if (approved == null) return 'pending';
  return differences(approved.artifacts, artifacts).length === 0 ? 'approved' : 'stale';
};

const artifactsOf = ({ matter, artifacts }: Planning): PlanningArtifact[] =>
  artifacts.map(({ filename, size, sha256 }) => {
    const generated = matter.generated?.[filename];
    return {
      filename: filename as PlanningFile,
      stage: stageOf(filename),
      size,
      sha256,
      generated_by: generated?.generated_by ?? null,
      edited: generated?.sha256 !== sha256,
      approved: matter.approved?.artifacts[filename] === sha256,
    };
  });

/** The number of a planning file's stage, from 1. */
export const stageOf = (filename: string): number =>
  PLANNING_FILES.indexOf(filename as PlanningFile) + 1;

// The names of files that differ.
const differences = (
  seen: Readonly<Record<string, string>>,
  artifacts: readonly TextFile[],
): string[] => {
  const now = new Map(artifacts.map(({ filename, sha256 }) => [filename, sha256]));
  const names = new Set([...Object.keys(seen), ...now.keys()]);
  return [...names].filter((name) => seen[name] !== now.get(name));
};

/**
 * Approves the current planning files. With `seen`, only if they are the ones that were read: else 409 `plan_changed`
 * lists the others.
 */
export const approvePlanning = async (
  store: Store,
  caseId: string,
  seen?: Readonly<Record<string, string>>,
): Promise<PlanningGate> => {
  const at = store.clock().toISOString();
  const planning = await changePlanning(store, caseId, (found) => {
    const approved = approvalOf(found, at, seen);
    grantPlanning(store, caseId, approved.artifacts);
    return { changes: { approved } };
  });
  if (planning === undefined) throw notFound('Work item', caseId);
  return gateOf(planning);
};

const approvalOf = (
  { artifacts }: Planning,
  at: string,
  seen: Readonly<Record<string, string>> | undefined,
) => {
  if (artifacts.length === 0) throw nothingToApprove();
  const changed = seen === undefined ? [] : differences(seen, artifacts);
  if (changed.length > 0) throw artifactsChanged(changed, hashesOf(artifacts));
  artifacts.forEach(refuseConflict);
  return { at, artifacts: hashesOf(artifacts) };
};

const hashesOf = (artifacts: readonly TextFile[]): Record<string, string> =>
  Object.fromEntries(artifacts.map(({ filename, sha256 }) => [filename, sha256]));

const nothingToApprove = (): ServiceError =>
  invalidState(
    'There is no planning file to approve. Generate one with POST …/planning/from-issue, or write one with PUT …/planning-artifacts/problem-definition.md.',
  );

const artifactsChanged = (changed: string[], artifacts: Record<string, string>): ServiceError =>
  new ServiceError(
    'plan_changed',
    `${changed.join(', ')} changed since you read ${changed.length === 1 ? 'it' : 'them'}. Read the planning files again, then approve them.`,
    { members: { changed, artifacts } },
  );

/** Throws 422 `planning_gate_closed` while there are planning files that the operator has not approved. */
export const checkPlanningGate = (store: Store, caseId: string): void => {
  const gate = planningGate(store, caseId);
  const { status } = gate;
  if (status === 'not_started' || status === 'approved') return;
  throw new ServiceError('planning_gate_closed', gateRefusal(store, caseId, gate), {
    members: { planning: status },
  });
};

/** Why the gate is closed, and how to approve the files. */
export const gateRefusal = (
  { layout }: Store,
  caseId: string,
  { status, artifacts, approved_elsewhere = false }: PlanningGate,
): string => {
  const names = artifacts.filter(({ approved }) => !approved).map(({ filename }) => filename);
  const what = names.length === 0 ? 'an approved file is missing' : names.join(', ');
  const page = `on the Planning page (\`${dossierCommand(`open ${caseId.slice(0, 8)}`, layout.root)}\`), or with POST …/planning/approve`;
  if (approved_elsewhere)
    return `The planning files were not approved on this machine (${what}). Read them, then approve them again ${page}.`;
  const why =
    status === 'pending'
      ? `The planning files are not approved (${what}).`
      : `The planning files changed since they were approved (${what}).`;
  return `${why} Read and approve them ${page}. Then approve the session's plan.`;
};

/** The existing planning files, in the order of their stages. */
export const listArtifacts = (store: Store, caseId: string): PlanningArtifact[] =>
  artifactsOf(planningFor(store, caseId));

export const getArtifact = (store: Store, caseId: string, filename: string): TextFile =>
  getMemory(store, caseId, named(filename));

/** Replaces a planning file, which counts as an edit by hand and makes an approval stale. */
export const putArtifact = (
  store: Store,
  caseId: string,
  { filename, content }: { filename: string; content: string },
  ifMatch?: string,
): Promise<TextFile> => putMemory(store, caseId, { filename: named(filename), content }, ifMatch);

const named = (filename: string): PlanningFile => {
  const found = PLANNING_FILES.find((name) => name === filename);
  if (found !== undefined) return found;
  throw badField(
    'path/filename',
    `must be one of ${PLANNING_FILES.join(', ')}`,
    `${filename.slice(0, 100)} is not a planning file. Use ${PLANNING_FILES.join(', ')}; write other files with PUT …/memory/:filename.`,
  );
};
