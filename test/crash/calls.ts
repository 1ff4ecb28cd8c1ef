/** What strace wrote down, call by call, in the order in which the calls returned. */
import { readFileSync } from 'node:fs';

/** The calls that change a file system or make it durable, and those by which paths are followed. */
export const TRACED = [
  ...['open', 'openat', 'creat', 'write', 'pwrite64', 'writev', 'pwritev', 'ftruncate', 'truncate'],
  ...['copy_file_range', 'sendfile', 'rename', 'renameat', 'renameat2', 'link', 'linkat', 'unlink'],
  ...['unlinkat', 'mkdir', 'mkdirat', 'rmdir', 'symlink', 'symlinkat', 'fsync', 'fdatasync'],
  ...['sync', 'syncfs', 'chmod', 'fchmod', 'fchmodat', 'chdir', 'fchdir', 'access'],
];

export const STRACE = [
  ...['-f', '-qq', '-y', '-xx', '--seccomp-bpf', '--signal=none', '--string-limit=8000000'],
  `--trace=${TRACED.join(',')}`,
];

export interface Call {
  pid: number;
  name: string;
  args: string[];
  /** The path of the descriptor that it returned, if it did. */
  returned: { value: number; path: string | undefined };
  /** How many calls had returned before this one did, and when it began. */
  index: number;
  began: number;
}

/** The calls that succeeded, and `access`, which is how the traced program says what it does. */
export const readCalls = (file: string): Call[] => {
  const calls: Call[] = [];
  const begun = new Map<string, Begun>();
  for (const line of readFileSync(file, 'latin1').split('\n')) {
    const [, pid = '', rest = ''] = /^(\d+) +(.*)$/s.exec(line) ?? [];
    if (rest.endsWith(UNFINISHED)) {
      begun.set(pid, { text: rest.slice(0, -UNFINISHED.length), began: calls.length });
      continue;
    }
    const { text, began } = wholeOf(rest, begun.get(pid), calls.length);
    const call = callOf(text, Number(pid), began);
    if (call !== undefined) calls.push({ ...call, index: calls.length });
  }
  return calls;
};

interface Begun {
  text: string;
  began: number;
}

const wholeOf = (rest: string, former: Begun | undefined, now: number): Begun =>
  former !== undefined && RESUMED.test(rest)
    ? { text: former.text + rest.replace(RESUMED, ''), began: former.began }
    : { text: rest, began: now };

const UNFINISHED = '<unfinished ...>';
const RESUMED = /^<\.\.\. \w+ resumed>/;

const callOf = (text: string, pid: number, began: number): Omit<Call, 'index'> | undefined => {
  const [, name = '', args = '', value = '', path] =
    /^(\w+)\((.*)\) += (-?\d+)(?:<([^>]*)>)?/s.exec(text) ?? [];
  const isSaid = name === 'access' && args.includes(SAID_HEX);
  if (name === '' || (name === 'access' ? !isSaid : value.startsWith('-'))) return undefined;
  const returned = {
    value: Number(value),
    path: path === undefined ? path : bytesOf(path, 'utf8'),
  };
  return { pid, name, args: split(args), returned, began };
};

// Strings are all hexadecimal, so that nothing in one is a quote, a comma or a bracket.
const split = (args: string): string[] =>
  [...args.matchAll(/(?:\[[^\]]*\]|\{[^}]*\}|[^,[{]+)+/g)].map(([part]) => part.trim());

/** What a string argument says. */
export const stringOf = (arg = ''): string => bytesIn(arg).toString('utf8');

/** Its bytes; of a vector all in a row. */
export const bytesIn = (arg: string): Buffer =>
  Buffer.concat([...arg.matchAll(/"([^"]*)"/g)].map(([, hex = '']) => hexed(hex)));

/** The path that a descriptor argument leads to, AT_FDCWD too. */
export const pathOf = (arg = ''): string => {
  const [, hex = ''] = /<([^>]*)>/.exec(arg) ?? [];
  return bytesOf(hex, 'utf8');
};

const hexed = (hex: string): Buffer => Buffer.from(hex.replaceAll('\\x', ''), 'hex');
const bytesOf = (hex: string, encoding: BufferEncoding): string => hexed(hex).toString(encoding);

/** Where the traced program says what it does: no such file is there. */
export const SAID = '/dossier-crash/';
const SAID_HEX = [...Buffer.from(SAID)].map((byte) => `\\x${byte.toString(16)}`).join('');
