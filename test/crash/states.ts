/** What POSIX lets a power cut leave of a recording: each state once. */
import type { Dice } from './dice.ts';
import { applied, type Change, type Recording } from './recording.ts';
import { keyOf, type Node, type Tree } from './tree.ts';

/** What became of data that no sync had covered. */
export const LOSSES = [
  'kept',
  'lost',
  'zero',
  'torn',
  'torn, then zero',
  'late part only',
] as const;
export type Loss = (typeof LOSSES)[number];

/** A power cut after a moment: which changes of names did not reach the disk, and what became of unsynced data. */
export interface Cut {
  at: number;
  /** The moments of the changes of names that are lost. */
  lost: ReadonlySet<number>;
  /** The moments of renames from one directory into another whose old name stays, because only the new one was synced. */
  stays: ReadonlySet<number>;
  /** By inode; kept where nothing is said. */
  data: ReadonlyMap<number, Loss>;
  /** `dossier check --fix` is run before the daemon is started. */
  isMended?: boolean;
  /** The daemon watches its files, as it does outside of tests. */
  isWatched?: boolean;
}

export interface State {
  cut: Cut;
  tree: Tree;
  key: string;
}

interface Open {
  /** Changes of names that a power cut may take back. */
  names: number[];
  /** Renames whose old name may stay. */
  halves: number[];
  /** Files with data that no sync has covered. */
  files: number[];
}

type Names = Extract<Change, { kind: 'names' }>;
type Data = Exclude<Change, Names>;

/** What is not on disk at that moment. */
export const openAt = ({ changes }: Recording, at: number): Open => {
  const past = changes.filter((change) => change.at <= at);
  const names = past.filter((change) => change.kind === 'names');
  const data = past.filter((change) => change.kind !== 'names');
  return {
    names: names
      .filter(({ edits }) => edits.every(({ synced }) => synced > at))
      .map((change) => change.at),
    halves: names.filter((change) => mayStay(change, at)).map((change) => change.at),
    files: [...new Set(data.filter(({ synced }) => synced > at).map(({ ino }) => ino))],
  };
};

// POSIX says nothing of the other directory. That a rename by itself loses a file is left out: no file system does that.
const mayStay = ({ edits }: Names, at: number): boolean => {
  const [put, gone] = edits;
  return gone !== undefined && put?.ino !== undefined && put.dir !== gone.dir && gone.synced > at;
};

/** The tree that such a power cut leaves. */
export const treeAfter = ({ base, changes, made }: Recording, cut: Cut): Tree => {
  const nodes = new Map<number, Node>([...base.nodes, ...made]);
  const data = new Map<number, Data[]>();
  const fresh = new Map<number, Map<string, number>>();
  for (const change of changes.filter(({ at }) => at <= cut.at))
    if (change.kind === 'names') applyNames(nodes, fresh, change, cut);
    else data.set(change.ino, [...(data.get(change.ino) ?? []), change]);
  for (const [ino, all] of data) {
    const node = nodes.get(ino);
    if (node?.kind !== 'file') continue;
    const bytes = remembered(node.bytes, all, cut.at, cut.data.get(ino) ?? 'kept');
    nodes.set(ino, { ...node, bytes });
  }
  return { root: base.root, nodes };
};

const results = new WeakMap<Data, Map<string, Buffer>>();

// Many states have the same bytes of a file, and large files are among them.
const remembered = (base: Buffer, all: readonly Data[], at: number, loss: Loss): Buffer => {
  const last = all.at(-1);
  if (last === undefined) return base;
  const known = results.get(last) ?? new Map<string, Buffer>();
  results.set(last, known);
  const open = all.filter(({ synced }) => synced > at).length;
  const key = open === 0 ? 'kept' : `${loss} ${open}`;
  const bytes = known.get(key) ?? bytesAfter(base, all, at, loss);
  known.set(key, bytes);
  return bytes;
};

const applyNames = (
  nodes: Map<number, Node>,
  fresh: Map<number, Map<string, number>>,
  { at, edits }: Names,
  cut: Cut,
): void => {
  if (cut.lost.has(at)) return;
  for (const { dir, name, ino } of cut.stays.has(at) ? edits.slice(0, 1) : edits) {
    const entries = fresh.get(dir) ?? entriesOf(nodes, dir);
    fresh.set(dir, entries);
    if (ino === undefined) entries.delete(name);
    else entries.set(name, ino);
  }
};

// A copy, which the tree has from here on.
const entriesOf = (nodes: Map<number, Node>, dir: number): Map<string, number> => {
  const node = nodes.get(dir);
  if (node?.kind !== 'directory') throw new Error('A name was put into what is no directory');
  const entries = new Map(node.entries);
  nodes.set(dir, { ...node, entries });
  return entries;
};

const bytesAfter = (base: Buffer, all: readonly Data[], at: number, loss: Loss): Buffer => {
  const safe = all.filter(({ synced }) => synced <= at);
  const open = all.filter(({ synced }) => synced > at);
  if (open.length === 0 || loss === 'kept') return applied(base, all);
  const before = applied(base, safe);
  if (loss === 'lost') return before;
  return damaged(before, open, loss);
};

const damaged = (before: Buffer, open: readonly Data[], loss: Loss): Buffer => {
  const whole = applied(before, open);
  const last = open.at(-1);
  if (loss === 'late part only') {
    const zeroed = applied(before, open.slice(0, -1).map(zeros));
    return last === undefined ? zeroed : applied(zeroed, [last]);
  }
  if (loss === 'zero') return applied(before, open.map(zeros));
  const from = differsFrom(before, whole);
  const half = from + Math.ceil((whole.length - from) / 2);
  const torn = whole.subarray(0, half);
  if (loss === 'torn') return torn.length < before.length ? overlaid(before, torn) : torn;
  return Buffer.concat([torn, Buffer.alloc(whole.length - half)]);
};

