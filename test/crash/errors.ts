/** Every errno at every call of every operation: which there are, in an order by chance, and what came of them. */
import { diceOf } from './dice.ts';
import { doorTo, type Fault, type Kind } from './door.ts';
import {
  type Doors,
  type Rehearsed,
  rehearse,
  type Trial,
  type Tried,
  tryFault,
} from './faulty.ts';
import { type GitFault, gitDoorAt } from './git-door.ts';
import { imageFor } from './images.ts';
import { OPERATIONS } from './operations.ts';
import { onStage } from './stage.ts';
import { letWatch } from './unwatched.ts';

const LIMITS = ['EMFILE', 'ENFILE'] as const;
const ROOM = ['ENOSPC', 'EDQUOT'] as const;
const NAMES = ['EIO', ...ROOM, 'EROFS', 'EACCES', 'EINTR'] as const;
const SYNC = ['EIO', ...ROOM, 'EINTR'] as const;
const OPEN = ['EIO', 'EACCES', ...LIMITS, 'EINTR'] as const;

/** What a call of that kind can fail with. */
const ERRNOS: Readonly<Record<Kind, readonly Fault['errno'][]>> = {
  ...{ open: OPEN, list: OPEN, make: [...OPEN, ...ROOM, 'EROFS'], read: ['EIO', 'EINTR'] },
  ...{ write: SYNC, fsync: SYNC, fdatasync: SYNC, truncate: SYNC },
  ...{ mkdir: NAMES, rename: NAMES, link: NAMES, unlink: ['EIO', 'EROFS', 'EACCES', 'EINTR'] },
};

/** An error of the disk says nothing of whether the name was changed. */
const MAY_BE_DONE: readonly Kind[] = ['mkdir', 'rename', 'link', 'unlink'];

const faultsOf = (counts: ReadonlyMap<Kind, number>): Fault[] =>
  [...counts].flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, before) => before + 1).flatMap((nth) =>
      ERRNOS[kind].flatMap((errno) => waysOf({ kind, errno, nth, stays: false })),
    ),
  );

const waysOf = (fault: Fault): Fault[] => {
  const late = fault.errno === 'EIO' && MAY_BE_DONE.includes(fault.kind);
  return [fault, { ...fault, stays: true }, ...(late ? [{ ...fault, isDone: true }] : [])];
};

/** As it is printed, and read again. */
const faultText = ({ kind, nth, errno, stays, isDone = false }: Fault): string =>
  [kind, nth, errno, stays ? 'stays' : 'once', ...(isDone ? ['done'] : [])].join(' ');

const faultFrom = (text: string): Fault => {
  const [kind, nth, errno, how, done] = text.split(' ');
  const fault = { kind: kind as Kind, nth: Number(nth), errno: errno as Fault['errno'] };
  return { ...fault, stays: how === 'stays', isDone: done === 'done' };
};

const GIT_CALLS = ['openat', 'write', 'rename,link', 'mkdir', 'fsync', 'unlink'] as const;
const GIT_ERRNOS = ['EIO', 'ENOSPC', 'EMFILE', 'EACCES'] as const;
const GIT_WHEN = ['1', '2', '3', '4', '1+', '8', '20'] as const;

const gitFaultsOf = (commands: readonly string[]): GitFault[] =>
  commands.flatMap((command) =>
    GIT_CALLS.flatMap((call) =>
      GIT_ERRNOS.flatMap((errno) => GIT_WHEN.map((when) => ({ command, call, errno, when }))),
    ),
  );

const trialAt = ({ door }: Doors, fault: Fault): Trial => ({
  text: faultText(fault),
  errno: fault.errno,
  arm: () => door.arm(fault),
  disarm: () => door.disarm().failed,
});

const gitTrialAt = ({ git }: Doors, fault: GitFault): Trial => ({
  text: `git ${fault.command} ${fault.call} ${fault.errno} ${fault.when}`,
  arm: () => git.arm(fault),
  disarm: () => git.disarm().failed,
});

/** `rename * EIO once` is that of each rename. */
const trialsFrom = (doors: Doors, { counts }: Rehearsed, text: string): Trial[] => {
  if (!text.startsWith('git ')) {
    const fault = faultFrom(text);
    const count = Number.isNaN(fault.nth) ? (counts.get(fault.kind) ?? 0) : 0;
    const each = Array.from({ length: count }, (_, before) => ({ ...fault, nth: before + 1 }));
    return (count === 0 ? [fault] : each).map((one) => trialAt(doors, one));
  }
  const [, command = '', call = '', errno = '', when = ''] = text.split(' ');
  return [gitTrialAt(doors, { command, call, errno, when })];
};

export interface ErrorSearch {
  seed: number;
  /** Of each operation. */
  most: number;
  operations?: readonly string[];
  /** Only this one, as it is printed. */
  fault?: string | undefined;
  /** Errors that git meets, in place of those that the daemon does. */
  inGit?: boolean;
  isOver?: () => boolean;
  tell?: (tried: Tried) => void;
}

export interface Errors {
  tried: Tried[];
  /** How many there are of each operation; those that were tried are by chance where it is less. */
  all: Map<string, number>;
}

export const searchErrors = (wanted: ErrorSearch): Promise<Errors> =>
  onStage(async ({ root, out, images }) => {
    const errors: Errors = { tried: [], all: new Map() };
    const doors = { door: await doorTo(root), git: gitDoorAt(out) };
    letWatch(false);
    for (const operation of OPERATIONS.filter(({ name }) => isWanted(name, wanted))) {
      if (wanted.isOver?.() === true) break;
      const done = await rehearse(doors, await images(imageFor([operation])), operation);
      await tryAll(doors, done, wanted, errors);
    }
    return errors;
  });

// What a start that fails holds it holds until its process has ended, and this one goes on.
const isWanted = (name: string, { operations }: ErrorSearch): boolean =>
  name !== 'restart' && (operations?.includes(name) ?? true);

const tryAll = async (
  doors: Doors,
  done: Rehearsed,
  wanted: ErrorSearch,
  errors: Errors,
): Promise<void> => {
  const { fault } = wanted;
  const trials =
    fault === undefined ? someOf(doors, done, wanted, errors) : trialsFrom(doors, done, fault);
  for (const trial of trials) {
    if (wanted.isOver?.() === true) return;
    const tried = await tryFault(done, trial);
    if (tried.failed.length > 0) errors.tried.push(tried);
    wanted.tell?.(tried);
  }
};

const someOf = (
  doors: Doors,
  { counts, commands, operation }: Rehearsed,
  { seed, most, inGit = false }: ErrorSearch,
  errors: Errors,
): Trial[] => {
  const left = inGit
    ? gitFaultsOf(commands).map((fault) => gitTrialAt(doors, fault))
    : faultsOf(counts).map((fault) => trialAt(doors, fault));
  errors.all.set(operation.name, left.length);
  const dice = diceOf(seed);
  const some: Trial[] = [];
  while (left.length > 0 && some.length < most)
    some.push(...left.splice(dice.below(left.length), 1));
  return some;
};

/** For whoever has to look. */
export const linesOfTried = ({ operation, fault, wrong, failed }: Tried): string[] => [
  `${operation}: ${wrong}`,
  ...failed.slice(0, 4).map((call) => `  failed: ${call}`),
  `  again: npm run crash -- --only errors --row '${operation}' --fault '${fault}'`,
];
