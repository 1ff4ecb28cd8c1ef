import { fenceOff } from '../../../store/base/text.ts';
import { shellBlocks } from '../../text/markdown/fences.ts';

/** A section of a document, or nothing where it would be empty. */
export const section = (heading: string, body: string | readonly string[] | null): string[] => {
  const text = (typeof body === 'string' ? body : (body ?? []).join('\n')).trim();
  return text === '' ? [] : [`## ${heading}`, text];
};

/** Untrusted text on one line, which can open neither a code block nor a comment. */
export const plainLine = (text: string, most = 300): string => {
  const line = text
    .replace(/\s+/g, ' ')
    .replace(/`{3,}|~{3,}/g, "''")
    .replaceAll('<!--', '&lt;!--')
    .trim();
  return line.length <= most ? line : `${line.slice(0, most - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
};

/** The first sentence of untrusted text, on one line and without its full stop. */
export const firstSentence = (text: string): string => {
  const line = plainLine(text.replace(/(`{3,}|~{3,})[\s\S]*$/, ''), 1000);
  return plainLine(/^.{10,200}?[.!?](?= |$)/.exec(line)?.[0] ?? line, 200).replace(/\.$/, '');
};

/** Text as inline code. */
export const asCode = (text: string): string => `\`${plainLine(text).replaceAll('`', "'")}\``;

/** Untrusted code or logs in a block, never with a language that is executed. */
export const asTextBlock = (text: string, language: string | null = null): string => {
  const safe = language !== null && /^[a-z0-9+#-]{1,20}$/.test(language) && !SHELL.test(language);
  const most = text.length > MOST ? `${text.slice(0, MOST)}\n… (the rest is in the issue)` : text;
  return fenceOff(most, safe ? language : 'text');
};

const MOST = 6000;
const SHELL = /^(?:ba|z|fi|c|k|da|a)?sh|^shell|^console/;

/**
 * Untrusted text must not become a block that the runbook runs. Shell blocks become text; if a shell block would still
 * be recognized, all fences are removed.
 */
export const withoutCommands = (markdown: string): string => {
  const text = markdown.replace(FENCE, '$1text');
  return shellBlocks(text).length === 0 ? text : text.replace(/`{3,}|~{3,}/g, "''");
};

const FENCE = /((?:(?<!`)`{3,}|(?<!~)~{3,})[ \t]*)(?:sh|shell|bash)(?=[ \t\n]|$)/gi;
