/** Tries states of rows of operations, and says which of them are wrong, in as few words as they take. */
import { mkdirSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { orElse } from '../../base/or-else.ts';
import { diceOf } from './dice.ts';
import { judge } from './judge.ts';
import { type Known, knownAs } from './known.ts';
import type { Forget } from './recording.ts';
import type { Row } from './rows.ts';
import { type Cut, describeCut, statesOf } from './states.ts';
import { type Traced, trace } from './traced.ts';

export interface Found {
  operations: string[];
  seed: number;
  /** Which of the states of that seed, where so many are taken of a row. */
  state: number;
  most: number;
  wrong: string;
  known: Known | undefined;
  /** What has to happen for it, and nothing else. */
  cut: string[];
}

export interface Searched {
  rows: number;
  states: number;
  found: Found[];
}

export interface Search {
  seed: number;
  /** States of a row. */
  most: number;
  forget?: Forget;
  /** Only this state of each row. */
  state?: number | undefined;
  /** The rest of a row is left out when this says so. */
  isEnough?: (found: readonly Found[]) => boolean;
  /** No further row begins when this says so. */
  isOver?: () => boolean;
  tell?: (searched: Searched) => void;
}

const AT_ONCE = 24;

export const search = async (rows: readonly Row[], wanted: Search): Promise<Searched> => {
  const all: Searched = { rows: 0, states: 0, found: [] };
  for (let from = 0; from < rows.length && !isOver(wanted); from += AT_ONCE)
    await searchSome(rows.slice(from, from + AT_ONCE), wanted, all);
  return all;
};

const isOver = ({ isOver: ask = () => false }: Search): boolean => ask();

const searchSome = (rows: Row[], wanted: Search, all: Searched): Promise<void> =>
  withTraces(rows, wanted.forget, async (traces) => {
    for (const traced of traces) {
      if (isOver(wanted)) return;
      await searchRow(traced, wanted, all);
      wanted.tell?.(all);
    }
  });

/** Traces rows, and removes what they need once the work with them has ended. */
export const withTraces = async (
  rows: readonly Row[],
  forget: Forget | undefined,
  work: (traces: Traced[]) => Promise<void>,
): Promise<void> => {
  const dir = mkdtempSync(join(memory(), 'dossier-crash-'));
  const out = mkdtempSync(join(tmpdir(), 'dossier-crash-'));
  const root = join(dir, 'world');
  mkdirSync(root);
  try {
    await work(await trace({ root, out }, rows, forget));
  } finally {
    for (const each of [dir, out]) rmSync(each, { recursive: true, force: true });
  }
};

/** A directory in memory where there is one: a state is put there in place, thousands of times. */
export const memory = (): string =>
  orElse(() => statfsSync('/dev/shm').bavail > 0, false) ? '/dev/shm' : tmpdir();

const searchRow = async (traced: Traced, wanted: Search, all: Searched): Promise<void> => {
  const { seed, most, state: only, isEnough = () => false } = wanted;
  const states = [...statesOf(traced, diceOf(seed), most).entries()];
  const kinds = new Set<string>();
  all.rows += 1;
  for (const [state, { cut }] of states.filter(([at]) => only === undefined || at === only)) {
    if (isEnough(all.found)) return;
    all.states += 1;
    const wrong = await judge(traced, cut);
    if (wrong === undefined || kinds.has(kindOf(wrong))) continue;
    kinds.add(kindOf(wrong));
    all.found.push(await foundIn(traced, cut, { wrong, seed, state, most }));
  }
};

const foundIn = async (
  traced: Traced,
  cut: Cut,
  about: Pick<Found, 'wrong' | 'seed' | 'state' | 'most'>,
): Promise<Found> => {
  const { operations } = traced;
  const known = knownAs(operations, about.wrong);
  const least = known === undefined ? await shrunk(traced, cut, kindOf(about.wrong)) : cut;
  return { ...about, operations, known, cut: describeCut(traced, least) };
};

/** The same kind of fault, whatever it is about. */
export const kindOf = (wrong: string): string =>
  wrong
    .replaceAll(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{64}|[0-9a-f]{40}/g, '*')
    .replaceAll(/[\d:.TZ-]+/g, '#')
    .slice(0, 160);

/** Puts back, one by one, what was lost without being needed for it. */
const shrunk = async (traced: Traced, cut: Cut, kind: string): Promise<Cut> => {
  let least = cut;
  for (const smaller of smallerOnes(cut)) {
    const next = smaller(least);
    const wrong = await judge(traced, next);
    if (wrong !== undefined && kindOf(wrong) === kind) least = next;
  }
  return least;
};

const smallerOnes = (cut: Cut): ((now: Cut) => Cut)[] => [
  (now) => ({ ...now, isMended: false }),
  ...[...cut.data.keys()].map((ino) => (now: Cut) => ({
    ...now,
    data: new Map([...now.data].filter(([each]) => each !== ino)),
  })),
  ...[...cut.stays].map((at) => (now: Cut) => ({ ...now, stays: without(now.stays, at) })),
  ...[...cut.lost].map((at) => (now: Cut) => ({ ...now, lost: without(now.lost, at) })),
];

const without = (values: ReadonlySet<number>, value: number): ReadonlySet<number> =>
  new Set([...values].filter((each) => each !== value));

/** For whoever has to look. */
export const linesOf = ({ operations, seed, state, most, wrong, cut }: Found): string[] => [
  wrong.length > LONGEST ? `${wrong.slice(0, LONGEST)} …` : wrong,
  ...cut.map((line) => `  ${line}`),
  `  again: npm run crash -- --seed ${seed} --row '${operations.join(' + ')}' --most ${most} --state ${state}`,
];

const LONGEST = 700;
