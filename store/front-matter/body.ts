import { fenceFor } from '../base/text.ts';
import type { FrontMatter } from './front-matter.ts';

/** A text under a heading in a record's body. */
interface TextSection {
  heading: string;
  text: string;
}

/** Renders texts under their headings, in fences longer than any fence inside. */
export const renderSections = (sections: readonly TextSection[]): string =>
  sections.map(sectionOf).join('');

const sectionOf = ({ heading, text }: TextSection): string => {
  const fence = fenceFor(text);
  return `\n## ${heading}\n\n${fence}markdown\n${text}\n${fence}\n`;
};

const SECTION = /^## (.*)\n\n(`{3,})markdown\n/gm;

/** Parses the sections of such a body. Text between sections is ignored. */
export const parseSections = (body: string): TextSection[] => {
  const lines = body.replaceAll('\r\n', '\n');
  const pattern = new RegExp(SECTION);
  const sections: TextSection[] = [];
  for (let found = pattern.exec(lines); found !== null; found = pattern.exec(lines)) {
    const [, heading = '', fence = ''] = found;
    const end = lines.indexOf(`\n${fence}\n`, pattern.lastIndex - 1);
    if (end < 0) break;
    sections.push({ heading, text: lines.slice(pattern.lastIndex, end) });
    pattern.lastIndex = end + fence.length + 2;
  }
  return sections;
};

/** A log line for a record's body. */
export const logLine = (at: string, line: string): string =>
  `- ${at} ${line.replaceAll(/\s*\n\s*/g, ' ')}`;

/** A record's body with a log line added. */
export const withLogLine = (
  { body, eol }: Pick<FrontMatter, 'body' | 'eol'>,
  line: string,
): string => `${body}${body === '' || body.endsWith('\n') ? '' : eol}${line}${eol}`;
