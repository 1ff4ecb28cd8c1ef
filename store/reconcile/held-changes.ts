import { isDeepStrictEqual } from 'node:util';
import { sha256 } from '../base/sha256.ts';
import type { ReadEntry } from '../front-matter/entry.ts';
import type { Mark, ToldState } from '../journal/journal-state.ts';
import type { CaseMatter, State } from '../records/case.ts';
import type { ChecklistEntry, ProofMatter } from '../records/proof.ts';
import type { CaseFile } from './read-case.ts';
import type { ProofFile } from './read-proofs.ts';

/** The fields of case.md that only the operator decides, compared as one value. */
interface DecidedState {
  state: State;
  outcome: string | null;
  blocked_from: State | null;
}

/** Values that the daemon wrote, or the operator accepted, and that are not journaled yet. */
export interface AcceptedValues {
  decided?: DecidedState;
  checklist?: readonly ChecklistEntry[];
  proofs?: Record<string, Verified>;
}

/** A verification, with the type and the content that it binds to. */
type Verified = Pick<ProofMatter, 'type' | 'verified' | 'verified_sha256'>;

/** A guarded value in a file that differs from the accepted one. */
interface HeldValue {
  /** `state`, `checklist`, or `proof/` and the name of the file. */
  key: string;
  /** Relative to the Work item. */
  file: string;
  field: string;
  from: unknown;
  to: unknown;
  /** Of a proof: the accepted verification, which applies again if the file is restored. */
  base?: Verified;
}

/** The held changes of a Work item, and the values that apply until they are confirmed. */
export interface HeldChanges {
  waiting: readonly (HeldValue & Mark)[];
  case?: CaseFile;
  checklist?: readonly ChecklistEntry[];
  /** By file name. */
  proofs: ReadonlyMap<string, ProofFile>;
  /** The command that confirms them. */
  trust: string;
}

/** The files of a Work item that have guarded values, and the values that were accepted. */
interface GuardedFiles {
  files: {
    case: ReadEntry<CaseFile>;
    proofs: ReadonlyMap<string, ReadEntry<ProofFile>>;
    checklist: ReadEntry<ChecklistEntry[]> | undefined;
  };
  seen: ToldState | undefined;
  accepted?: AcceptedValues | undefined;
}

/**
 * The changes to hold until the operator confirms them. While `closed`, every guarded value that differs from the journaled
 * one is held; otherwise only those that were held already and did not change since. Undefined if nothing is held.
 */
export const holdChanges = (
  item: GuardedFiles,
  { closed, at, trust }: { closed: boolean; at: Date; trust: string },
): HeldChanges | undefined => {
  const marks = item.seen?.held ?? {};
  const waiting = changedValues(item).flatMap((one) => {
    const sha = sha256(JSON.stringify(one.to));
    const known = marks[one.key];
    if (!closed && known?.sha !== sha) return [];
    return [{ ...one, sha, since: known?.sha === sha ? known.since : at.toISOString() }];
  });
  return waiting.length === 0 ? undefined : heldChanges(item, waiting, trust);
};

const changedValues = (item: GuardedFiles): HeldValue[] => [
  ...changedState(item),
  ...changedChecklist(item),
  ...changedProofs(item),
];

const changedState = ({ files, seen, accepted }: GuardedFiles): HeldValue[] => {
  const { value } = files.case;
  if (value === undefined) return [];
  const [from, to] = [
    accepted?.decided ?? decidedStateOf(seen?.case.matter),
    decidedStateOf(value.matter),
  ];
  if (isDeepStrictEqual(from, to)) return [];
  return [{ key: 'state', file: 'case.md', field: 'state', from, to }];
};

const NEW: DecidedState = { state: 'OPEN', outcome: null, blocked_from: null };

/** The decided fields of case.md; those of a new Work item if undefined. */
export const decidedStateOf = (matter: CaseMatter | undefined): DecidedState => {
  if (matter === undefined) return NEW;
  const { state, outcome = null, blocked_from = null } = matter;
  return { state: state === 'PLANNING' ? 'INVESTIGATING' : state, outcome, blocked_from };
};

