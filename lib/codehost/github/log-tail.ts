import { visibleOutput } from '../../../store/base/visible.ts';
import { lastWithin } from '../../text/wording.ts';

/** The times of a step by the clock of its runner, in whole seconds. */
export interface StepTimes {
  started_at: string | null;
  completed_at: string | null;
}

/** Reads a log in chunks of any size, and keeps the last lines of one step. */
interface LogTail {
  /** Returns `enough` after the end of the step. */
  take(text: string): 'more' | 'enough';
  /** The last lines without timestamps and colors, with control characters made visible. Of the whole log if no line matches the step. */
  read(): string;
}

const MOST_LINES = 200;
const MOST_CHARACTERS = 16_384;
const LONGEST_LINE = 4096;

/** Finds the end of a step in the log of its job. The log has no steps, so lines are assigned by their timestamps. */
export const createLogTail = (step: StepTimes): LogTail => {
  const [own, all] = [createTail(), createTail()];
  const positionOf = withinStep(step);
  const line = createLine();
  let over = false;
  const add = (line: string): void => {
    const { time, text } = partsOf(line);
    const where = positionOf(time, text);
    over ||= where === 'after';
    if (over) return;
    all.add(text);
    if (where === 'in') own.add(text);
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

// The first line begins with a byte order mark.
const TIMED = /^\uFEFF?(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.\d+Z ?/;

const SHORTEST_TIME = '2026-01-01T10:00:00.0Z'.length;

const partsOf = (line: string): { time: number | undefined; text: string } => {
  const [stamp, time] = line.length < SHORTEST_TIME ? [] : (TIMED.exec(line) ?? []);
  if (stamp === undefined) return { time: undefined, text: line };
  return { time: Date.parse(`${time}Z`), text: line.slice(stamp.length) };
};

const SECOND_MS = 1000;
const NEXT_STEP = /^(?:##\[group\]Run |Post job cleanup\.)/;

/**
 * Whether a line comes before, in or after the step. Times are not exact, so the step ends only after its `##[error]`
 * line, and the next step may begin within the same second.
 */
const withinStep = ({ started_at, completed_at }: StepTimes) => {
  const from = started_at === null ? Number.POSITIVE_INFINITY : Date.parse(started_at);
  const to = completed_at === null ? Number.POSITIVE_INFINITY : Date.parse(completed_at);
  let [now, failed] = [Number.NEGATIVE_INFINITY, false];
  return (time: number | undefined, text: string): 'before' | 'in' | 'after' => {
    // A line without a timestamp continues the previous one.
    now = time ?? now;
    if (now < from) return 'before';
    const isNext = now >= to && NEXT_STEP.test(text);
    if (failed && (now > to + SECOND_MS || isNext)) return 'after';
    failed ||= text.startsWith('##[error]');
    return 'in';
  };
};

/** Buffers an incomplete line, up to the length that is shown. */
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

/** The last lines. */
const createTail = () => {
  const lines: string[] = [];
  let count = 0;
  return {
    isEmpty: (): boolean => count === 0,
    add: (line: string): void => {
      lines.push(line);
      if (lines.length > MOST_LINES) lines.shift();
      count += 1;
    },
    read: (): string => {
      const shown = fitting(visibleOutput(lines.join('\n')).split('\n'));
      const less = count - shown.length;
      return [...(less > 0 ? [`[… ${less} lines before]`] : []), ...shown].join('\n');
    },
  };
};

// The last lines that fit; if the last one alone is too long, its beginning.
const fitting = (lines: readonly string[]): string[] => {
  const shown = lastWithin(lines, MOST_CHARACTERS, (line) => `${line}\n`);
  return shown.length > 0 ? shown : lines.slice(-1).map((line) => line.slice(0, MOST_CHARACTERS));
};
