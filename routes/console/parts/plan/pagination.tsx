import type { Place, Placed } from './places.ts';

/** The parts from `start` to before `end`. */
interface Sheet {
  start: number;
  end: number;
}

/** About how many elements a page has for a plan. */
const MOST = 2000;

/** A long plan in sheets, each of which a page can show. There is one at least. */
export const sheetsOf = (parts: readonly { weight: number }[]): readonly Sheet[] => {
  const sheets: Sheet[] = [{ start: 0, end: parts.length }];
  let left = MOST;
  for (const [at, { weight }] of parts.entries()) {
    left -= weight;
    const last = sheets.at(-1) as Sheet;
    if (left >= 0 || last.start === at) continue;
    last.end = at;
    sheets.push({ start: at, end: parts.length });
    left = MOST - weight;
  }
  return sheets;
};

/** The sheet with a line. */
export const sheetAt = (sheets: readonly Sheet[], parts: readonly Place[], line: number): Sheet =>
  (sheets.findLast(({ start }) => (parts[start]?.line ?? 1) <= line) ?? sheets[0]) as Sheet;

interface SheetsProps {
  sheets: readonly Sheet[];
  here: Sheet;
  parts: readonly Place[];
  now: Placed;
  before: Placed;
  path: string;
}

/** Which lines are shown, the way to the others, and where on those something was said. */
export const Sheets = ({ sheets, here, parts, now, before, path }: SheetsProps) => {
  if (sheets.length < 2) return null;
  const at = sheets.indexOf(here);
  const lineOf = (part: number): number => parts[part]?.line ?? 1;
  const to = (sheet: Sheet): string =>
    `${path}${path.includes('?') ? '&' : '?'}from=${lineOf(sheet.start)}`;
  const [previous, next] = [sheets[at - 1], sheets[at + 1]];
  const last = next === undefined ? undefined : lineOf(next.start) - 1;
  const said = sheets.filter(
    (sheet) =>
      sheet !== here &&
      [...now.keys(), ...before.keys()].some((part) => part >= sheet.start && part < sheet.end),
  );
  return (
    <nav class="plan-sheets line" aria-label="Parts of this plan">
      <strong>
        {`This is a part: lines ${lineOf(here.start)} to ${last ?? 'the end'}. Part ${at + 1} of ${sheets.length}.`}
      </strong>
      {previous && (
        <a class="button" href={to(previous)} data-key="p">
          Part before
        </a>
      )}
      {next && (
        <a class="button" href={to(next)} data-key="n">
          Next part
        </a>
      )}
      {said.slice(0, 20).map((sheet) => (
        <a key={sheet.start} href={to(sheet)}>
          {`Comments from line ${lineOf(sheet.start)}`}
        </a>
      ))}
    </nav>
  );
};