const changedChecklist = ({ files: { checklist }, seen, accepted }: GuardedFiles): HeldValue[] => {
  // An unreadable checklist satisfies no gate.
  if (checklist !== undefined && checklist.value === undefined) return [];
  const to = checklist?.value ?? [];
  const from =
    accepted?.checklist ?? (seen === undefined ? to.map(unticked) : (seen.checklist ?? []));
  if (isDeepStrictEqual(from, to)) return [];
  return [{ key: 'checklist', file: 'proof/checklist.md', field: 'items', from, to }];
};

// The checklist of a new Work item only adds requirements, except for ticked items.
const unticked = (entry: ChecklistEntry): ChecklistEntry =>
  entry.done === true ? { ...entry, done: false } : entry;

const changedProofs = (item: GuardedFiles): HeldValue[] =>
  [...item.files.proofs].flatMap(([name, { value }]): HeldValue[] => {
    if (value === undefined || !value.matter.verified || isVerified(item, name, value)) return [];
    const { type, verified } = value.matter;
    const to = { verified, type, content_sha256: value.content_sha256 };
    const base = verificationOf(item, name, value);
    const place = { key: `proof/${name}`, file: `proof/${name}`, field: 'verified' };
    return [{ ...place, from: false, to, ...(base?.verified === true && { base }) }];
  });

// A verification binds to content and type. Removing it needs no confirmation.
const isVerified = (item: GuardedFiles, name: string, file: ProofFile): boolean => {
  const known = verificationOf(item, name, file);
  const isSame = known?.verified_sha256 === file.content_sha256 && known.type === file.matter.type;
  return known?.verified === true && isSame;
};

const verificationOf = (
  { seen, accepted }: GuardedFiles,
  name: string,
  { matter: { id } }: ProofFile,
): Verified | undefined => {
  const known = accepted?.proofs?.[id] ?? seen?.held?.[`proof/${name}`]?.base;
  if (known !== undefined) return known;
  const { type = '', verified = false, verified_sha256 } = seen?.proofs[id]?.matter ?? {};
  return { type, verified, ...(verified_sha256 !== undefined && { verified_sha256 }) };
};

const heldChanges = (
  item: GuardedFiles,
  waiting: HeldChanges['waiting'],
  trust: string,
): HeldChanges => {
  const { files } = item;
  const proofs = new Map(waiting.flatMap((one) => unverified(files, one)));
  const held: HeldChanges = { waiting, proofs, trust };
  for (const { key, from } of waiting) {
    if (key === 'state' && files.case.value) held.case = withDecidedState(files.case.value, from);
    if (key === 'checklist') held.checklist = from as ChecklistEntry[];
  }
  return held;
};

const withDecidedState = (file: CaseFile, from: unknown): CaseFile => {
  const { state, outcome, blocked_from } = from as DecidedState;
  const { blocked_from: _, ...matter } = file.matter;
  const decided = { state, outcome, ...(blocked_from !== null && { blocked_from }) };
  return { ...file, matter: { ...matter, ...decided } };
};

// Missing fields are completed as usual, but for those of the verification.
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

/** The problem message of a held value. */
export const heldMessage = ({ key, from, to }: HeldValue, trust: string): string => {
  if (key === 'state')
    return `${heldValueMessage(`The state ${stateInWords(to)}`, trust)} Until then it is ${stateInWords(from)}`;
  return heldValueMessage(key === 'checklist' ? 'The checklist' : '`verified: true`', trust);
};

const stateInWords = (decided: unknown): string => {
  const { state, outcome } = decided as DecidedState;
  return outcome === null ? state : `${state} (${outcome})`;
};

export const heldValueMessage = (what: string, trust: string): string =>
  `${what} was edited by file while an unsandboxed program was running. Confirm the edit with ${trust}, or restore the previous value.`;
