import { sha256 } from '../base/sha256.ts';
import { warningsIn } from '../base/visible.ts';
import { listDirectory } from '../front-matter/folder.ts';
import { ifReadable, Problem } from '../front-matter/problem.ts';
import { readRegularFile } from '../front-matter/record-file.ts';
import { editText, readText, type TextFile } from '../front-matter/text-file.ts';
import { approvedFile, planFile } from '../layout.ts';
import type { Session, SessionMatter } from '../records/session.ts';
import type { Store } from '../store.ts';
import { keepSessionFile, lookAtPlan, type PlanNow } from './session-texts.ts';

const APPROVED = 'approved.md';

/** The text that was approved, as it is on disk. Undefined when there is none; throws `unsafe_path` where it is no file. */
export const readApproved = ({ layout }: Store, dir: string): TextFile | undefined =>
  readText(layout, dir, APPROVED);

/**
 * Keeps what is approved, byte for byte as plan.md has it as far as it holds, unless `check` throws. It is on disk when
 * this resolves.
 */
export const keepApproved = async (
  store: Store,
  dir: string,
  check: (plan: PlanNow) => void,
): Promise<TextFile | undefined> => {
  const now = lookAtPlan(store, dir);
  check(now);
  const { plan, bytes } = now;
  if (bytes !== undefined) await editText(store.layout, { dir, filename: APPROVED }, () => bytes);
  return plan;
};

/** What a session's files say of its plan: before the approval plan.md, after it also whether that was edited since. */
export const planSeen = (
  store: Store,
  dir: string,
  { status, plan_sha256, approved_sha256 }: SessionMatter,
): Pick<Session, 'plan_edited' | 'sent_back' | 'warnings'> & { plan_sha256?: string } => {
  if (status === 'queued') return {};
  const { root } = store.layout;
  const before = wasSentBack(dir) ? { sent_back: true } : {};
  if (typeof approved_sha256 === 'string') {
    const edited = hashOf(root, planFile(dir)) !== approved_sha256;
    const seen = warned(bytesOf(root, approvedFile(dir)));
    return { ...before, ...(edited && { plan_edited: true }), ...seen };
  }
  if (status !== 'plan_ready') return { ...before, ...unapproved(store, dir, plan_sha256) };
  const { plan, bytes } = lookAtPlan(store, dir);
  return plan === undefined ? before : { ...before, plan_sha256: plan.sha256, ...warned(bytes) };
};

// An older version approved by this hash alone.
const unapproved = (store: Store, dir: string, approved: string | null | undefined) => {
  if (typeof approved === 'string') return {};
  const plan = ifReadable(() => lookAtPlan(store, dir).plan, undefined);
  return plan === undefined ? {} : { plan_sha256: plan.sha256 };
};

const warned = (text: Buffer | undefined): Pick<Session, 'warnings'> => {
  const warnings = text === undefined ? [] : warningsIn(text.toString('utf8'));
  return warnings.length === 0 ? {} : { warnings };
};

const hashOf = (root: string, path: string): string | undefined => {
  const bytes = bytesOf(root, path);
  return bytes && sha256(bytes);
};

// Where a file should be and is none, there is no text: what follows from that is said elsewhere.
const bytesOf = (root: string, path: string): Buffer | undefined =>
  ifReadable(() => readRegularFile(root, path), undefined);

/**
 * What is wrong with the texts of an approved session, by their names: the approved text is not the one that was approved,
 * or plan.md is another since.
 */
export const approvalProblems = (
  root: string,
  dir: string,
  approved_sha256: string,
): ReadonlyMap<string, Problem> => {
  const problems = new Map<string, Problem>();
  if (hashOf(root, approvedFile(dir)) !== approved_sha256) problems.set(APPROVED, MISMATCH);
  if (hashOf(root, planFile(dir)) !== approved_sha256) problems.set('plan.md', EDITED);
  return problems;
};

const MISMATCH = new Problem(
  'approval_mismatch',
  'It is not what was approved (`approved_sha256` in session.md). Nothing of it runs: put the approved text back, or abort the session and plan anew',
);

const EDITED = new Problem(
  'plan_edited',
  'It is another text than what was approved. Nothing follows from that: what runs is approved.md',
);

const SENT_BACK = /^sent-back(?:-(\d+))?\.md$/;

/** The plan that the operator sent back last, as it stood then. Undefined where none was. */
export const readSentBack = ({ layout }: Store, dir: string): TextFile | undefined => {
  const [last] = listDirectory(dir)
    .filter((name) => SENT_BACK.test(name))
    .toSorted((a, b) => numberOf(b) - numberOf(a));
  return last === undefined ? undefined : readText(layout, dir, last);
};

/** Whether the operator has sent back one. */
export const wasSentBack = (dir: string): boolean =>
  listDirectory(dir).some((name) => SENT_BACK.test(name));

const numberOf = (name: string): number => Number(SENT_BACK.exec(name)?.[1] ?? 1);

/** Keeps the plan as it stands, which is about to be sent back: the next one is compared with it. Answers its hash. */
export const keepSentBack = async (store: Store, dir: string): Promise<string> => {
  const { plan, bytes } = lookAtPlan(store, dir);
  if (plan === undefined || bytes === undefined) return '';
  if (readSentBack(store, dir)?.sha256 !== plan.sha256)
    await keepSessionFile(store, dir, 'sent-back.md', bytes);
  return plan.sha256;
};
