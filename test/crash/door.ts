/**
 * Node's door to the file system, which can be made to fail: the nth call of a kind below a directory, once or from then
 * on. What is imported from `node:fs` is a live binding, so nothing of the daemon is replaced.
 */
import fs from 'node:fs';
import promises from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import { constants } from 'node:os';
import { getSystemErrorName } from 'node:util';

export const KINDS = [
  ...['open', 'make', 'read', 'write', 'list', 'mkdir', 'rename', 'link', 'unlink', 'fsync'],
  ...['fdatasync', 'truncate'],
] as const;
export type Kind = (typeof KINDS)[number];

export interface Fault {
  kind: Kind;
  errno: keyof typeof constants.errno;
  /** Which call of the kind; 1 is the first. */
  nth: number;
  /** All after it fail, too. */
  stays: boolean;
  /** It is done all the same: an error does not say that a name was not changed. */
  isDone?: boolean;
}

/** What somebody else does just before the nth call, of whichever kind. */
export interface Meanwhile {
  nth: number;
  act: () => void;
}

export interface Door {
  /** From now on calls are counted, and fail as is said. */
  arm(fault?: Fault | Meanwhile): void;
  /** All calls are as ever again. Answers how many there were of each kind, and which failed. */
  disarm(): { counts: Map<Kind, number>; failed: string[] };
}

interface Arms {
  root: string;
  fault: Fault | undefined;
  meanwhile: Meanwhile | undefined;
  total: number;
  counts: Map<Kind, number>;
  failed: string[];
}

let arms: Arms | undefined;

export const doorTo = async (root: string): Promise<Door> => {
  await install();
  return {
    arm: (what) => {
      const fault = what !== undefined && 'kind' in what ? what : undefined;
      const meanwhile = what !== undefined && 'act' in what ? what : undefined;
      arms = { root, fault, meanwhile, total: 0, counts: new Map(), failed: [] };
    },
    disarm: () => {
      const { counts, failed } = arms ?? { counts: new Map(), failed: [] };
      arms = undefined;
      return { counts, failed };
    },
  };
};

/** The fault that this call meets, if it meets one. */
const met = (kind: Kind, call: string, path: string): Fault | undefined => {
  if (arms === undefined || !(path === arms.root || path.startsWith(`${arms.root}/`)))
    return undefined;
  const { counts, failed, fault } = arms;
  passes(arms, `${call} ${path.slice(arms.root.length + 1)}`);
  const count = (counts.get(kind) ?? 0) + 1;
  counts.set(kind, count);
  if (fault?.kind !== kind) return undefined;
  if (fault.stays ? count < fault.nth : count !== fault.nth) return undefined;
  failed.push(`${call} ${path.slice(arms.root.length + 1)}`);
  return fault;
};

const passes = (now: Arms, call: string): void => {
  now.total += 1;
  if (now.meanwhile?.nth !== now.total) return;
  now.failed.push(call);
  // What it does itself is not counted.
  arms = undefined;
  now.meanwhile.act();
  arms = now;
};

const errorOf = ({ errno }: Fault, syscall: string, path: string): Error => {
  const number = constants.errno[errno];
  const code = getSystemErrorName(-number);
  const error = new Error(`${code}: made to fail, ${syscall} '${path}'`);
  return Object.assign(error, { errno: -number, code, syscall, path });
};

type Any = (...args: never[]) => unknown;
type Members = Record<string, Any>;

/** How a call is seen: its kind, which may follow from its arguments, and the path that it is about. */
interface Seen {
  kind: (args: readonly unknown[]) => Kind;
  path: (args: readonly unknown[]) => string;
}

const is = (kind: Kind) => (): Kind => kind;
const first = ([path]: readonly unknown[]): string => pathOf(path);
const second = ([, path]: readonly unknown[]): string => pathOf(path);

const { readlinkSync } = fs;

const pathOf = (value: unknown): string => {
  const text = typeof value === 'number' ? `/proc/self/fd/${value}` : `${value}`;
  if (!/^\/proc\/self\/fd\/\d/.test(text)) return text;
  const [, fd = '', rest = ''] = /^(\/proc\/self\/fd\/\d+)(.*)$/s.exec(text) ?? [];
  try {
    return `${readlinkSync(fd)}${rest}`;
  } catch {
    return text;
  }
};

const MAKES = fs.constants.O_CREAT;

const kindOfOpen = ([, flags = 'r']: readonly unknown[]): Kind => {
  const makes = typeof flags === 'number' ? (flags & MAKES) !== 0 : /[wax]/.test(`${flags}`);
  return makes ? 'make' : 'open';
};

