import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../base/sha256.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import type { Mark, ToldState } from '../journal/journal-state.ts';
import type { CaseMatter, State } from '../records/case.ts';
import type { ChecklistEntry, ProofMatter } from '../records/proof.ts';
import type { CaseFile } from './read-case.ts';
import type { ProofFile } from './read-proofs.ts';

/** What decides where a Work item stands: the operator's word, in one piece. */
export interface OperatorWord {
  state: State;
  outcome: string | null;
  blocked_from: State | null;
}

/** What the daemon wrote itself, or was told to take, and has not read back and told yet. */
export interface Granted {
  standing?: OperatorWord;
  checklist?: readonly ChecklistEntry[];
  proofs?: Record<string, Verified>;
}

/** A verification, and what it is of. */
type Verified = Pick<ProofMatter, 'type' | 'verified' | 'verified_sha256'>;

/** A value in a file that does not hold yet, by the place where it stands. */
export interface HeldValue {
  /** `state`, `checklist`, or `proof/` and the name of the file. */
  key: string;
  /** Relative to the Work item. */
  file: string;
  field: string;
  from: unknown;
  to: unknown;
  /** Of a proof: the verification that comes back when it is put back. */
  base?: Verified;
}

/** What the files of a Work item say that does not hold yet, and what holds in its place. */
export interface HeldBack {
  waiting: readonly (HeldValue & Mark)[];
  case?: CaseFile;
  checklist?: readonly ChecklistEntry[];
  /** By file name. */
  proofs: ReadonlyMap<string, ProofFile>;
  /** The command that takes it. */
  trust: string;
}

/** The files of a Work item, as far as guarded values are in them, and what holds of it. */
export interface GuardedFiles {
  files: {
    case: ReadEntry<CaseFile>;
    proofs: ReadonlyMap<string, ReadEntry<ProofFile>>;
    checklist: ReadEntry<ChecklistEntry[]> | undefined;
  };
  seen: ToldState | undefined;
  granted?: Granted | undefined;
}

/**
 * What of a Work item's files waits for the operator: every guarded value that is not what was last told, while `closed`;
 * otherwise those that waited already and are still as they were. Undefined when all holds.
 */
export const holdBack = (
  item: GuardedFiles,
  { closed, at, trust }: { closed: boolean; at: Date; trust: string },
): HeldBack | undefined => {
  const marks = item.seen?.held ?? {};
  const waiting = differing(item).flatMap((one) => {
    const sha = sha256(JSON.stringify(one.to));
    const known = marks[one.key];
    if (!closed && known?.sha !== sha) return [];
    return [{ ...one, sha, since: known?.sha === sha ? known.since : at.toISOString() }];
  });
  return waiting.length === 0 ? undefined : withheld(item, waiting, trust);
};

const differing = (item: GuardedFiles): HeldValue[] => [
  ...differingState(item),
  ...differingChecklist(item),
  ...differingProofs(item),
];

const differingState = ({ files, seen, granted }: GuardedFiles): HeldValue[] => {
  const { value } = files.case;
  if (value === undefined) return [];
  const [from, to] = [granted?.standing ?? standingIn(seen?.case.matter), standingIn(value.matter)];
  if (isDeepStrictEqual(from, to)) return [];
  return [{ key: 'state', file: 'case.md', field: 'state', from, to }];
};

const NEW: OperatorWord = { state: 'OPEN', outcome: null, blocked_from: null };

/** Where a Work item stands; one that nobody knows has just been opened. */
export const standingIn = (matter: CaseMatter | undefined): OperatorWord => {
  if (matter === undefined) return NEW;
  const { state, outcome = null, blocked_from = null } = matter;
  return { state: state === 'PLANNING' ? 'INVESTIGATING' : state, outcome, blocked_from };
};

const differingChecklist = ({ files: { checklist }, seen, granted }: GuardedFiles): HeldValue[] => {
  // What cannot be read opens no gate.
  if (checklist !== undefined && checklist.value === undefined) return [];
  const to = checklist?.value ?? [];
  const from =
    granted?.checklist ?? (seen === undefined ? to.map(unticked) : (seen.checklist ?? []));
  if (isDeepStrictEqual(from, to)) return [];
  return [{ key: 'checklist', file: 'proof/checklist.md', field: 'items', from, to }];
};

