import type { FrontMatter } from './front-matter.ts';

/** What happened, as a line of the log that is a record's body. */
export const logLine = (at: string, line: string): string =>
  `- ${at} ${line.replaceAll(/\s*\n\s*/g, ' ')}`;

/** The body with one more line of log. */
export const withLogLine = (
  { body, eol }: Pick<FrontMatter, 'body' | 'eol'>,
  line: string,
): string => `${body}${body === '' || body.endsWith('\n') ? '' : eol}${line}${eol}`;
