/**
 * Makes every call of the file system that a daemon of this process makes a step, at which something else may happen
 * first: a hand edits a file, another call goes on, the daemon dies. Nothing is replaced: each step is the real call on
 * real files. Whoever runs outside of a life (the hand, git, the checks) calls the file system as ever.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import crypto from 'node:crypto';
import fs from 'node:fs';
import promises, { type FileHandle } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';

export interface Step {
  name: string;
  paths: string[];
}

/** Who decides what happens at the steps of one life of a daemon. */
export interface Stepper {
  /** At a call that holds the event loop: what happens here falls between two lines of the daemon's code. */
  atOnce(step: Step): void;
  /** At a call that is waited for: resolves when it is its turn, and never in a life that has ended. */
  inTurn<T>(step: Step, call: () => Promise<T>): Promise<T>;
  /** After a call. */
  after(step: Step): void;
  /** How far the clocks of this life are ahead, in milliseconds. */
  ahead(): number;
}

interface Context {
  stepper: Stepper;
  /** The request on whose behalf the call is made. */
  actor: unknown;
}

const contexts = new AsyncLocalStorage<Context>();

export const inLife = <T>(stepper: Stepper, actor: unknown, work: () => T): T =>
  contexts.run({ stepper, actor }, work);

export const outside = <T>(work: () => T): T => contexts.exit(work);

export const actorNow = (): unknown => contexts.getStore()?.actor;

// Those that the store and the rules use; what they do not use needs no step.
const SYNC = [
  'chmodSync',
  'existsSync',
  'lchownSync',
  'linkSync',
  'lstatSync',
  'mkdirSync',
  'readFileSync',
  'readdirSync',
  'renameSync',
  'rmSync',
  'statSync',
  'unlinkSync',
  'writeFileSync',
] as const;
const ASYNC = ['mkdir', 'open', 'rename', 'rm'] as const;
const OF_A_HANDLE = ['close', 'datasync', 'sync', 'truncate', 'write', 'writeFile'] as const;

type Any = (...args: unknown[]) => unknown;

/** From here on, for the whole process. Node's own way to let ES modules see a changed built-in one. */
export const installSteps = (): void => {
  for (const name of SYNC) wrapSync(fs as unknown as Record<string, Any>, name);
  for (const name of ASYNC) wrapAsync(promises as unknown as Record<string, Any>, name);
  // Counted, so that names sort in the order in which they are made: a run is the same each time.
  const uuid = crypto.randomUUID;
  let ids = 0;
  crypto.randomUUID = (options) => {
    if (contexts.getStore() === undefined) return uuid(options);
    ids += 1;
    return `f${ids.toString(16).padStart(7, '0')}-0000-4000-8000-000000000000`;
  };
  syncBuiltinESMExports();
  for (const clock of [Date, performance]) {
    const real = clock.now.bind(clock);
    clock.now = () => real() + (contexts.getStore()?.stepper.ahead() ?? 0);
  }
};

const wrapSync = (holder: Record<string, Any>, name: string): void => {
  const real = holder[name] as Any;
  const wrapped = (...args: unknown[]): unknown => {
    const context = contexts.getStore();
    if (context === undefined) return real(...args);
    const step = stepOf(name, args);
    context.stepper.atOnce(step);
    const answer = outside(() => real(...args));
    context.stepper.after(step);
    return answer;
  };
  holder[name] = Object.assign(wrapped, real);
};

const wrapAsync = (holder: Record<string, Any>, name: string): void => {
  const real = holder[name] as Any;
  holder[name] = (...args) => {
    const context = contexts.getStore();
    if (context === undefined) return real(...args);
    return stepped(context, stepOf(name, args), async () => {
      const answer = await real(...args);
      return name === 'open' ? withSteps(context.stepper, answer as FileHandle, args) : answer;
    });
  };
};

const stepped = (
  { stepper }: Context,
  step: Step,
  call: () => Promise<unknown>,
): Promise<unknown> =>
  stepper.inTurn(step, () =>
    outside(async () => {
      const answer = await call();
      stepper.after(step);
      return answer;
    }),
  );

const files = new WeakMap<Stepper, (() => Promise<void>)[]>();

/** Closes what a life that has ended still had open, as the system does. */
export const closeFiles = async (stepper: Stepper): Promise<void> => {
  for (const close of files.get(stepper) ?? []) await close().catch(() => undefined);
};

// What is written is the system's when the process dies: only a power cut needs the sync, and none happens here.
const FLUSHES = new Set<string>(['datasync', 'sync']);

const withSteps = (stepper: Stepper, handle: FileHandle, [path]: unknown[]): FileHandle => {
  files.set(stepper, [...(files.get(stepper) ?? []), handle.close.bind(handle)]);
  const methods = handle as unknown as Record<string, Any>;
  for (const name of OF_A_HANDLE) {
    const real = methods[name]?.bind(handle) as Any;
    methods[name] = (...args) => {
      const context = contexts.getStore();
      if (context === undefined) return real(...args);
      const call = async () => (FLUSHES.has(name) ? undefined : real(...args));
      return stepped(context, stepOf(name, [path]), call);
    };
  }
  return handle;
};

const stepOf = (name: string, args: unknown[]): Step => ({
  name,
  paths: args.filter((arg) => typeof arg === 'string' && arg.startsWith('/')) as string[],
});
