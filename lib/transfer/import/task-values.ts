/** A value as a text; empty for none. */
export const textOf = (value: unknown): string => {
  if (value === undefined || value === null) return '';
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** The text as it is read back once it was written: half of a character is none. */
export const wellFormed = (text: string): string => Buffer.from(text).toString('utf8');

/** One value, or many, as texts. */
export const listOf = (value: unknown): string[] => {
  if (value === undefined || value === null) return [];
  return (Array.isArray(value) ? value : [value]).map(textOf);
};

/** A mapping's values; none of what is no mapping. */
export const mapOf = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};

/** How a state says that a task was given up. */
export const GIVEN_UP = /^(?:won.?t|cancel|reject|abandon|invalid|duplicate|obsolete)/i;

const DATE =
  /^(\d{4}-\d{2}-\d{2})(?:[ T](\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?) ?(Z|[+-]\d{2}:\d{2})?)?$/;
const OLD_DATE = /^(\d{2})[-/.](\d{2})[-/.](\d{2})$/;

/**
 * A time as tools write it: a text, or the milliseconds since 1970; one that names no zone is UTC. Undefined for what is
 * none, such as the year 1 of a program that had no time to write.
 */
export const timeOf = (value: unknown): Date | undefined => {
  const time = typeof value === 'number' ? new Date(value) : timeIn(textOf(value).trim());
  return time.getTime() >= 0 && time.getTime() < LAST ? time : undefined;
};

const LAST = Date.UTC(10_000);

const timeIn = (text: string): Date => {
  const [, day = '', month, year] = OLD_DATE.exec(text) ?? [];
  const [, date = '', clock = '00:00', zone = 'Z'] =
    DATE.exec(day === '' ? text : `20${year}-${month}-${day}`) ?? [];
  return new Date(`${date}T${clock}${zone}`);
};
