import { basename, join } from 'node:path';
import { visible, warningsIn } from '../base/visible.ts';
import {
  isNewDoubt,
  type ParseText,
  type ReadEntry,
  readEntry,
  sameEntries,
} from '../front-matter/entry.ts';
import { type RecordFolder, readFolder } from '../front-matter/folder.ts';
import { parseFrontMatter } from '../front-matter/front-matter.ts';
import { positionOf } from '../front-matter/parse.ts';
import { type FileProblem, fileProblem, ifReadable, Problem } from '../front-matter/problem.ts';
import { entryProblem, problemsOfFolder } from '../front-matter/problems.ts';
import type { ToldState } from '../journal/journal-state.ts';
import { caseFile, checklistFile, proofDir, webhooksDir } from '../layout.ts';
import type { ChecklistEntry } from '../records/proof.ts';
import { parseWebhook, type WebhookFile } from '../settings/read-webhooks.ts';
import { type ProofMedias, readMedias, unknownIn } from './proof-files.ts';
import { type CaseFile, descriptionIn, parseCase } from './read-case.ts';
import { parseChecklist } from './read-checklist.ts';
import { mediasOf, type ProofFile, parseProof, withMedias } from './read-proofs.ts';

/** The files of a Work item that events and rules look at, as last read. */
export interface ItemFiles {
  case: ReadEntry<CaseFile>;
  proofs: ReadonlyMap<string, ReadEntry<ProofFile>>;
  checklist: ReadEntry<ChecklistEntry[]> | undefined;
  webhooks: Map<string, ReadEntry<WebhookFile>>;
  /** The files that proofs are about, by name, and those in `proof/` that none is about. */
  medias: ProofMedias;
  unknown: readonly string[];
  /** Folders that cannot be read; what was last read of them holds. */
  faults: ReadonlyMap<string, Problem>;
}

export interface KnownFiles {
  /** Undefined while nobody knows yet whose directory it is. */
  id?: string;
  files?: ItemFiles;
  seen?: ToldState | undefined;
  /** See Reading. */
  patient?: boolean;
}

/** Reads what changed since it was last read. Undefined when the directory holds no case.md. */
export const readItem = (
  root: string,
  dir: string,
  known: KnownFiles = {},
): ItemFiles | undefined => {
  const path = join(root, dir);
  const { files: before, patient = false } = known;
  const entry = readCaseFile(path, known);
  if (entry === undefined) return undefined;
  // Another Work item's directory: nothing in it is this one's.
  if (before !== undefined && entry.problem?.code === 'wrong_id') return { ...before, case: entry };
  const proofs = readFolder(
    proofDir(path),
    before?.proofs ?? NONE,
    { parse: parseProof, patient },
    isProofName,
  );
  const webhooks = readFolder(webhooksDir(path), before?.webhooks ?? NONE, {
    parse: parseWebhook,
    patient,
  });
  const medias = readMedias(proofDir(path), mediasOf(proofs.entries), before?.medias, known.seen);
  return {
    case: entry,
    proofs: orNone(withMedias(proofs.entries, medias)),
    medias,
    unknown: unknownIn(proofs.names, medias),
    checklist: readChecklist(path, proofs, known),
    webhooks: orNone(webhooks.entries),
    faults: faultsOf({ proof: proofs.fault, webhooks: webhooks.fault }),
  };
};

// Most Work items have none, which the names in its folder tell.
const readChecklist = (
  path: string,
  { names, fault }: Pick<RecordFolder<unknown>, 'names' | 'fault'>,
  { files, patient = false }: KnownFiles,
): ItemFiles['checklist'] => {
  const before = files?.checklist;
  const isThere = names.some((name) => name.toLowerCase() === CHECKLIST);
  if (before === undefined && fault === undefined && !isThere) return undefined;
  return readEntry(checklistFile(path), { before, parse: parseChecklist, patient });
};

const readCaseFile = (
  path: string,
  { id, files, seen, patient = false }: KnownFiles,
): ItemFiles['case'] | undefined => {
  let text = '';
  const parse: ParseText<CaseFile> = (read, sha) => {
    text = read;
    return seenCase(text, sha, seen) ?? ownCase(text, id);
  };
  const entry = readEntry(caseFile(path), { before: files?.case, parse, patient });
  if (entry === undefined || entry.value !== undefined || seen === undefined) return entry;
  // What was last told is what was last read, also by a daemon that has ended since.
  return { ...entry, sha: seen.case.sha, value: lastTold(seen, text) };
};

/** case.md as the journal remembers it: all but the description, of which it keeps the hash. */
export const lastTold = ({ case: { matter, description } }: ToldState, text = ''): CaseFile => ({
  matter,
  description: ifReadable(() => descriptionIn(text), ''),
  description_sha256: description,
});

