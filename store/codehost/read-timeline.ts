import { lineParserOf } from '../front-matter/parse.ts';
import { Problem } from '../front-matter/problem.ts';
import { PullTransition } from '../records/pull-request.ts';

/** The transition of one line of timeline.ndjson. */
export const parseTransition = lineParserOf(PullTransition);

/** The whole of timeline.ndjson, where it can be read; else the Problem of its first bad line. */
export const parseTimeline = (text: string): PullTransition[] => {
  const lines = text.split('\n');
  return lines.flatMap((line, at) => {
    if (line.trim() === '') return [];
    const transition = parseTransition(line);
    if (transition !== undefined) return [transition];
    const isLast = at === lines.length - 1;
    throw new Problem('bad_line', isLast ? TORN : BROKEN, { line: at + 1, column: 1 });
  });
};

const TORN =
  'The last line was torn by a crash, and never counted. The next line that is added takes its place';
const BROKEN =
  'The line is not a transition of a pull request, and is left out. Mend it, or remove it';