// A new Work item's checklist can only ask for more, as long as nothing in it is ticked.
const unticked = (entry: ChecklistEntry): ChecklistEntry =>
  entry.done === true ? { ...entry, done: false } : entry;

const differingProofs = (item: GuardedFiles): HeldValue[] =>
  [...item.files.proofs].flatMap(([name, { value }]): HeldValue[] => {
    if (value === undefined || !value.matter.verified || isVerified(item, name, value)) return [];
    const { type, verified } = value.matter;
    const to = { verified, type, content_sha256: value.content_sha256 };
    const base = verificationOf(item, name, value);
    const place = { key: `proof/${name}`, file: `proof/${name}`, field: 'verified' };
    return [{ ...place, from: false, to, ...(base?.verified === true && { base }) }];
  });

// It binds to the content and to the type; taking it back needs nobody's word.
const isVerified = (item: GuardedFiles, name: string, file: ProofFile): boolean => {
  const known = verificationOf(item, name, file);
  const isSame = known?.verified_sha256 === file.content_sha256 && known.type === file.matter.type;
  return known?.verified === true && isSame;
};

const verificationOf = (
  { seen, granted }: GuardedFiles,
  name: string,
  { matter: { id } }: ProofFile,
): Verified | undefined => {
  const known = granted?.proofs?.[id] ?? seen?.held?.[`proof/${name}`]?.base;
  if (known !== undefined) return known;
  const { type = '', verified = false, verified_sha256 } = seen?.proofs[id]?.matter ?? {};
  return { type, verified, ...(verified_sha256 !== undefined && { verified_sha256 }) };
};

const withheld = (item: GuardedFiles, waiting: HeldBack['waiting'], trust: string): HeldBack => {
  const { files } = item;
  const proofs = new Map(waiting.flatMap((one) => unverified(files, one)));
  const held: HeldBack = { waiting, proofs, trust };
  for (const { key, from } of waiting) {
    if (key === 'state' && files.case.value) held.case = standingAs(files.case.value, from);
    if (key === 'checklist') held.checklist = from as ChecklistEntry[];
  }
  return held;
};

const standingAs = (file: CaseFile, from: unknown): CaseFile => {
  const { state, outcome, blocked_from } = from as OperatorWord;
  const { blocked_from: _, ...matter } = file.matter;
  const standing = { state, outcome, ...(blocked_from !== null && { blocked_from }) };
  return { ...file, matter: { ...matter, ...standing } };
};

// What it lacks besides is added as ever; that it was verified, and when, is not.
const unverified = (
  { proofs }: GuardedFiles['files'],
  { key }: HeldValue,
): [string, ProofFile][] => {
  const name = key.slice('proof/'.length);
  const file = key.startsWith('proof/') ? proofs.get(name)?.value : undefined;
  if (file === undefined) return [];
  const { verified_sha256: _, verified_by: _by, ...matter } = file.matter;
  const { adopt = {}, content_sha256 } = file;
  const lacking = Object.entries(adopt).filter(([field]) => !field.startsWith('verified'));
  return [
    [
      name,
      {
        matter: { ...matter, verified: false, verified_at: null },
        content_sha256,
        ...(lacking.length > 0 && { adopt: Object.fromEntries(lacking) }),
      },
    ],
  ];
};

/** What is told of a value that waits. */
export const heldMessage = ({ key, from, to }: HeldValue, trust: string): string => {
  if (key === 'state')
    return `${waitsMessage(inWords(to), trust)} Until then it is ${inWords(from)}`;
  return waitsMessage(key === 'checklist' ? 'this list' : 'verified: true', trust);
};

const inWords = (standing: unknown): string => {
  const { state, outcome } = standing as OperatorWord;
  return outcome === null ? state : `${state} (${outcome})`;
};

export const waitsMessage = (what: string, trust: string): string =>
  `${what} was written by file while a program ran that no sandbox held, and waits for the operator: ${trust} takes it, putting back what was there ends it.`;
