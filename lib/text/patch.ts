/** The changes of a patch to one file. */
export interface FilePatch {
  path: string;
  /** The former path of a renamed or copied file. */
  from: string | undefined;
  kind: 'changed' | 'new' | 'deleted' | 'renamed' | 'copied';
  /** Old and new mode, if it changed. */
  modes: string | undefined;
  isBinary: boolean;
  added: number;
  removed: number;
  /** The text of this part of the patch, to which marks are bound. */
  text: string;
}

const START = 'diff --git ';

/**
 * Parses a git patch, file by file. Only a line feed ends a line: otherwise the content of a file could pass for the header
 * of another one.
 */
export const filesOf = (patch: string): FilePatch[] => {
  const files: FilePatch[] = [];
  for (let at = startFrom(patch, 0); at >= 0; ) {
    const next = startFrom(patch, at + 1);
    files.push(fileOf(patch.slice(at, next < 0 ? undefined : next)));
    at = next;
  }
  return files;
};

const startFrom = (patch: string, from: number): number => {
  if (from === 0 && patch.startsWith(START)) return 0;
  const at = patch.indexOf(`\n${START}`, Math.max(from - 1, 0));
  return at < 0 ? -1 : at + 1;
};

const fileOf = (text: string): FilePatch => {
  const body = bodyOf(text);
  const head = text.slice(0, body < 0 ? undefined : body).split('\n');
  const said = (word: string): string | undefined =>
    head.find((line) => line.startsWith(word))?.slice(word.length);
  const kind = kindOf(said);
  const after = nameIn(said('+++ '), 'b/');
  const before = nameIn(said('--- '), 'a/');
  const to = unquoted(said('rename to ') ?? said('copy to '));
  const path = to ?? after ?? before ?? nameOfBoth(head[0]?.slice(START.length) ?? '');
  const modes = [said('old mode '), said('new mode ')].filter((mode) => mode !== undefined);
  return {
    path,
    kind,
    text,
    from: unquoted(said('rename from ') ?? said('copy from ')),
    modes: modes.length === 2 ? modes.join(' → ') : undefined,
    isBinary: said('Binary files ') !== undefined || said('GIT binary patch') !== undefined,
    ...(body < 0 ? { added: 0, removed: 0 } : countLines(text.slice(body))),
  };
};

const bodyOf = (text: string): number => {
  const at = text.indexOf('\n@@ ');
  return at < 0 ? -1 : at + 1;
};

const kindOf = (said: (word: string) => string | undefined): FilePatch['kind'] => {
  if (said('new file mode ') !== undefined) return 'new';
  if (said('deleted file mode ') !== undefined) return 'deleted';
  if (said('rename from ') !== undefined) return 'renamed';
  return said('copy from ') === undefined ? 'changed' : 'copied';
};

const countLines = (body: string) => {
  let [added, removed] = [0, 0];
  for (let at = 0; at >= 0; ) {
    if (body[at] === '+') added += 1;
    else if (body[at] === '-') removed += 1;
    const end = body.indexOf('\n', at);
    at = end < 0 ? -1 : end + 1;
  }
  return { added, removed };
};

// git appends a tab to a name with blanks.
const nameIn = (said: string | undefined, prefix: string): string | undefined => {
  const name = unquoted(said?.replace(/\t$/, ''));
  return name === undefined || name === '/dev/null' ? undefined : without(name, prefix);
};

const without = (name: string, prefix: string): string =>
  name.startsWith(prefix) ? name.slice(prefix.length) : name;

// Without content or a new name, both names in the header are equal.
const nameOfBoth = (said: string): string =>
  said.startsWith('"')
    ? without(unquoted(said.slice(0, (said.length - 1) / 2)) ?? '', 'a/')
    : said.slice('a/'.length, (said.length - 1) / 2);

const ESCAPED: Readonly<Record<string, number>> = {
  a: 7,
  b: 8,
  t: 9,
  n: 10,
  v: 11,
  f: 12,
  r: 13,
  '"': 0x22,
  '\\': 0x5c,
};

/** Decodes a quoted name. */
const unquoted = (name: string | undefined): string | undefined => {
  if (name === undefined || !/^".*"$/s.test(name)) return name;
  const bytes: number[] = [];
  for (const [all, escaped] of name.slice(1, -1).matchAll(/\\([0-7]{3}|.)|[^\\]+/gs))
    if (escaped === undefined) bytes.push(...new TextEncoder().encode(all));
    else bytes.push(ESCAPED[escaped] ?? Number.parseInt(escaped, 8));
  return new TextDecoder().decode(new Uint8Array(bytes));
};

/** Applies a patch to a text; undefined if it does not apply or is binary. */
export const patched = (before: string, { text, isBinary }: FilePatch): string | undefined => {
  if (isBinary) return undefined;
  const old = before.split('\n');
  const now: string[] = [];
  let at = 0;
  for (const hunk of text.split(/^(?=@@ -)/m).slice(1)) {
    const { from, removed, put } = hunkOf(hunk);
    if (old.slice(from, from + removed.length).join('\n') !== removed.join('\n')) return undefined;
    now.push(...old.slice(at, from), ...put);
    at = from + removed.length;
  }
  return [...now, ...old.slice(at)].join('\n');
};

// The old and new lines of a hunk; context lines are in both.
const hunkOf = (text: string): { from: number; removed: string[]; put: string[] } => {
  const [first = '', ...lines] = text.replace(/\n$/, '').split('\n');
  const [, start = '0', count = '1'] = /^@@ -(\d+)(?:,(\d+))? /.exec(first) ?? [];
  const without = (sign: string): string[] =>
    lines.filter((line) => ![sign, '\\'].includes(line.charAt(0))).map((line) => line.slice(1));
  const from = Number(start) - (count === '0' ? 0 : 1);
  return { from, removed: without('+'), put: without('-') };
};
