import { etagOf } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { jsonText, visible } from '../base/visible.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import { validatorOf } from '../front-matter/parse.ts';
import type { FileProblem } from '../front-matter/problem.ts';
import { FORM, type ToldState } from '../journal/journal-state.ts';
import { CASE_FILE } from '../layout.ts';
import { type Case, type CaseMatter, Merged, type State } from '../records/case.ts';
import type { ChecklistEntry, Gate } from '../records/proof.ts';
import { type AcceptedValues, type HeldChanges, heldMessage } from './held-changes.ts';
import {
  decisionsOf,
  type Evidence,
  evaluateGate,
  isDecidedSince,
  type WorktreeWork,
} from './proof-gate.ts';
import type { CaseFile } from './read-case.ts';
import { type ItemFiles, NO_FAULTS, problemsIn } from './read-item.ts';
import { NO_MEDIAS, NO_NAMES } from './read-media.ts';
import type { ProofFile } from './read-proofs.ts';

/** A Work item in memory. Everything here can be read again from its directory. */
export interface Item {
  readonly id: string;
  /** Relative to the workspace, with `/`. */
  dir: string;
  files: ItemFiles;
  /** The journaled state; undefined until the first line in the journal. */
  seen: ToldState | undefined;
  /** The files whose state is journaled completely. */
  journaledFiles: ItemFiles | undefined;
  /** Changes by file that the operator has not confirmed. Everything but reading and writing of files ignores them. */
  held: HeldChanges | undefined;
  accepted: AcceptedValues | undefined;
  /** The cached response to GET. */
  response: { body: Buffer; etag: string } | undefined;
}

type Read = Pick<Item, 'files' | 'held'>;

type Known = Read & Pick<Item, 'dir' | 'seen'>;

/**
 * A Work item as it comes into the index. All are made by this literal, and so share a hidden class of V8; each object of
 * `{ ...one, more }` would have its own.
 */
export const newItem = ({
  id,
  dir,
  files,
  seen,
}: Pick<Item, 'id' | 'dir' | 'files' | 'seen'>): Item => ({
  id,
  dir,
  files,
  seen,
  journaledFiles: undefined,
  held: undefined,
  accepted: undefined,
  response: undefined,
});

/** The files of a Work item of which only case.md was read. */
export const onlyCase = (entry: ReadEntry<CaseFile>): ItemFiles => ({
  case: entry,
  proofs: new Map(),
  checklist: undefined,
  webhooks: new Map(),
  medias: NO_MEDIAS,
  unknown: NO_NAMES,
  faults: NO_FAULTS,
});

/** The last readable case.md, without held changes. Items are only made from readable files. */
export const caseOf = ({ files, held }: Read): CaseFile =>
  held?.case ?? (files.case.value as CaseFile);

/** The last readable checklist, without held changes; empty if there is none. */
export const checklistOf = ({ files, held }: Read): readonly ChecklistEntry[] =>
  held?.checklist ?? files.checklist?.value ?? [];

/** Problems of its files, held changes, and a RESOLVED state with an unsatisfied proof gate. */
export const problemsOf = ({ dir, files, held, seen }: Known): FileProblem[] => [
  ...problemsIn(dir, files),
  ...unprovenProblems({ dir, files, held, seen }),
  ...(held?.waiting ?? []).map((one) => ({
    file: `${dir}/${one.file}`,
    code: 'held',
    message: heldMessage(one, held?.trust ?? ''),
  })),
];

export const caseStateOf = (item: Read): State => publicState(caseOf(item).matter.state);

export const publicState = (state: State | 'PLANNING'): State =>
  state === 'PLANNING' ? 'INVESTIGATING' : state;

/** The record the API serves. */
export const recordOf = (item: Item): Case => {
  const { matter, description } = caseOf(item);
  const problems = problemsOf(item);
  const merged = mergedOf(item);
  return {
    id: item.id,
    title: visible(matter.title),
    type: matter.type,
    description,
    state: publicState(matter.state),
    outcome: matter.outcome ?? null,
    project: matter.project ?? 'default',
    path: item.dir,
    ...(merged !== undefined && { merged }),
    created_at: matter.created_at,
    updated_at: new Date(item.files.case.written_at).toISOString(),
    ...(problems.length > 0 && { problems }),
  };
};

