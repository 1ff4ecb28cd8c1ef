/** Decides, at each step of the daemon, who goes on: the daemon, another of its calls, a hand, or nobody any more. */
import { utimesSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { ActiveCall } from './calls.ts';
import { editNamed, stepsOf } from './hand.ts';
import { judge } from './judge.ts';
import type { Round } from './plan.ts';
import { actorNow, outside, type Step, type Stepper } from './steps.ts';
import { note, observe, textAt, type World } from './world.ts';

/** Thrown at the steps that come after the end of a life: nothing of it reaches the disk any more. */
export class Killed extends Error {
  override readonly name = 'Killed';
}

interface Waiting {
  go: () => Promise<void>;
}

interface Worker {
  name: string;
  steps: Generator<void>;
  waits: number[];
  /** The step of the daemon before which it goes on. */
  due: number;
  done: boolean;
}

export interface Schedule {
  readonly stepper: Stepper;
  readonly state: {
    /** The first rule that was broken at some step. */
    failure: unknown;
    readonly dead: boolean;
  };
  /** Runs until these have settled, the hands are done, and nobody waits; or until the life is over. */
  run(work: Promise<unknown>[]): Promise<void>;
  begin(round: Pick<Round, 'hands' | 'picks' | 'end'>): void;
}

const AHEAD_MS = 3_600_000;

interface State {
  world: World;
  waiting: Waiting[];
  workers: Worker[];
  picks: number[];
  /** The step of this round at which the life ends. */
  killAt: number;
  steps: number;
  dead: boolean;
  failure: unknown;
}

/** The steps of one life; `later` is how long it has lasted, in milliseconds, as far as it can tell. */
export const createSchedule = (world: World, later: () => number): Schedule => {
  const state: State = {
    world,
    waiting: [],
    workers: [],
    picks: [],
    killAt: Number.POSITIVE_INFINITY,
    steps: 0,
    dead: false,
    failure: undefined,
  };
  return {
    state,
    stepper: {
      atOnce: (step) => tick(state, step.name),
      after: (step) => look(state, step),
      inTurn: (_step, call) =>
        new Promise((resolve, reject) => {
          if (!state.dead) state.waiting.push({ go: () => call().then(resolve, reject) });
        }),
      // No file is so young that it would be read once more for that: a run is the same each time.
      ahead: () => AHEAD_MS + later(),
    },
    begin: (round) => begin(state, round),
    run: async (work) => {
      await untilSettled(state, work);
      // A life may end before the hands are done.
      for (const worker of state.workers) while (!worker.done) goOn(state, worker, undefined);
    },
  };
};

const begin = (state: State, { hands, picks, end }: Parameters<Schedule['begin']>[0]): void => {
  state.steps = 0;
  state.picks = [...picks];
  state.killAt = typeof end === 'number' ? end : Number.POSITIVE_INFINITY;
  state.workers = hands.map(({ edit, waits: [first = 0, ...waits] }) => ({
    name: editNamed(edit),
    steps: stepsOf(edit, state.world),
    waits,
    due: first,
    done: false,
  }));
};

/** One step of the daemon is about to be made. `between`: it cannot wait, and knows nothing of what happens now. */
const tick = (state: State, between: string | undefined): void => {
  const { world } = state;
  world.now += 1;
  if (state.steps >= state.killAt && !state.dead) {
    note(world, 'the daemon is killed');
    state.dead = true;
  }
  if (state.dead) throw new Killed('The daemon is dead');
  for (const worker of state.workers)
    while (!worker.done && worker.due <= state.steps) goOn(state, worker, between);
  state.steps += 1;
};

/** One step of a hand. */
const goOn = (state: State, worker: Worker, between: string | undefined): void => {
  const { world } = state;
  world.now += 1;
  outside(() => {
    worker.done = guarded(state, () => worker.steps.next().done) ?? true;
    for (const { path, text } of observe(world, { kind: 'hand', name: worker.name, between }))
      if (text !== undefined) stamp(join(world.root, path), world.now);
  });
  worker.due = state.steps + (worker.waits.shift() ?? 0);
  world.now += 1;
};

// Two saves within one tick of the file system's clock, which a person cannot make, get two times.
const stamp = (path: string, now: number): void => utimesSync(path, EPOCH + now, EPOCH + now);
const EPOCH = 1_700_000_000;

// What the model finds must not be caught by the daemon, in whose midst it is found.
const guarded = <T>(state: State, work: () => T): T | undefined => {
  try {
    return work();
  } catch (error) {
    state.failure ??= error;
    return undefined;
  }
};

const untilSettled = async (state: State, work: Promise<unknown>[]): Promise<void> => {
  let open = work.length;
  const close = (): void => {
    open -= 1;
  };
  for (const each of work) each.then(close, close);
  const goesOn = (): boolean =>
    open > 0 || state.waiting.length > 0 || nextHand(state) !== undefined;
  let moved = performance.now();
  while (!state.dead && goesOn()) {
    if (await oneMove(state, open === 0)) moved = performance.now();
    else if (performance.now() - moved > STUCK_MS) throw new Error('A call never ends');
    await quiet();
  }
};

// Hands that are left over go on alone, when no call does.
const oneMove = async (state: State, alone: boolean): Promise<boolean> => {
  const hand = alone ? nextHand(state) : undefined;
  if (state.waiting.length > 0) await oneStep(state);
  else if (hand !== undefined) goOn(state, hand, undefined);
  else return false;
  return true;
};

// Far more than the daemon ever waits for git.
const STUCK_MS = 60_000;

const nextHand = ({ workers }: State): Worker | undefined => workers.find(({ done }) => !done);

// One of the calls that wait makes its step, and goes on until it waits again.
const oneStep = async (state: State): Promise<void> => {
  const { waiting, picks } = state;
  const [entry] = waiting.splice((picks.shift() ?? 0) % waiting.length, 1);
  try {
    tick(state, undefined);
  } catch (error) {
    if (error instanceof Killed) return;
    throw error;
  }
  await entry?.go();
};

// All that can go on without a step has gone on.
const quiet = async (): Promise<void> => {
  await nextTurn();
  await nextTurn();
};

const MOVES = new Set([
  'linkSync',
  'renameSync',
  'rmSync',
  'rm',
  'rename',
  'unlinkSync',
  'writeFileSync',
]);

/** After a call of the daemon: what has it read, what has it changed? */
const look = (state: State, { name, paths }: Step): void => {
  const { world } = state;
  const call = actorNow() as ActiveCall | undefined;
  const ours = paths.filter((path) => path.startsWith(`${world.root}/cases/`));
  if (name === 'readFileSync')
    for (const path of ours) world.reads.set(path.slice(world.root.length + 1), world.now);
  if (!MOVES.has(name) || ours.length === 0) return;
  world.now += 1;
  outside(() =>
    guarded(state, () => {
      for (const version of observe(world, { kind: 'daemon', call }))
        judge(world, version, textAt(world, version.path, version.from - 1));
    }),
  );
};
