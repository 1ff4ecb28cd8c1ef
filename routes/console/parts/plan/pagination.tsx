import type { PlacedComments, PlanPart } from './places.ts';

/** The parts from `start` to before `end`. */
interface PlanPage {
  start: number;
  end: number;
}

/** The approximate number of elements on a page. */
const MOST = 2000;

/** Splits a long plan into pages. There is at least one. */
export const paginate = (parts: readonly { weight: number }[]): readonly PlanPage[] => {
  const pages: PlanPage[] = [{ start: 0, end: parts.length }];
  let left = MOST;
  for (const [at, { weight }] of parts.entries()) {
    left -= weight;
    const last = pages.at(-1) as PlanPage;
    if (left >= 0 || last.start === at) continue;
    last.end = at;
    pages.push({ start: at, end: parts.length });
    left = MOST - weight;
  }
  return pages;
};

/** The page that has a line. */
export const pageAtLine = (
  pages: readonly PlanPage[],
  parts: readonly PlanPart[],
  line: number,
): PlanPage =>
  (pages.findLast(({ start }) => (parts[start]?.line ?? 1) <= line) ?? pages[0]) as PlanPage;

interface SheetsProps {
  pages: readonly PlanPage[];
  here: PlanPage;
  parts: readonly PlanPart[];
  now: PlacedComments;
  before: PlacedComments;
  path: string;
}

/** Links to the other pages, and to those with comments. */
export const PlanPages = ({ pages, here, parts, now, before, path }: SheetsProps) => {
  if (pages.length < 2) return null;
  const at = pages.indexOf(here);
  const lineOf = (part: number): number => parts[part]?.line ?? 1;
  const to = (sheet: PlanPage): string =>
    `${path}${path.includes('?') ? '&' : '?'}from=${lineOf(sheet.start)}`;
  const [previous, next] = [pages[at - 1], pages[at + 1]];
  const last = next === undefined ? undefined : lineOf(next.start) - 1;
  const said = pages.filter(
    (sheet) =>
      sheet !== here &&
      [...now.keys(), ...before.keys()].some((part) => part >= sheet.start && part < sheet.end),
  );
  return (
    <nav class="plan-sheets line" aria-label="Parts of this plan">
      <strong>
        {`Part ${at + 1} of ${pages.length}: lines ${lineOf(here.start)} to ${last ?? 'the end'}.`}
      </strong>
      {previous && (
        <a class="button" href={to(previous)} data-key="p">
          Previous part
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
