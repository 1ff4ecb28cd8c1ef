/** The images of a Markdown text, by their addresses over https, each once, in the order in which they are shown. */
export const imagesIn = (markdown: string): string[] => {
  const text = markdown.slice(0, MOST_TEXT);
  const found = [...text.matchAll(MARKDOWN), ...[...text.matchAll(TAG)].flatMap(sourceOf)];
  const inOrder = found.toSorted((a, b) => (a.index ?? 0) - (b.index ?? 0));
  return [...new Set(inOrder.flatMap(([, url]) => url ?? []))];
};

const MOST_TEXT = 262_144;

// An address holds nothing that is not seen. Bounded, and no part of one match can be in the next: no text takes long.
const MARKDOWN = /!\[[^[\]\n]{0,300}\]\(<?(https:\/\/[!#-&*-;=?-~]{1,2000})(?=[\s)>])/g;
const TAG = /<img\s[^<>]{1,3000}>/gi;
const SOURCE = /\ssrc\s*=\s*["']?(https:\/\/[!#-&(-;=?-~]{1,2000})(?=[\s"'>])/i;

const sourceOf = (tag: RegExpExecArray): RegExpExecArray[] => {
  const source = SOURCE.exec(tag[0]);
  if (source === null) return [];
  source.index = tag.index;
  return [source];
};
