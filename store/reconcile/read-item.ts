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
import { type CaseFile, descriptionIn, parseCase } from './read-case.ts';
import { parseChecklist } from './read-checklist.ts';
import { type ProofMedias, readMedias, unnamedFiles } from './read-media.ts';
import { mediasOf, type ProofFile, parseProof, withMedias } from './read-proofs.ts';

/** The files of a Work item that events and rules depend on, as last read. */
export interface ItemFiles {
  case: ReadEntry<CaseFile>;
  proofs: ReadonlyMap<string, ReadEntry<ProofFile>>;
  checklist: ReadEntry<ChecklistEntry[]> | undefined;
  webhooks: Map<string, ReadEntry<WebhookFile>>;
  /** The files that proofs name, and the names of other files in `proof/`. */
  medias: ProofMedias;
  unknown: readonly string[];
  /** Unreadable folders; their last readable contents stay. */
  faults: ReadonlyMap<string, Problem>;
}

export interface KnownFiles {
  /** Undefined for a directory that is not in the index. */
  id?: string;
  files?: ItemFiles;
  seen?: ToldState | undefined;
  /** As in `readEntry`. */
  patient?: boolean;
  /** What was just found in the directory: folders that are not among it are not opened. */
  names?: readonly string[] | undefined;
}

/** Reads the files that changed since the last reading. Undefined if the directory has no case.md. */
export const readItemFiles = (
  root: string,
  dir: string,
  known: KnownFiles = {},
): ItemFiles | undefined => {
  const path = join(root, dir);
  const { files: before, patient = false, names } = known;
  const entry = readCaseFile(path, known);
  if (entry === undefined) return undefined;
  // The directory belongs to another Work item.
  if (before !== undefined && entry.problem?.code === 'wrong_id') return { ...before, case: entry };
  const lacks = (folder: string): boolean =>
    before === undefined && names?.some(isNamed(basename(folder))) === false;
  const proofs = lacks(proofDir(path))
    ? NO_FOLDER
    : readFolder(
        proofDir(path),
        before?.proofs ?? NONE,
        { parse: parseProof, patient },
        isProofName,
      );
  const webhooks = lacks(webhooksDir(path))
    ? NO_FOLDER
    : readFolder(webhooksDir(path), before?.webhooks ?? NONE, { parse: parseWebhook, patient });
  const medias = readMedias(proofDir(path), mediasOf(proofs.entries), before?.medias, known.seen);
  return {
    case: entry,
    proofs: orNone(withMedias(proofs.entries, medias)),
    medias,
    unknown: unnamedFiles(proofs.names, medias),
    checklist: readChecklist(path, proofs, known),
    webhooks: orNone(webhooks.entries),
    faults: faultsOf({ proof: proofs.fault, webhooks: webhooks.fault }),
  };
};

// Some file systems ignore case.
const isNamed =
  (wanted: string) =>
  (name: string): boolean =>
    name.toLowerCase() === wanted;

// Most Work items have no checklist; the list of names saves the attempt to open it.
const readChecklist = (
  path: string,
  { names, fault }: Pick<RecordFolder<unknown>, 'names' | 'fault'>,
  { files, patient = false }: KnownFiles,
): ItemFiles['checklist'] => {
  const before = files?.checklist;
  const isThere = names.some(isNamed(CHECKLIST));
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
    return unchangedCase(text, sha, seen) ?? parseOwnCase(text, id);
  };
  const entry = readEntry(caseFile(path), { before: files?.case, parse, patient });
  if (entry === undefined || entry.value !== undefined || seen === undefined) return entry;
  // Unreadable since before the start: the journaled state is the last readable one.
  return { ...entry, sha: seen.case.sha, value: caseFromJournal(seen, text) };
};

/**
 * case.md from the journal, which keeps the hash of the description instead of its text. `text`: the file, where it was
 * read.
 */