/** Where its branch was merged, without a key `merged` of the operator's own. */
export const mergedOf = (item: Read): Merged | undefined => {
  const { merged } = caseOf(item).matter;
  return merged !== undefined && validatorOf(Merged).Check(merged) ? (merged as Merged) : undefined;
};

export const answerOf = (item: Item): { body: Buffer; etag: string } => {
  item.response ??= makeResponse(item);
  return item.response;
};

// A response with problems says more than the file, so its entity tag is made from the response.
const makeResponse = (item: Item): { body: Buffer; etag: string } => {
  const record = recordOf(item);
  const text = jsonText(record);
  // `Buffer.from` would take it from a pool, all 8 KB of which a kept response would keep.
  const body = Buffer.allocUnsafeSlow(Buffer.byteLength(text));
  body.write(text);
  return { body, etag: etagOf(record.problems === undefined ? item.files.case.sha : sha256(body)) };
};

/** The readable proofs, the first of each id, without held changes. */
export const proofsOf = ({
  files,
  held,
}: Read): { name: string; file: ProofFile; sha: string }[] => {
  const found = new Map<string, { name: string; file: ProofFile; sha: string }>();
  for (const [name, { value, sha }] of files.proofs) {
    const file = held?.proofs.get(name) ?? value;
    if (file !== undefined && !found.has(file.matter.id))
      found.set(file.matter.id, { name, file, sha });
  }
  return [...found.values()];
};

export const evidenceOf = (item: Read): Evidence[] =>
  proofsOf(item).map(({ file: { matter } }) => ({
    id: matter.id,
    type: matter.type,
    verified: matter.verified,
    verified_at: matter.verified_at,
    commit: matter.commit ?? null,
    diff_sha256: matter.diff_sha256 ?? null,
    tree: matter.tree ?? null,
    ...(matter.run?.status === 'passed' && { passed: matter.run.command }),
  }));

/** The proof gate of a Work item. An unreadable checklist leaves it unsatisfied and is listed as missing. */
export const proofGateOf = (item: Read, now?: WorktreeWork): Gate => {
  const gate = evaluateGate(checklistOf(item), evidenceOf(item), now);
  const problem = item.files.checklist?.problem;
  if (problem === undefined) return gate;
  const description = `proof/checklist.md cannot be read (${problem.message}). Fix it in an editor`;
  const unreadable = { checklist_id: null, type: null, description };
  return { ...gate, satisfied: false, missing: [unreadable, ...gate.missing] };
};

// A Work item that was imported as RESOLVED, without proofs and checklist, has no gate.
const hadGate = ({ files, seen }: Known): boolean =>
  files.proofs.size > 0 || files.checklist !== undefined || wasProven(seen);

const wasProven = (seen: ToldState | undefined): boolean =>
  seen?.proven === true || Object.values(seen?.proofs ?? {}).some(({ matter }) => matter.verified);

/** The problem of a Work item that is RESOLVED with an unsatisfied gate. The state itself stays as the operator set it. */
export const unprovenProblems = (item: Known): FileProblem[] => {
  if (caseStateOf(item) !== 'RESOLVED' || !hadGate(item)) return [];
  const { satisfied, missing } = proofGateOf(item);
  if (satisfied) return [];
  const what = missing.map(({ description }) => description).join('; ');
  const message = `The Work item is RESOLVED, but its proof gate is not satisfied: ${visible(what)}. Attach and verify the proof, or set another state`;
  return [{ file: `${item.dir}/${CASE_FILE}`, code: 'gate_not_satisfied', message }];
};