// In place: what the new bytes have not reached is as it was.
const overlaid = (before: Buffer, torn: Buffer): Buffer =>
  Buffer.concat([torn, before.subarray(torn.length)]);

const zeros = (change: Data): Data =>
  change.kind === 'write' ? { ...change, bytes: Buffer.alloc(change.bytes.length) } : change;

const differsFrom = (a: Buffer, b: Buffer): number => {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  return at;
};

const NONE: ReadonlySet<number> = new Set();

/**
 * The states of a recording, `most` of them by chance where there are more. Of those that are alike it is the latest, after
 * which most has to be there.
 */
export const statesOf = (recording: Recording, dice: Dice, most: number): State[] => {
  const found = new Map<string, State>();
  const moments = momentsOf(recording);
  const each = Math.ceil((4 * most) / moments.length);
  for (const at of moments)
    for (const cut of someOf(cutsAt(recording, at, dice), dice, each)) {
      const tree = treeAfter(recording, cut);
      const key = keyOf(tree);
      found.set(key, { cut, tree, key });
    }
  const some = someOf([...found.values()], dice, most);
  return some.map((state) => ({
    ...state,
    cut: { ...state.cut, isMended: isOneIn(MENDED, dice), isWatched: isOneIn(WATCHED, dice) },
  }));
};

/** One state of so many is given to `dossier check --fix` first. */
const MENDED = 4;
/** And on one of so many the daemon starts with its watching thread, which takes as long as all else. */
const WATCHED = 16;

const isOneIn = (count: number, dice: Dice): boolean => dice.below(count) === 0;

const someOf = <T>(all: T[], dice: Dice, most: number): T[] => {
  const rest = [...all];
  while (rest.length > most) rest.splice(dice.below(rest.length), 1);
  return rest;
};

// After each change, and after each thing said: then more has to be kept.
const momentsOf = ({ changes, said }: Recording): number[] => {
  const all = [...changes.map(({ at }) => at), ...said.map(({ at }) => at)];
  return [...new Set(all)].toSorted((a, b) => a - b);
};

const EXHAUSTIVE = 4;

const BY_CHANCE = 24;

const cutsAt = (recording: Recording, at: number, dice: Dice): Cut[] => {
  const open = openAt(recording, at);
  const isOne = open.names.length + open.files.length <= 1;
  return [
    ...oneByOne(open),
    ...(open.names.length <= EXHAUSTIVE ? everyWay(open) : []),
    ...Array.from({ length: isOne ? 0 : BY_CHANCE }, () => someWay(open, dice)),
  ].map((loss) => ({ at, ...loss }));
};

type Lost = Omit<Cut, 'at' | 'isMended' | 'isWatched'>;

const lostOf = (lost: readonly number[], data: [number, Loss][] = [], stays = NONE): Lost => ({
  ...{ lost: new Set(lost), data: new Map(data), stays },
});

const alike = ({ files }: Open, loss: Loss): [number, Loss][] => files.map((ino) => [ino, loss]);

/** Nothing and everything lost, and each thing by itself. */
const oneByOne = (open: Open): Lost[] => [
  ...[lostOf([]), lostOf(open.names, alike(open, 'lost')), lostOf(open.names)],
  ...LOSSES.slice(1).map((loss) => lostOf([], alike(open, loss))),
  ...open.names.map((one) => lostOf([one])),
  ...open.names.map((one) => lostOf(open.names.filter((other) => other !== one))),
  ...open.files.flatMap((ino) => LOSSES.slice(1).map((loss) => lostOf([], [[ino, loss]]))),
  ...open.halves.map((half) => lostOf([], [], new Set([half]))),
];

const everyWay = (open: Open): Lost[] =>
  subsets(open.names).flatMap((lost) => LOSSES.map((loss) => lostOf(lost, alike(open, loss))));

const someWay = ({ names, files, halves }: Open, dice: Dice): Lost =>
  lostOf(
    names.filter(() => dice.below(2) === 0),
    files.map((ino) => [ino, dice.pick(LOSSES)]),
    new Set(halves.filter(() => dice.below(4) === 0)),
  );

const subsets = <T>(values: readonly T[]): T[][] =>
  Array.from({ length: 2 ** values.length }, (_, which) =>
    values.filter((_value, bit) => (which >> bit) % 2 === 1),
  );

/** In words, for whoever has to look. */
export const describeCut = (recording: Recording, cut: Cut): string[] => {
  const { at, lost, stays, data } = cut;
  const by = (wanted: ReadonlySet<number>, how: string) =>
    recording.changes
      .filter((change) => change.kind === 'names' && wanted.has(change.at))
      .map(({ what }) => `${how}: ${what}`);
  const files = [...data]
    .filter(([, loss]) => loss !== 'kept')
    .map(([ino, loss]) => {
      const last = recording.changes.findLast(
        (change) => change.kind !== 'names' && change.ino === ino && change.at <= at,
      );
      return `unsynced data ${loss}: ${last?.what}`;
    });
  const before = recording.changes.findLast((change) => change.at <= at)?.what ?? 'nothing';
  return [
    `power cut at ${at} of ${recording.end}, after: ${before}`,
    ...by(lost, 'not on disk'),
    ...by(stays, 'old name still on disk'),
    ...files,
    ...(cut.isMended === true ? ['then `dossier check --fix`'] : []),
    ...(cut.isWatched === true ? ['then a start that watches the files'] : []),
  ];
};
