import { jsonText } from '../base/json.ts';
import { etagOf } from '../base/names.ts';
import { sha256 } from '../base/sha256.ts';
import { visible } from '../base/visible.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import type { FileProblem } from '../front-matter/problem.ts';
import { FORM, type ToldState } from '../journal/journal-state.ts';
import { CASE_FILE } from '../layout.ts';
import type { Case, State } from '../records/case.ts';
import type { ChecklistEntry, Gate } from '../records/proof.ts';
import { type Granted, type HeldBack, heldMessage } from './held-changes.ts';
import { type Evidence, evaluateGate, type WorktreeWork } from './proof-gate.ts';
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
  /** What was last told of it; undefined until its first line in the journal. */
  seen: ToldState | undefined;
  /** The files as they were when nothing was left to tell. */
  told: ItemFiles | undefined;
  /** What its files say that does not hold yet. Everybody but who reads and writes files sees what holds. */
  held?: HeldBack | undefined;
  granted?: Granted | undefined;
  /** The answer to GET, ready to send; made when first asked for. */
  answer: { body: Buffer; etag: string } | undefined;
}

/** As far as it was read from its files, and what of them holds. */
type Read = Pick<Item, 'files' | 'held'>;

type Known = Read & Pick<Item, 'dir' | 'seen'>;

/** A Work item of which nothing is known yet but its case.md. */
export const newItem = (id: string, dir: string, entry: ReadEntry<CaseFile>): Item => ({
  id,
  dir,
  files: {
    case: entry,
    proofs: new Map(),
    checklist: undefined,
    webhooks: new Map(),
    medias: NO_MEDIAS,
    unknown: NO_NAMES,
    faults: NO_FAULTS,
  },
  seen: undefined,
  told: undefined,
  answer: undefined,
});

/** The last good case.md, as far as it holds. An item is only ever made from a file that could be read. */
export const caseOf = ({ files, held }: Read): CaseFile =>
  held?.case ?? (files.case.value as CaseFile);

/** The checklist as far as it holds: empty where there is none, the last good one where it cannot be read. */
export const checklistOf = ({ files, held }: Read): readonly ChecklistEntry[] =>
  held?.checklist ?? files.checklist?.value ?? [];

/** What is wrong with its files, what in them waits for the operator, and whether it is RESOLVED without its proof. */
export const problemsOf = ({ dir, files, held, seen }: Known): FileProblem[] => [
  ...problemsIn(dir, files),
  ...unproven({ dir, files, held, seen }),
  ...(held?.waiting ?? []).map((one) => ({
    file: `${dir}/${one.file}`,
    code: 'held',
    message: heldMessage(one, held?.trust ?? ''),
  })),
];

export const caseStateOf = (item: Read): State => plainState(caseOf(item).matter.state);

export const plainState = (state: State | 'PLANNING'): State =>
  state === 'PLANNING' ? 'INVESTIGATING' : state;

/** The record the API serves. */
export const recordOf = (item: Item): Case => {
  const { matter, description } = caseOf(item);
  const problems = problemsOf(item);
  return {
    id: item.id,
    title: visible(matter.title),
    type: matter.type,
    description,
    state: plainState(matter.state),
    outcome: matter.outcome ?? null,
    project: matter.project ?? 'default',
    path: item.dir,
    created_at: matter.created_at,
    updated_at: new Date(item.files.case.written_at).toISOString(),
    ...(problems.length > 0 && { problems }),
  };
};

export const answerOf = (item: Item): { body: Buffer; etag: string } => {
  item.answer ??= makeAnswer(item);
  return item.answer;
};

// With problems the answer says more than the file: its tag has to change when they do.
const makeAnswer = (item: Item): { body: Buffer; etag: string } => {
  const record = recordOf(item);
  const body = Buffer.from(jsonText(record));
  return { body, etag: etagOf(record.problems === undefined ? item.files.case.sha : sha256(body)) };
};

