import { fenceFor } from '../base/text.ts';

/** A text under a heading, as a record's body holds several. */
export interface TextSection {
  heading: string;
  text: string;
}

/** Each text under its heading, between fences that nothing in it can end. */
export const renderSections = (sections: readonly TextSection[]): string =>
  sections.map(sectionOf).join('');

const sectionOf = ({ heading, text }: TextSection): string => {
  const fence = fenceFor(text);
  return `\n## ${heading}\n\n${fence}markdown\n${text}\n${fence}\n`;
};

const SECTION = /^## (.*)\n\n(`{3,})markdown\n/gm;

/** The sections of such a body; what an operator wrote between them is none. */
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
