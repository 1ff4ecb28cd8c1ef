import type { Seen } from '../journal/journal.ts';
import { etagOf, sha256 } from '../names.ts';
import type { Case, State } from '../records/case.ts';
import type { Entry } from '../text/entry.ts';
import { jsonText } from '../text/json.ts';
import { visible } from '../text/visible.ts';
import { type ItemFiles, NO_FAULTS, problemsIn } from './item-files.ts';
import type { CaseFile } from './read-case.ts';
import type { ProofFile } from './read-proofs.ts';

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

/** A Work item whose directory holds nothing but the case.md that was just made. */
export const newItem = (id: string, dir: string, entry: Entry<CaseFile>): Item => ({
  id,
  dir,
  files: {
    case: entry,
    proofs: new Map(),
    checklist: undefined,
    webhooks: new Map(),
    faults: NO_FAULTS,
  },
  seen: undefined,
  told: undefined,
  answer: undefined,
});

/** The last good case.md. An item is only ever made from a file that could be read. */
export const caseOf = ({ files }: Item): CaseFile => files.case.value as CaseFile;

export const stateOf = (item: Item): State => plainState(caseOf(item).matter.state);

export const plainState = (state: State | 'PLANNING'): State =>
  state === 'PLANNING' ? 'INVESTIGATING' : state;

/** The record the API serves. */
export const recordOf = (item: Item): Case => {
  const { matter, description } = caseOf(item);
  const problems = problemsIn(item.dir, item.files);
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
  const { matter, description, description_sha256, adopt } = caseOf(item);
  // One that has no id on disk yet is told once it has: another would be made for it after a crash.
  const known = proofsOf(item).filter(({ file }) => file.adopt?.id === undefined);
  const proofs = known.map(({ file, sha }) => [
    file.matter.id,
    { sha, matter: file.matter, content: file.content_sha256 },
  ]);
  return {
    dir: item.dir,
    case: {
      // What the file itself does not say yet is no reason not to parse it at the next start.
      sha: adopt === undefined ? item.files.case.sha : '',
      matter,
      description: description_sha256 ?? sha256(description),
    },
    proofs: { ...unreadable(item), ...Object.fromEntries(proofs) },
  };
};

// A proof that cannot be read is none that is gone: mended, it would be told as a new one.
const unreadable = ({ files, seen }: Item): Seen['proofs'] => {
  const isPartly =
    files.case.problem !== undefined ||
    files.faults.has('proof') ||
    [...files.proofs.values()].some(({ value }) => value === undefined);
  return isPartly ? (seen?.proofs ?? {}) : {};
};
