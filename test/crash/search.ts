/** Tries states of rows of operations, and says which of them are wrong, in as few words as they take. */
import { diceOf } from './dice.ts';
import { judge } from './judge.ts';
import { type Known, knownAs } from './known.ts';
import type { Forget } from './recording.ts';
import type { Row } from './rows.ts';
import { onStage } from './stage.ts';
import { type Cut, describeCut, statesOf } from './states.ts';
import { type Performed, perform, type Traced, tracedOf } from './traced.ts';

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

/** Runs the rows, and tries states of them. */
export const search = (rows: readonly Row[], wanted: Search): Promise<Searched> =>
  onStage(async (stage) => {
    const all: Searched = { rows: 0, states: 0, found: [] };
    for (let from = 0; from < rows.length && !isOver(wanted); from += AT_ONCE)
      await searchInto(all, await perform(stage, rows.slice(from, from + AT_ONCE)), wanted);
    return all;
  });

/** The same of rows that were run. */
export const searchPerformed = async (
  performed: readonly Performed[],
  wanted: Search,
): Promise<Searched> => {
  const all: Searched = { rows: 0, states: 0, found: [] };
  await searchInto(all, performed, wanted);
  return all;
};

const isOver = ({ isOver: ask = () => false }: Search): boolean => ask();

const searchInto = async (
  all: Searched,
  performed: readonly Performed[],
  wanted: Search,
): Promise<void> => {
  for (const one of performed) {
    if (isOver(wanted)) return;
    await searchRow(tracedOf(one, wanted.forget), wanted, all);
    wanted.tell?.(all);
  }
};

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
  (now) => ({ ...now, isWatched: false }),
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
