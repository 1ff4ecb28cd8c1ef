/** What strace wrote down, call by call, in the order in which the calls returned. */
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

/** The calls of rows, by the number of the row. Of what is traced outside of them nothing is kept, and it is most of it. */
export interface RowCalls {
  take(line: string): void;
  of(row: number): Call[];
}

/**
 * Takes what strace writes, line by line. Of the calls between `begin` and `end` of a row it keeps those that succeeded,
 * and `access`, which is how the traced program says what it does.
 */
export const rowCalls = (): RowCalls => {
  const rows = new Map<number, Call[]>();
  const begun = new Map<string, Begun>();
  let calls: Call[] = [];
  let isInRow = false;
  const enter = (row: number): void => {
    isInRow = true;
    calls = [];
    rows.set(row, calls);
  };
  const keep = (call: Omit<Call, 'index'>): void => {
    const [row = '', what] = wordsOf(call);
    if (what === 'begin') enter(Number(row));
    calls.push({ ...call, index: calls.length });
    if (what === 'end') isInRow = false;
  };
  const take = (line: string): void => {
    const [pid = ''] = /^\d+/.exec(line) ?? [];
    const rest = line.slice(pid.length).trimStart();
    if (rest.endsWith(UNFINISHED)) {
      begun.set(pid, { text: rest.slice(0, -UNFINISHED.length), began: calls.length });
      return;
    }
    const { text, began } = wholeOf(rest, begun.get(pid), calls.length);
    const call = isInRow || text.includes(SAID_HEX) ? callOf(text, Number(pid), began) : undefined;
    if (call !== undefined) keep(call);
  };
  return { take, of: (row) => rows.get(row) ?? [] };
};

const wordsOf = ({ name, args }: Omit<Call, 'index'>): string[] =>
  name === 'access' ? stringOf(args[0]).slice(SAID.length).split('/') : [];

/** The lines of a stream as they come. */
export const linesOf = async function* (stream: AsyncIterable<string>): AsyncGenerator<string> {
  // A line of megabytes comes in many pieces.
  let pieces: string[] = [];
  for await (const chunk of stream) {
    const [first = '', ...more] = chunk.split('\n');
    pieces.push(first);
    for (const next of more) {
      yield pieces.join('');
      pieces = [next];
    }
  }
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
