import { visible } from '../../../store/base/visible.ts';

/** Above this many pairs of lines the texts are not compared line by line: all old lines go, all new lines come. */
const MAX_PAIRS = 1_000_000;

/** The lines of both texts; each begins with a blank (in both), `-` (in the first) or `+` (in the second). */
export const diffLines = (
  before: readonly string[],
  after: readonly string[],
  maxPairs = MAX_PAIRS,
): string[] => {
  let [start, end] = [0, 0];
  const least = Math.min(before.length, after.length);
  while (start < least && before[start] === after[start]) start += 1;
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end += 1;
  const removed = before.slice(start, before.length - end);
  const added = after.slice(start, after.length - end);
  return [
    ...before.slice(0, start).map((line) => ` ${line}`),
    ...(removed.length * added.length > maxPairs
      ? [...removed.map((line) => `-${line}`), ...added.map((line) => `+${line}`)]
      : compare(removed, added)),
    ...before.slice(before.length - end).map((line) => ` ${line}`),
  ];
};

const compare = (before: readonly string[], after: readonly string[]): string[] => {
  const common = commonLengths(before, after);
  const lines: string[] = [];
  for (let [i, j] = [0, 0]; i < before.length || j < after.length; ) {
    const sign = signAt(before[i], after[j], common(i + 1, j) >= common(i, j + 1));
    lines.push(sign + ((sign === '+' ? after[j] : before[i]) ?? ''));
    if (sign !== '+') i += 1;
    if (sign !== '-') j += 1;
  }
  return lines;
};

const signAt = (
  before: string | undefined,
  after: string | undefined,
  isRemovedFirst: boolean,
): ' ' | '+' | '-' => {
  if (before === undefined) return '+';
  if (before === after) return ' ';
  return after === undefined || isRemovedFirst ? '-' : '+';
};

/** The length of the longest common subsequence of `a` from line i and `b` from line j. */
const commonLengths = (a: readonly string[], b: readonly string[]) => {
  const width = b.length + 1;
  const lengths = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => lengths[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      lengths[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  return at;
};

type Kind = 'added' | 'removed' | 'header' | 'same';

const kindOf = (line: string): Kind => {
  if (line.startsWith('+')) return 'added';
  return line.startsWith('-') ? 'removed' : 'same';
};

const kindInPatch = (line: string): Kind =>
  /^(?:\+\+\+|---|diff |index |@@)/.test(line) ? 'header' : kindOf(line);

interface DiffLinesProps {
  lines: readonly string[];
  /** The lines are a patch, with the headers of files and hunks. */
  isPatch?: boolean;
}

/** Lines of a difference. Consecutive lines of one kind share an element, because there may be any number of them. */
export const DiffLines = ({ lines, isPatch = false }: DiffLinesProps) => (
  <pre class="diff-lines">
    {runsOf(lines, isPatch ? kindInPatch : kindOf).map(({ kind, text }, at) => {
      if (kind === 'added') return <ins key={at}>{visible(text)}</ins>;
      if (kind === 'removed') return <del key={at}>{visible(text)}</del>;
      return (
        <span key={at} class={kind}>
          {visible(text)}
        </span>
      );
    })}
  </pre>
);

const runsOf = (lines: readonly string[], kindFor: (line: string) => Kind) => {
  const runs: { kind: Kind; text: string }[] = [];
  for (const line of lines) {
    const kind = kindFor(line);
    const last = runs.at(-1);
    if (last?.kind === kind) last.text += `\n${line}`;
    else runs.push({ kind, text: line });
  }
  return runs;
};

/** The difference of two texts, line by line. */
export const TextDiff = ({ before, after }: { before: string; after: string }) => (
  <DiffLines lines={diffLines(before.split('\n'), after.split('\n'))} />
);

const MAX_PATCH_LINES = 600;

/** A patch, up to 600 lines of it. */
export const Patch = ({ diff }: { diff: string }) => {
  if (diff.trim() === '') return <p class="quiet">No changes.</p>;
  const lines = diff.replace(/\n$/, '').split('\n');
  const hidden = lines.length - MAX_PATCH_LINES;
  return (
    <>
      <DiffLines lines={lines.slice(0, MAX_PATCH_LINES)} isPatch />
      {hidden > 0 && <p class="quiet">{`${hidden} more lines.`}</p>}
    </>
  );
};