/** The proofs that can be read, the first of each id, as far as they hold. */
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
    commit: matter.commit ?? null,
    diff_sha256: matter.diff_sha256 ?? null,
    tree: matter.tree ?? null,
    ...(matter.run?.status === 'passed' && { passed: matter.run.command }),
  }));

/** The gate of a Work item as its files are. A checklist that cannot be read opens no gate: it is what is missing. */
export const proofGateOf = (item: Read, now?: WorktreeWork): Gate => {
  const gate = evaluateGate(checklistOf(item), evidenceOf(item), now);
  const problem = item.files.checklist?.problem;
  if (problem === undefined) return gate;
  const description = `proof/checklist.md cannot be read (${problem.message}): mend it in an editor`;
  const unreadable = { checklist_id: null, type: null, description };
  return { ...gate, satisfied: false, missing: [unreadable, ...gate.missing] };
};

// One that came closed, from a script or an import, has lost nothing.
const wasAsked = ({ files, seen }: Known): boolean =>
  files.proofs.size > 0 || files.checklist !== undefined || wasProven(seen);

const wasProven = (seen: ToldState | undefined): boolean =>
  seen?.proven === true || Object.values(seen?.proofs ?? {}).some(({ matter }) => matter.verified);

/** What is told of a Work item that is RESOLVED while its gate is not satisfied: the state is the operator's all the same. */
export const unproven = (item: Known): FileProblem[] => {
  if (caseStateOf(item) !== 'RESOLVED' || !wasAsked(item)) return [];
  const { satisfied, missing } = proofGateOf(item);
  if (satisfied) return [];
  const what = missing.map(({ description }) => description).join('; ');
  const message = `Resolved, gate not satisfied: ${visible(what)}. Prove it, or set another state; nothing was changed`;
  return [{ file: `${item.dir}/${CASE_FILE}`, code: 'gate_not_satisfied', message }];
};

export const seenOf = (item: Item): ToldState => {
  const { matter, description, description_sha256, adopt } = caseOf(item);
  // One that has no id on disk yet is told once it has: another would be made for it after a crash.
  const known = proofsOf(item).filter(({ file }) => file.adopt?.id === undefined);
  const proofs = known.map(({ file, sha }) => [
    file.matter.id,
    {
      ...{ sha, matter: file.matter, content: file.content_sha256 },
      ...(file.about?.media?.signature && { media: file.about.media.signature }),
    },
  ]);
  const checklist = checklistSeen(item);
  const marks = item.held?.waiting.map(({ key, sha, since, base }) => [
    key,
    { sha, since, ...(base && { base }) },
  ]);
  return {
    form: FORM,
    dir: item.dir,
    case: {
      // What the file itself does not say, or what does not hold, is no reason not to parse it at the next start.
      sha: adopt === undefined && item.held?.case === undefined ? item.files.case.sha : '',
      matter,
      description: description_sha256 ?? sha256(description),
    },
    proofs: { ...unreadable(item), ...Object.fromEntries(proofs) },
    ...(checklist.length > 0 && { checklist }),
    ...(isProven(item) && { proven: true as const }),
    ...(marks && { held: Object.fromEntries(marks) }),
  };
};

const isProven = (item: Item): boolean =>
  caseStateOf(item) === 'RESOLVED' && (proofGateOf(item).satisfied || wasProven(item.seen));

// Of one that cannot be read what was last told.
const checklistSeen = (item: Item): readonly ChecklistEntry[] => {
  const { checklist } = item.files;
  const isUnread = checklist !== undefined && checklist.value === undefined;
  return isUnread ? (item.seen?.checklist ?? []) : checklistOf(item);
};

// A proof that cannot be read is none that is gone: mended, it would be told as a new one.
const unreadable = ({ files, seen }: Item): ToldState['proofs'] => {
  const isPartly =
    files.case.problem !== undefined ||
    files.faults.has('proof') ||
    [...files.proofs.values()].some(({ value }) => value === undefined);
  return isPartly ? (seen?.proofs ?? {}) : {};
};