const faultsOf = (faults: Record<string, Problem | undefined>): ItemFiles['faults'] => {
  const found = Object.entries(faults).flatMap(([name, fault]): [string, Problem][] =>
    fault === undefined ? [] : [[name, fault]],
  );
  return found.length === 0 ? NO_FAULTS : new Map(found);
};

/** For what has none, as nearly all have. */
export const NO_FAULTS: ItemFiles['faults'] = new Map<string, Problem>();

const CHECKLIST = basename(checklistFile(''));
const isProofName = (name: string): boolean => name !== CHECKLIST;

const NONE = new Map<string, never>();

// Nearly all Work items have none: all of them the same.
const orNone = <M extends ReadonlyMap<string, unknown>>(entries: M): M | typeof NONE =>
  entries.size === 0 ? NONE : entries;

const seenCase = (text: string, sha: string, seen: ToldState | undefined): CaseFile | undefined =>
  seen?.case.sha === sha
    ? { matter: seen.case.matter, description: descriptionIn(text) }
    : undefined;

// An id that somebody removed is put back; one that somebody changed is told: other records and receivers know the old one.
const ownCase = (text: string, id: string | undefined): CaseFile => {
  const file = parseCase(text);
  if (id === undefined || file.matter.id === id) return file;
  if (file.adopt?.id === undefined)
    throw new Problem(
      'wrong_id',
      `This Work item has the id ${id}, and the file says ${file.matter.id}. Write the former`,
      positionOf(parseFrontMatter(text), 'id'),
    );
  return { ...file, matter: { ...file.matter, id }, adopt: { ...file.adopt, id } };
};

/** Some file may be half saved; see Entry. */
export const hasNewDoubt = (now: ItemFiles, before: ItemFiles | undefined): boolean =>
  isNewDoubt(now.case, before?.case) ||
  isNewDoubt(now.checklist, before?.checklist) ||
  [...now.proofs].some(([name, entry]) => isNewDoubt(entry, before?.proofs.get(name))) ||
  [...now.webhooks].some(([name, entry]) => isNewDoubt(entry, before?.webhooks.get(name)));

/** True when reading again found nothing new. */
export const sameFiles = (a: ItemFiles, b: ItemFiles): boolean =>
  a.case === b.case &&
  a.checklist === b.checklist &&
  sameEntries(a.proofs, b.proofs) &&
  sameEntries(a.webhooks, b.webhooks) &&
  sameEntries(a.medias, b.medias) &&
  a.unknown.join('/') === b.unknown.join('/') &&
  sameFaults(a.faults, b.faults);

const sameFaults = (a: ItemFiles['faults'], b: ItemFiles['faults']): boolean =>
  a.size === b.size && [...a].every(([name, { code }]) => b.get(name)?.code === code);

/** What is wrong with the files of a Work item, as they were last read. */
export const problemsIn = (dir: string, files: ItemFiles): FileProblem[] => [
  ...entryProblem(`${dir}/case.md`, files.case),
  ...problemOfTitle(`${dir}/case.md`, files.case.value),
  ...[...files.faults].map(([name, fault]) => fileProblem(`${dir}/${name}`, fault)),
  ...entryProblem(`${dir}/proof/checklist.md`, files.checklist),
  ...problemsOfFolder(`${dir}/proof`, files.proofs),
  ...problemsOfMedias(`${dir}/proof`, files),
  ...problemsOfFolder(`${dir}/webhooks`, files.webhooks),
];

// Shown as `␛` or `⟦U+202E⟧` wherever it is served.
const problemOfTitle = (file: string, read: CaseFile | undefined): FileProblem[] => {
  const [hidden] = read === undefined ? [] : warningsIn(read.matter.title);
  if (hidden === undefined) return [];
  const message = `The title holds what cannot be seen (${hidden.text}). Take it out`;
  return [{ file, code: 'hidden_characters', message }];
};

const problemsOfMedias = (folder: string, { proofs, unknown }: ItemFiles): FileProblem[] => [
  ...[...proofs].flatMap(([name, { value }]) => {
    const problem = value?.about?.media?.problem;
    return problem === undefined ? [] : [fileProblem(`${folder}/${name}`, problem)];
  }),
  ...unknown.map((name) => ({
    file: `${folder}/${name}`,
    code: UNKNOWN_FILE,
    message: `No proof is about this file. Write a record beside it, with a \`type\` and \`file: ${visible(name)}\`, or take it away`,
  })),
];

/** The code of a file in `proof/` that no proof is about. */
export const UNKNOWN_FILE = 'unknown_file';
