/** What ends an HTML block: a blank line, or a line in which this is found. */
export type HtmlEnd = 'blank' | RegExp;

// CommonMark's block elements: a tag of one of these begins HTML wherever a line begins with it.
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
 * What ends the HTML block that `rest` begins; undefined when it begins none. A lone tag does not interrupt
 * text, but where text goes on without the marks of its quote or list.
 */
export const htmlBlockEnd = (rest: string, inText: boolean): HtmlEnd | undefined => {
  if (!rest.startsWith('<')) return undefined;
  const kind = KINDS.find(([start]) => start.test(rest));
  if (kind !== undefined) return kind[1];
  return !inText && WHOLE_TAG.test(rest) ? 'blank' : undefined;
};
