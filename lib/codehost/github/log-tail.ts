import { visibleOutput } from '../../../store/base/visible.ts';

/** When a step ran, by the clock of its runner, in whole seconds. */
export interface StepTimes {
  started_at: string | null;
  completed_at: string | null;
}

/** Takes a log in pieces of any size, and keeps of one step what it said last. */
interface LogTail {
  /** Enough: the step is over, and nothing of what follows is its own. */
  take(text: string): 'more' | 'enough';
  /** Without times and colours, everything else in it to be seen. Where no line is of that time, the end of all. */
  read(): string;
}

const MOST_LINES = 200;
const MOST_CHARACTERS = 16_384;
const LONGEST_LINE = 4096;

/** The end of a step in the log of its job, which knows of no steps: by the time that stands before each line. */
export const createLogTail = (step: StepTimes): LogTail => {
  const [own, all] = [createTail(), createTail()];
  const isOwn = withinStep(step);
  const line = createLine();
  let over = false;
  const add = (text: string): void => {
    const { time, said } = partsOf(text);
    const where = isOwn(time, said);
    over ||= where === 'after';
    if (over) return;
    all.add(said);
    if (where === 'in') own.add(said);
  };
  return {
    take: (text) => {
      line.add(text, add);
      return over ? 'enough' : 'more';
    },
    read: () => {
      line.end(add);
      return (own.isEmpty() ? all : own).read();
    },
  };
};

// A zero width mark stands at the beginning of the first.
const TIMED = /^\uFEFF?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z ?/;

const SHORTEST_TIME = '2026-01-01T10:00:00.0Z'.length;

const partsOf = (line: string): { time: number | undefined; said: string } => {
  const [stamp, time] = line.length < SHORTEST_TIME ? [] : (TIMED.exec(line) ?? []);
  if (stamp === undefined) return { time: undefined, said: line };
  return { time: Date.parse(`${time}Z`), said: line.slice(stamp.length) };
};

const SECOND_MS = 1000;
const NEXT_STEP = /^(?:##\[group\]Run |Post job cleanup\.)/;

/**
 * Whether a line is of the step. What fails says so in its last lines, and the times are not exact: before that the step
 * is not over, and after it the next one may begin within the same second.
 */
const withinStep = ({ started_at, completed_at }: StepTimes) => {
  const from = started_at === null ? Number.POSITIVE_INFINITY : Date.parse(started_at);
  const to = completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(completed_at);
  let [now, failed] = [Number.NEGATIVE_INFINITY, false];
  return (time: number | undefined, said: string): 'before' | 'in' | 'after' => {
    // A line without a time goes on with the one before.
    now = time ?? now;
    if (now < from) return 'before';
    const isNext = now >= to && NEXT_STEP.test(said);
    if (failed && (now > to + SECOND_MS || isNext)) return 'after';
    failed ||= said.startsWith('##[error]');
    return 'in';
  };
};

/** The line that is not whole yet, of which no more is kept than is shown. */
const createLine = () => {
  let [kept, length] = ['', 0];
  const flush = (add: (line: string) => void): void => {
    const more = length - kept.length;
    const line = more === 0 ? kept : `${kept} [… ${more} more characters]`;
    kept = '';
    length = 0;
    add(line.endsWith('\r') ? line.slice(0, -1) : line);
  };
  const grow = (part: string): void => {
    const room = LONGEST_LINE - kept.length;
    kept += part.length > room ? part.slice(0, room) : part;
    length += part.length;
  };
  return {
    add: (text: string, add: (line: string) => void): void => {
      let from = 0;
      for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', from)) {
        grow(text.slice(from, at));
        flush(add);
        from = at + 1;
      }
      grow(text.slice(from));
    },
    end: (add: (line: string) => void): void => {
      if (length > 0) flush(add);
    },
  };
};

/** The last lines of many. */
const createTail = () => {
  // Each new one takes the place of the oldest.
  const ring: string[] = [];
  let count = 0;
  return {
    isEmpty: (): boolean => count === 0,
    add: (line: string): void => {
      ring[count % MOST_LINES] = line;
      count += 1;
    },
    read: (): string => {
      const oldest = count % MOST_LINES;
      const lines = count > MOST_LINES ? [...ring.slice(oldest), ...ring.slice(0, oldest)] : ring;
      const shown = fitting(visibleOutput(lines.join('\n')).split('\n'));
      const less = count - shown.length;
      return [...(less > 0 ? [`[… ${less} lines before]`] : []), ...shown].join('\n');
    },
  };
};

// As many of the last lines as there is room for; of the very last one, what there is room for.
const fitting = (lines: readonly string[]): string[] => {
  let room = MOST_CHARACTERS;
  const first = lines.findLastIndex((line) => {
    room -= line.length + 1;
    return room < 0;
  });
  const shown = lines.slice(first + 1);
  return shown.length > 0 ? shown : lines.slice(-1).map((line) => line.slice(0, MOST_CHARACTERS));
};
