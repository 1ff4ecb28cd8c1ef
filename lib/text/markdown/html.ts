/** The end condition of an HTML block: a blank line, or a line that matches. */
export type HtmlEnd = 'blank' | RegExp;

// CommonMark's block elements: a line that begins with one of these tags starts an HTML block.
const BLOCK_TAGS =
  'address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div|dl|dt|' +
  'fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link|main|menu|' +
  'menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th|thead|title|tr|' +
  'track|ul';

const ATTRIBUTE = '(?:\\s+[a-z_:][a-z0-9:._-]*(?:\\s*=\\s*(?:[^"\'=<>`\\s]+|\'[^\']*\'|"[^"]*"))?)';
const WHOLE_TAG = new RegExp(
  `^(?:<[a-z][a-z0-9-]*${ATTRIBUTE}*\\s*/?>|</[a-z][a-z0-9-]*\\s*>)\\s*$`,
  'i',
);

const KINDS: [start: RegExp, end: HtmlEnd][] = [
  [/^<(?:script|pre|textarea|style)(?:\s|>|$)/i, /<\/(?:script|pre|textarea|style)>/i],
  [/^<!--/, /-->/],
  [/^<\?/, /\?>/],
  [/^<![a-z]/i, />/],
  [/^<!\[CDATA\[/, /\]\]>/],
  [new RegExp(`^</?(?:${BLOCK_TAGS})(?:\\s|/?>|$)`, 'i'), 'blank'],
];

/**
 * The end condition of the HTML block that `rest` begins, or undefined. A line with only a tag does not interrupt a
 * paragraph, except in a lazy continuation.
 */
export const htmlBlockEnd = (rest: string, inText: boolean): HtmlEnd | undefined => {
  if (!rest.startsWith('<')) return undefined;
  const kind = KINDS.find(([start]) => start.test(rest));
  if (kind !== undefined) return kind[1];
  return !inText && WHOLE_TAG.test(rest) ? 'blank' : undefined;
};
