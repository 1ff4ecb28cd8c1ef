import type { ImportResult } from '../records/import-job.ts';

/** An issue that is done, as a line of its job's record. */
export const resultLine = ({ number, outcome, case_id, detail }: ImportResult): string =>
  [`- #${number} ${outcome}`, case_id, detail?.replaceAll(/\s*[\r\n]+\s*/g, ' ')]
    .filter((part) => part !== undefined)
    .join(' ');

const RESULT =
  /^- #(\d{1,15}) (imported|exists|failed)(?: ([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}))?(?: (.*))?$/;

/** The issues that a job's record says are done; the last line about one counts. */
export const parseResults = (body: string): ImportResult[] => {
  const found = new Map<number, ImportResult>();
  for (const line of body.split(/\r?\n/)) {
    const [, number, outcome, case_id, detail] = RESULT.exec(line) ?? [];
    if (number === undefined) continue;
    found.set(Number(number), {
      number: Number(number),
      outcome: outcome as ImportResult['outcome'],
      ...(case_id !== undefined && { case_id }),
      ...(detail !== undefined && { detail }),
    });
  }
  return [...found.values()];
};
