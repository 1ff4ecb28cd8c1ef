import type { ConfigEntry } from './config-text.ts';

const PIECES = [
  '(?<blank>\\s+|[#;][^\\n]*)',
  '\\[(?<section>[A-Za-z0-9.-]+)(?:[ \\t]+"(?<sub>(?:[^"\\\\\\n]|\\\\[^\\n])*)")?\\]',
  '(?<name>[A-Za-z][A-Za-z0-9-]*)[ \\t]*(?:=(?<value>(?:[^\\n"\\\\#;]|\\\\[ntb"\\\\\\n]|"(?:[^"\\\\\\n]|\\\\[ntb"\\\\\\n])*")*)|(?=[\\n#;]|$))',
].join('|');

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', t: '\t', b: '\b', '\n': '' };

/**
 * What a file of git's settings says, as git reads it, an entry each: one that includes a file is an entry as others are.
 * Undefined where git would not read it.
 */
export const entriesOfFile = (file: string): ConfigEntry[] | undefined => {
  const text = file.replace(/^(?:\uFEFF|\xEF\xBB\xBF)/, '').replaceAll('\r\n', '\n');
  const piece = new RegExp(PIECES, 'y');
  const found: ConfigEntry[] = [];
  let prefix: string | undefined;
  while (piece.lastIndex < text.length) {
    const { section, sub, name, value } = piece.exec(text)?.groups ?? { name: '' };
    if (section !== undefined) prefix = prefixOf(section, sub);
    if (name === undefined) continue;
    if (name === '' || prefix === undefined) return undefined;
    found.push({ key: prefix + name.toLowerCase(), value: value && plainValue(value) });
  }
  return found;
};

const prefixOf = (section: string, sub: string | undefined): string =>
  sub === undefined
    ? `${section.toLowerCase()}.`
    : `${section.toLowerCase()}.${sub.replaceAll(/\\(.)/g, '$1')}.`;

const plainValue = (written: string): string =>
  written
    .trim()
    .replaceAll(/"|\\([\s\S])/g, (_, escaped?: string) =>
      escaped === undefined ? '' : (ESCAPED[escaped] ?? escaped),
    );
