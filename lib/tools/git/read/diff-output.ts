import { isUtf8 } from 'node:buffer';
import type { SpecialKind } from './take-in.ts';

/** One changed file. Its path is as git prints it: quoted if necessary, `{old => new}` for a rename. */
export interface ChangedFile {
  path: string;
  what: 'added' | 'deleted' | 'renamed' | 'copied' | 'mode' | 'type' | 'changed';
  /** The kind of special file that replaced it; the patch shows it as deleted. */
  now?: SpecialKind;
  /** Lines; null for a binary file. */
  additions: number | null;
  deletions: number | null;
}

export interface ParsedDiff {
  /** A patch for `git apply`, as bytes: its lines have the encodings of the files. */
  patch: Buffer;
  changed: ChangedFile[];
  files: number;
  additions: number;
  deletions: number;
}

/** git's output with raw names, and with non-ASCII names quoted; the same buffer if all names are UTF-8. */
export interface DiffOutput {
  plain: Buffer;
  quoted: Buffer;
}

/** Parses one numstat line per file, then summary lines that begin with a space, then an empty line and the patch. */
export const parseDiff = ({ plain, quoted }: DiffOutput): ParsedDiff => {
  const end = quoted.indexOf('\n\n');
  const lines = linesOf({ plain, quoted });
  const kinds = new Map(lines.flatMap((line) => kindIn(line) ?? []));
  const changed = lines
    .filter((line) => !line.startsWith(' '))
    .map((line) => countsIn(line, kinds));
  const sum = (of: 'additions' | 'deletions'): number =>
    changed.reduce((total, file) => total + (file[of] ?? 0), 0);
  return {
    patch: end < 0 ? Buffer.alloc(0) : quoted.subarray(end + 2),
    changed,
    files: changed.length,
    additions: sum('additions'),
    deletions: sum('deletions'),
  };
};

// Takes the quoted form only of names that are not UTF-8.
const linesOf = ({ plain, quoted }: DiffOutput): string[] => {
  const instead = headOf(quoted).toString('latin1').split('\n');
  const lines = headOf(plain).toString('latin1').split('\n');
  return lines
    .map((line, at) => {
      const bytes = Buffer.from(line, 'latin1');
      return isUtf8(bytes) ? bytes.toString('utf8') : (instead[at] ?? '');
    })
    .filter((line) => line !== '');
};

/** The output without differences. */
export const NOTHING: DiffOutput = { plain: Buffer.alloc(0), quoted: Buffer.alloc(0) };

/** The lines before the patch. */
export const headOf = (output: Buffer): Buffer =>
  output.subarray(0, Math.max(0, output.indexOf('\n\n')));

type Kind = readonly [path: string, what: ChangedFile['what']];

const kindIn = (line: string): Kind[] | undefined => {
  const [, word = '', path = ''] =
    /^ (create mode|delete mode|mode change|rename|copy) (?:\d{6}(?: => \d{6})? )?(.*)$/.exec(
      line,
    ) ?? [];
  const what = OTHER_TYPE.test(line) ? 'type' : KINDS[word];
  if (what === undefined) return undefined;
  const moved = what === 'renamed' || what === 'copied';
  return [[moved ? path.replace(/ \(\d+%\)$/, '') : path, what]];
};

// The first two digits of a mode are the type: a file, a link or a submodule.
const OTHER_TYPE = /^ mode change (\d\d)\d{4} => (?!\1)/;

const KINDS: Record<string, ChangedFile['what']> = {
  'create mode': 'added',
  'delete mode': 'deleted',
  'mode change': 'mode',
  rename: 'renamed',
  copy: 'copied',
};

// numstat prints dashes for a binary file.
const countsIn = (line: string, kinds: ReadonlyMap<string, ChangedFile['what']>): ChangedFile => {
  const [additions = '', deletions = '', ...rest] = line.split('\t');
  const path = rest.join('\t');
  const count = (text: string): number | null => (text === '-' ? null : Number(text));
  return {
    path,
    what: kinds.get(path) ?? 'changed',
    additions: count(additions),
    deletions: count(deletions),
  };
};