const PATHS: Readonly<Record<string, Seen>> = {
  open: { kind: kindOfOpen, path: first },
  readFile: { kind: ([what]) => (typeof what === 'number' ? 'read' : 'open'), path: first },
  writeFile: { kind: is('make'), path: first },
  appendFile: { kind: is('make'), path: first },
  copyFile: { kind: is('make'), path: second },
  symlink: { kind: is('make'), path: second },
  readdir: { kind: is('list'), path: first },
  opendir: { kind: is('list'), path: first },
  mkdir: { kind: is('mkdir'), path: first },
  mkdtemp: { kind: is('mkdir'), path: first },
  rename: { kind: is('rename'), path: second },
  link: { kind: is('link'), path: second },
  unlink: { kind: is('unlink'), path: first },
  rm: { kind: is('unlink'), path: first },
  rmdir: { kind: is('unlink'), path: first },
  truncate: { kind: is('truncate'), path: first },
};

const DESCRIPTORS: Readonly<Record<string, Seen>> = {
  read: { kind: is('read'), path: first },
  write: { kind: is('write'), path: first },
  fsync: { kind: is('fsync'), path: first },
  fdatasync: { kind: is('fdatasync'), path: first },
  ftruncate: { kind: is('truncate'), path: first },
};

const HANDLES: Readonly<Record<string, Kind>> = {
  ...{ read: 'read', readFile: 'read', write: 'write', writeFile: 'write', appendFile: 'write' },
  ...{ sync: 'fsync', datasync: 'fdatasync', truncate: 'truncate' },
};

let installed: Promise<void> | undefined;

const install = (): Promise<void> => {
  installed ??= replaceAll();
  return installed;
};

const replaceAll = async (): Promise<void> => {
  const [sync, later] = [fs, promises] as unknown as [Members, Members];
  for (const [name, seen] of Object.entries({ ...PATHS, ...DESCRIPTORS }))
    sync[`${name}Sync`] = failing(`${name}Sync`, seen, sync[`${name}Sync`] as Any);
  for (const [name, seen] of Object.entries(PATHS))
    later[name] = failingLater(name, seen, later[name] as Any);
  sync.fdatasync = failingCallback(sync.fdatasync as Any);
  const handle = await promises.open('/dev/null');
  const members = Object.getPrototypeOf(handle) as Members;
  await handle.close();
  for (const [name, kind] of Object.entries(HANDLES))
    members[name] = failingHandle(name, kind, members[name] as Any);
  syncBuiltinESMExports();
};

// Half of what was to be written is there, as the disk had room or worked for so long.
const half = (call: Any, self: unknown, args: readonly unknown[]): unknown => {
  const [to, data, ...rest] = args;
  if (!Buffer.isBuffer(data)) return undefined;
  const [offset = 0, length = data.length - Number(offset), ...more] = rest;
  const part = Math.floor(Number(length) / 2);
  if (typeof offset !== 'number' || part === 0) return undefined;
  return call.apply(self, [to, data, offset, part, ...more] as never[]);
};

const failing = (name: string, { kind, path }: Seen, call: Any): Any =>
  function (this: unknown, ...args: unknown[]): unknown {
    const fault = arms && met(kind(args), name, path(args));
    if (fault === undefined) return call.apply(this, args as never[]);
    if (fault.isDone === true) call.apply(this, args as never[]);
    else if (name === 'writeSync') half(call, this, args);
    throw errorOf(fault, name.replace('Sync', ''), path(args));
  };

const failingLater = (name: string, { kind, path }: Seen, call: Any): Any =>
  async function (this: unknown, ...args: unknown[]): Promise<unknown> {
    const fault = arms && met(kind(args), name, path(args));
    if (fault === undefined) return call.apply(this, args as never[]);
    if (fault.isDone === true) await call.apply(this, args as never[]);
    throw errorOf(fault, name, path(args));
  };

const failingCallback = (call: Any): Any =>
  ((fd: number, done: (error?: Error) => void) => {
    const fault = arms && met('fdatasync', 'fdatasync', pathOf(fd));
    if (fault === undefined) return call(fd as never, done as never);
    setImmediate(done, errorOf(fault, 'fdatasync', pathOf(fd)));
    return undefined;
  }) as Any;

interface Handle {
  fd: number;
}

const failingHandle = (name: string, kind: Kind, call: Any): Any =>
  async function (this: Handle, ...args: unknown[]): Promise<unknown> {
    const path = arms === undefined ? '' : pathOf(this.fd);
    const fault = arms && met(kind, name, path);
    if (fault === undefined) return call.apply(this, args as never[]);
    if (name === 'write')
      await half((...rest) => call.apply(this, rest.slice(1) as never[]), this, [0, ...args]);
    if (name === 'writeFile' && Buffer.isBuffer(args[0]))
      await call.call(this, args[0].subarray(0, Math.floor(args[0].length / 2)) as never);
    throw errorOf(fault, name, path);
  };
