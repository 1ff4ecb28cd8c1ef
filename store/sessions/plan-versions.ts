import { orElse } from '../base/attempt.ts';
import { sha256 } from '../base/sha256.ts';
import { warningsIn } from '../base/visible.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { ifReadable, Problem, toProblem } from '../front-matter/problem.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { editText, readText, type TextFile } from '../front-matter/text-file.ts';
import { approvedFile, planFile } from '../layout.ts';
import type { Session, SessionMatter } from '../records/session.ts';
import { readyToWrite, type Store } from '../store.ts';
import { type CurrentPlan, createSessionFile, placeOf, readPlanNow } from './session-texts.ts';

const APPROVED = 'approved.md';

/** The approved text on disk; undefined if there is none. Throws `unsafe_path` if it is not a regular file. */
export const readApproved = ({ layout }: Store, dir: string): TextFile | undefined =>
  readText(layout, dir, APPROVED);

/**
 * Saves the plan in force as approved.md, byte for byte, unless `check` throws. The file is on disk when the promise
 * resolves.
 */
export const keepApproved = async (
  store: Store,
  dir: string,
  check: (plan: CurrentPlan) => void,
): Promise<TextFile | undefined> => {
  await readyToWrite(store);
  const now = readPlanNow(store, dir);
  check(now);
  const { plan, bytes } = now;
  if (bytes !== undefined) await editText(store.layout, placeOf(dir, APPROVED), () => bytes);
  return plan;
};

/**
 * Keeps plan.md under a name of its own, because it is about to be replaced. Returns that name; undefined if the text was
 * sent back, and so is kept, or was `written` by the run before. Held edits are included, and edits before a restart.
 */
export const keepEditedPlan = async (
  store: Store,
  dir: string,
  written: string | undefined,
): Promise<string | undefined> => {
  const bytes = ifReadable(() => readRegularFile(store.layout.root, planFile(dir)), undefined);
  const known = [written, readSentBack(store, dir)?.sha256];
  if (bytes === undefined || known.includes(sha256(bytes))) return undefined;
  return createSessionFile(store, dir, 'edited-plan.md', bytes);
};

/** The fields of a session that come from its plan files; after the approval, also whether plan.md was edited since. */
export const planFieldsOf = (
  store: Store,
  dir: string,
  { status, plan_sha256, approved_sha256 }: SessionMatter,
): Pick<Session, 'plan_edited' | 'sent_back' | 'warnings'> & { plan_sha256?: string } => {
  if (status === 'queued') return {};
  const { root } = store.layout;
  const before = wasSentBack(dir) ? { sent_back: true } : {};
  if (typeof approved_sha256 === 'string') {
    // What cannot be read now is not known to be edited.
    const edited = orElse(() => hashOf(root, planFile(dir)) !== approved_sha256, false);
    const seen = warningFields(bytesOf(root, approvedFile(dir)));
    return { ...before, ...(edited && { plan_edited: true }), ...seen };
  }
  if (status !== 'plan_ready') return { ...before, ...unapprovedFields(store, dir, plan_sha256) };
  const { plan, bytes } = orElse(() => readPlanNow(store, dir), NO_PLAN);
  return plan === undefined
    ? before
    : { ...before, plan_sha256: plan.sha256, ...warningFields(bytes) };
};

const NO_PLAN: Partial<CurrentPlan> = {};

// Older releases stored only this hash at the approval.
const unapprovedFields = (store: Store, dir: string, approved: string | null | undefined) => {
  if (typeof approved === 'string') return {};
  const plan = orElse(() => readPlanNow(store, dir).plan, undefined);
  return plan === undefined ? {} : { plan_sha256: plan.sha256 };
};

const warningFields = (text: Buffer | undefined): Pick<Session, 'warnings'> => {
  const warnings = text === undefined ? [] : warningsIn(text.toString('utf8'));
  return warnings.length === 0 ? {} : { warnings };
};

const hashOf = (root: string, path: string): string | undefined => {
  const bytes = ifReadable(() => readRegularFile(root, path), undefined);
  return bytes && sha256(bytes);
};

// An unreadable file has no text, and does not hide its session; its problem is reported elsewhere.
const bytesOf = (root: string, path: string): Buffer | undefined =>
  orElse(() => readRegularFile(root, path), undefined);

/** The problems of an approved session's texts, by file name: approved.md does not match the approval, or plan.md changed. */
export const approvalProblems = (
  root: string,
  dir: string,
  approved_sha256: string,
): ReadonlyMap<string, Problem> => {
  const problems = new Map<string, Problem>();
  const compare = (path: string, name: string, otherwise: Problem): void => {
    const problem = approvalProblem(root, path, approved_sha256, otherwise);
    if (problem !== undefined) problems.set(name, problem);
  };
  compare(approvedFile(dir), APPROVED, MISMATCH);
  compare(planFile(dir), 'plan.md', EDITED);
  return problems;
};

const approvalProblem = (
  root: string,
  path: string,
  approved_sha256: string,
  otherwise: Problem,
): Problem | undefined => {
  try {
    return hashOf(root, path) === approved_sha256 ? undefined : otherwise;
  } catch (error) {
    return toProblem(error);
  }
};

const MISMATCH = new Problem(
  'approval_mismatch',
  'The text does not match the approval (`approved_sha256` in session.md), so it does not run. Restore the approved text, or abort the session and plan again',
);

const EDITED = new Problem(
  'plan_edited',
  'The plan was edited after its approval. The edit has no effect: the session runs approved.md',
);

const SENT_BACK = /^sent-back(?:-(\d+))?\.md$/;

/** The plan that the operator sent back last; undefined if there is none. */
export const readSentBack = ({ layout }: Store, dir: string): TextFile | undefined => {
  const [last] = listDirectory(dir)
    .filter((name) => SENT_BACK.test(name))
    .toSorted((a, b) => numberOf(b) - numberOf(a));
  return last === undefined ? undefined : readText(layout, dir, last);
};

/** Whether the operator has sent a plan back. */
const wasSentBack = (dir: string): boolean =>
  listDirectory(dir).some((name) => SENT_BACK.test(name));

const numberOf = (name: string): number => Number(SENT_BACK.exec(name)?.[1] ?? 1);

/** Saves the plan before it is sent back, to compare the next one with it. Returns its hash. */
export const keepSentBack = async (store: Store, dir: string): Promise<string> => {
  const { plan, bytes } = readPlanNow(store, dir);
  if (plan === undefined || bytes === undefined) return '';
  if (readSentBack(store, dir)?.sha256 !== plan.sha256)
    await createSessionFile(store, dir, 'sent-back.md', bytes);
  return plan.sha256;
};