/** The state for the journal. `isAtWork`: a session or another operation of the daemon has the Work item. */
export const stateToJournal = (item: Item, isAtWork: boolean): ToldState => {
  const { matter, description, description_sha256, adopt } = caseOf(item);
  // A proof without an id on disk is journaled once it has one, since a crash would give it another.
  const known = proofsOf(item).filter(({ file }) => file.adopt?.id === undefined);
  const proofs = known.map(({ file, sha }) => [
    file.matter.id,
    {
      sha,
      matter: file.matter,
      content: file.content_sha256,
      ...(file.about?.media?.signature && { media: file.about.media.signature }),
    },
  ]);
  const checklist = checklistToJournal(item);
  const { decided, lost } = decisionsToJournal(item, isAtWork);
  const marks = item.held?.waiting.map(({ key, sha, since, base }) => [
    key,
    { sha, since, ...(base && { base }) },
  ]);
  return {
    form: FORM,
    dir: item.dir,
    case: {
      // Without a hash the file is parsed again at the next start: it lacks fields, or has held changes.
      sha: adopt === undefined && item.held?.case === undefined ? item.files.case.sha : '',
      matter,
      description: description_sha256 ?? sha256(description),
    },
    proofs: { ...journaledProofs(item), ...Object.fromEntries(proofs) },
    ...(checklist.length > 0 && { checklist }),
    ...(isProven(item) && { proven: true as const }),
    ...(decided && { decided }),
    ...(lost && lost.length > 0 && { lost }),
    ...(marks && { held: Object.fromEntries(marks) }),
  };
};

const isProven = (item: Item): boolean =>
  caseStateOf(item) === 'RESOLVED' && (proofGateOf(item).satisfied || wasProven(item.seen));

// The end of work resolves nothing, whatever was decided before: the operator has not seen that work. Nor does the first look
// at a Work item, as after an import or a clone. A later decision does. What was decided before is kept in every state, because
// git stash, a checkout or an edit can bring VERIFYING and an older verification back. Files that cannot be read are no decision.
const decisionsToJournal = (item: Item, isAtWork: boolean): Decisions => {
  const { seen } = item;
  const checklist = checklistOf(item);
  const now = decisionsOf(checklist, evidenceOf(item));
  const isVerifying = isAtVerifying(caseOf(item).matter);
  if (seen === undefined) return { decided: isVerifying ? now : undefined };
  const isOlder = staysOlder(checklist, now);
  const { decided } = seen;
  const lost = lostWith(seen, now).filter(isOlder);
  if (!isVerifying) return { decided, lost };
  if (isAtWork && !isAtVerifying(seen.case.matter))
    return { decided: [...new Set([...now, ...(decided ?? []).filter(isOlder), ...lost])] };
  if (decided === undefined || now.some((one) => isDecidedSince(one, decided))) return {};
  return { decided: isWhole(item) ? decided.filter(isOlder) : decided };
};

const isWhole = ({ dir, files }: Item): boolean => problemsIn(dir, files).length === 0;

// A tick that was taken back is a decision once it is there again; not one that was away with its line.
const staysOlder =
  (checklist: readonly ChecklistEntry[], now: readonly string[]) =>
  (one: string): boolean => {
    const [kind, id] = one.split(' ');
    return kind === 'proof' || now.includes(one) || !checklist.some((entry) => entry.id === id);
  };

interface Decisions {
  decided?: readonly string[] | undefined;
  lost?: readonly string[];
}

const lostWith = (
  { checklist = [], proofs, lost = [] }: ToldState,
  now: readonly string[],
): string[] => {
  const known = Object.values(proofs).map(({ matter }) => matter);
  const gone = decisionsOf(checklist, known).filter((one) => !now.includes(one));
  return [...new Set([...lost, ...gone])];
};

const isAtVerifying = ({ state, blocked_from }: CaseMatter): boolean =>
  (state === 'BLOCKED' ? blocked_from : state) === 'VERIFYING';

// An unreadable checklist keeps its journaled state.
const checklistToJournal = (item: Item): readonly ChecklistEntry[] => {
  const { checklist } = item.files;
  const isUnread = checklist !== undefined && checklist.value === undefined;
  return isUnread ? (item.seen?.checklist ?? []) : checklistOf(item);
};

// Unreadable proofs keep their journaled state: dropped, they would be journaled as deleted, and as new once readable.
const journaledProofs = ({ files, seen }: Item): ToldState['proofs'] => {
  const isPartly =
    files.case.problem !== undefined ||
    files.faults.has('proof') ||
    [...files.proofs.values()].some(({ value }) => value === undefined);
  return isPartly ? (seen?.proofs ?? {}) : {};
};