export const caseFromJournal = (
  { case: { matter, description } }: ToldState,
  text?: string,
): CaseFile => ({
  matter,
  // At a start for every Work item: an error that is made and caught each time would take longer than all else here.
  description: text === undefined ? '' : ifReadable(() => descriptionIn(text), ''),
  description_sha256: description,
});

const faultsOf = (faults: Record<string, Problem | undefined>): ItemFiles['faults'] => {
  const found = Object.entries(faults).flatMap(([name, fault]): [string, Problem][] =>
    fault === undefined ? [] : [[name, fault]],
  );
  return found.length === 0 ? NO_FAULTS : new Map(found);
};

/** Shared by all Work items without faults. */
export const NO_FAULTS: ItemFiles['faults'] = new Map<string, Problem>();

const CHECKLIST = basename(checklistFile(''));
const isProofName = (name: string): boolean => name !== CHECKLIST;

const NONE = new Map<string, never>();
const NO_FOLDER: RecordFolder<never> = { entries: NONE, names: [], fault: undefined };

// Work items without entries share one map.
const orNone = <M extends ReadonlyMap<string, unknown>>(entries: M): M | typeof NONE =>
  entries.size === 0 ? NONE : entries;

const unchangedCase = (
  text: string,
  sha: string,
  seen: ToldState | undefined,
): CaseFile | undefined =>
  seen?.case.sha === sha
    ? { matter: seen.case.matter, description: descriptionIn(text) }
    : undefined;

// A removed id is restored. A changed id is a problem, since other records and webhook receivers know the old one.
const parseOwnCase = (text: string, id: string | undefined): CaseFile => {
  const file = parseCase(text);
  if (id === undefined || file.matter.id === id) return file;
  if (file.adopt?.id === undefined)
    throw new Problem(
      'wrong_id',
      `This Work item has the id ${id}, but the file says ${file.matter.id}. Restore \`id: ${id}\``,
      positionOf(parseFrontMatter(text), 'id'),
    );
  return { ...file, matter: { ...file.matter, id }, adopt: { ...file.adopt, id } };
};

/** Whether a file looks half saved that did not before; see `ReadEntry`. */
export const hasNewDoubt = (now: ItemFiles, before: ItemFiles | undefined): boolean =>
  isNewDoubt(now.case, before?.case) ||
  isNewDoubt(now.checklist, before?.checklist) ||
  [...now.proofs].some(([name, entry]) => isNewDoubt(entry, before?.proofs.get(name))) ||
  [...now.webhooks].some(([name, entry]) => isNewDoubt(entry, before?.webhooks.get(name)));

/** Whether another reading found no change. */
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

/** The problems of a Work item's files, as last read. */
export const problemsIn = (dir: string, files: ItemFiles): FileProblem[] => [
  ...entryProblem(`${dir}/case.md`, files.case),
  ...problemOfTitle(`${dir}/case.md`, files.case.value),
  ...[...files.faults].map(([name, fault]) => fileProblem(`${dir}/${name}`, fault)),
  ...entryProblem(`${dir}/proof/checklist.md`, files.checklist),
  ...problemsOfFolder(`${dir}/proof`, files.proofs),
  ...problemsOfMedias(`${dir}/proof`, files),
  ...problemsOfFolder(`${dir}/webhooks`, files.webhooks),
];

// The API shows such characters as `␛` or `⟦U+202E⟧`.
const problemOfTitle = (file: string, read: CaseFile | undefined): FileProblem[] => {
  const [hidden] = read === undefined ? [] : warningsIn(read.matter.title);
  if (hidden === undefined) return [];
  const message = `The title has an invisible character (${hidden.text}). Remove it`;
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
    message: `No proof names this file. Add a record beside it with a \`type\` and \`file: ${visible(name)}\`, or remove the file`,
  })),
];

/** Problem code of a file in `proof/` that no proof names. */
export const UNKNOWN_FILE = 'unknown_file';
