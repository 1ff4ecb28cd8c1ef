import { visible } from '../../../../store/base/visible.ts';

type Line = readonly [sign: ' ' | '+' | '-', text: string];

/** In lines of one times lines of the other: beyond it all of the one goes and all of the other comes. */
const MOST = 1_000_000;

/** What a version of a plan changed of the one before, line by line. */
export const PlanDiff = ({ before, now }: { before: string; now: string }) => {
  const lines = linesOf(before.split('\n'), now.split('\n'));
  return (
    <pre class="changes">
      {runsIn(lines).map(({ sign, texts }, at) => (
        <Changed key={at} sign={sign} texts={texts} />
      ))}
    </pre>
  );
};

interface Run {
  sign: Line[0];
  texts: string[];
}

// One element for all of a kind that stand together: a plan may have any number of lines.
const runsIn = (lines: readonly Line[]): Run[] => {
  const runs: Run[] = [];
  for (const [sign, text] of lines) {
    const last = runs.at(-1);
    if (last?.sign === sign) last.texts.push(text);
    else runs.push({ sign, texts: [text] });
  }
  return runs;
};

const Changed = ({ sign, texts }: Run) => {
  const words = texts.map((text) => `${sign} ${visible(text)}\n`).join('');
  if (sign === '+') return <ins>{words}</ins>;
  return sign === '-' ? <del>{words}</del> : <span>{words}</span>;
};

const linesOf = (before: readonly string[], now: readonly string[]): Line[] => {
  let [from, cut] = [0, 0];
  const least = Math.min(before.length, now.length);
  while (from < least && before[from] === now[from]) from += 1;
  while (cut < least - from && before.at(-1 - cut) === now.at(-1 - cut)) cut += 1;
  const same = (text: string): Line => [' ', text];
  return [
    ...before.slice(0, from).map(same),
    ...between(before.slice(from, before.length - cut), now.slice(from, now.length - cut)),
    ...before.slice(before.length - cut).map(same),
  ];
};

const between = (a: readonly string[], b: readonly string[]): Line[] => {
  if (a.length * b.length > MOST)
    return [...a.map((text): Line => ['-', text]), ...b.map((text): Line => ['+', text])];
  const same = sameFrom(a, b);
  const lines: Line[] = [];
  for (let [i, j] = [0, 0]; i < a.length || j < b.length; ) {
    const sign = signAt(a[i], b[j], same(i + 1, j) >= same(i, j + 1));
    lines.push([sign, (sign === '+' ? b[j] : a[i]) ?? '']);
    if (sign !== '+') i += 1;
    if (sign !== '-') j += 1;
  }
  return lines;
};

const signAt = (a: string | undefined, b: string | undefined, goes: boolean): Line[0] => {
  if (a === undefined) return '+';
  if (a === b) return ' ';
  return b === undefined || goes ? '-' : '+';
};

/** How many lines, from these two on, both have in the same order. */
const sameFrom = (a: readonly string[], b: readonly string[]) => {
  const width = b.length + 1;
  const counts = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number): number => counts[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i -= 1)
    for (let j = b.length - 1; j >= 0; j -= 1)
      counts[i * width + j] =
        a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  return at;
};
