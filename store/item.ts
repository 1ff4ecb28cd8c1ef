import { basename, join } from 'node:path';
import { type Entry, type Parse, readEntry, readFolder } from './entry.ts';
import type { Seen } from './journal.ts';
import { caseFile, checklistFile, proofDir, webhooksDir } from './layout.ts';
import { etagOf, sha256 } from './names.ts';
import { type FileProblem, fileProblem, Problem } from './problem.ts';
import { type CaseFile, descriptionIn, parseCase } from './read-case.ts';
import { type ProofFile, parseChecklist, parseProof } from './read-proofs.ts';
import { parseWebhook, type WebhookFile } from './read-webhooks.ts';
import type { Case, State } from './records/case.ts';
import type { ChecklistEntry } from './records/proof.ts';

/** The files of a Work item that events and rules look at, as last read. */
export interface ItemFiles {
  case: Entry<CaseFile>;
  proofs: Map<string, Entry<ProofFile>>;
  checklist: Entry<ChecklistEntry[]> | undefined;
  webhooks: Map<string, Entry<WebhookFile>>;
}

/** A Work item in memory. Everything here can be read again from its directory. */
export interface Item {
  readonly id: string;
  /** Relative to the workspace, with `/`. */
  dir: string;
  files: ItemFiles;
  /** What was last told of it; undefined until its first line in the journal. */
  seen: Seen | undefined;
  /** The files as they were when nothing was left to tell. */
  told: ItemFiles | undefined;
  /** The answer to GET, ready to send; made when first asked for. */
  answer: { body: Buffer; etag: string } | undefined;
}

export interface Known {
  /** Undefined while nobody knows yet whose directory it is. */
  id?: string;
  files?: ItemFiles;
  seen?: Seen | undefined;
}

/** A Work item whose directory holds nothing but the case.md that was just made. */
export const newItem = (id: string, dir: string, entry: Entry<CaseFile>): Item => ({
  id,
  dir,
  files: { case: entry, proofs: new Map(), checklist: undefined, webhooks: new Map() },
  seen: undefined,
  told: undefined,
  answer: undefined,
});

/** Reads what changed since it was last read. Undefined when the directory holds no case.md. */
export const readItem = (root: string, dir: string, known?: Known): ItemFiles | undefined => {
  const path = join(root, dir);
  const before = known?.files;
  const parse: Parse<CaseFile> = (text, sha) =>
    seenCase(text, sha, known?.seen) ?? ownCase(parseCase(text), known?.id);
  const entry = readEntry(caseFile(path), before?.case, parse);
  if (entry === undefined) return undefined;
  // Another Work item's directory: nothing in it is this one's.
  if (before !== undefined && entry.problem?.code === 'wrong_id') return { ...before, case: entry };
  return {
    case: entry,
    proofs: readFolder(proofDir(path), before?.proofs ?? NONE, parseProof, isProofName),
    checklist: readEntry(checklistFile(path), before?.checklist, (text) => parseChecklist(text)),
    webhooks: readFolder(webhooksDir(path), before?.webhooks ?? NONE, (text) => parseWebhook(text)),
  };
};

const CHECKLIST = basename(checklistFile(''));
const isProofName = (name: string): boolean => name !== CHECKLIST;

const NONE: ReadonlyMap<string, never> = new Map<string, never>();

const seenCase = (text: string, sha: string, seen: Seen | undefined): CaseFile | undefined =>
  seen?.case.sha === sha
    ? { matter: seen.case.matter, description: descriptionIn(text) }
    : undefined;

// An id that somebody removed is put back; one that somebody changed is told: other records and receivers know the old one.
const ownCase = (file: CaseFile, id: string | undefined): CaseFile => {
  if (id === undefined || file.matter.id === id) return file;
  if (file.adopt?.id === undefined)
    throw new Problem(
      'wrong_id',
      `This Work item has the id ${id}; the file says ${file.matter.id}`,
    );
  return { ...file, matter: { ...file.matter, id }, adopt: { ...file.adopt, id } };
};

/** True when reading again found nothing new. */
export const sameFiles = (a: ItemFiles, b: ItemFiles): boolean =>
  a.case === b.case &&
  a.checklist === b.checklist &&
  sameEntries(a.proofs, b.proofs) &&
  sameEntries(a.webhooks, b.webhooks);

const sameEntries = <T>(a: Map<string, Entry<T>>, b: Map<string, Entry<T>>): boolean =>
  a.size === b.size && [...a].every(([name, entry]) => b.get(name) === entry);

/** The last good case.md. An item is only ever made from a file that could be read. */
export const caseOf = ({ files }: Item): CaseFile => files.case.value as CaseFile;

export const stateOf = (item: Item): State => plainState(caseOf(item).matter.state);

export const plainState = (state: State | 'PLANNING'): State =>
  state === 'PLANNING' ? 'INVESTIGATING' : state;

/** The record the API serves. */
export const recordOf = (item: Item): Case => {
  const { matter, description } = caseOf(item);
  const problems = problemsOf(item);
  return {
    id: item.id,
    title: matter.title,
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
  const body = Buffer.from(JSON.stringify(record));
  return { body, etag: etagOf(record.problems === undefined ? item.files.case.sha : sha256(body)) };
};

/** The proofs that can be read, the first of each id. */
export const proofsOf = ({ files }: Item): { name: string; file: ProofFile; sha: string }[] => {
  const found = new Map<string, { name: string; file: ProofFile; sha: string }>();
  for (const [name, { value: file, sha }] of files.proofs) {
    if (file !== undefined && !found.has(file.matter.id))
      found.set(file.matter.id, { name, file, sha });
  }
  return [...found.values()];
};

export const seenOf = (item: Item): Seen => {
  const { matter, description } = caseOf(item);
  // One that has no id on disk yet is told once it has: another would be made for it after a crash.
  const known = proofsOf(item).filter(({ file }) => file.adopt?.id === undefined);
  const proofs = known.map(({ file, sha }) => [
    file.matter.id,
    { sha, matter: file.matter, content: file.content_sha256 },
  ]);
  return {
    dir: item.dir,
    case: { sha: item.files.case.sha, matter, description: sha256(description) },
    proofs: Object.fromEntries(proofs),
  };
};

export const problemsOf = ({ dir, files }: Item): FileProblem[] => {
  const entries: [string, Entry<unknown> | undefined][] = [
    ['case.md', files.case],
    ['proof/checklist.md', files.checklist],
    ...inFolder('proof', files.proofs),
    ...inFolder('webhooks', files.webhooks),
  ];
  return entries.flatMap(([name, entry]) =>
    entry?.problem === undefined ? [] : [fileProblem(`${dir}/${name}`, entry.problem)],
  );
};

const inFolder = (
  folder: string,
  entries: Map<string, Entry<unknown>>,
): [string, Entry<unknown>][] => [...entries].map(([name, entry]) => [`${folder}/${name}`, entry]);
