import type { Nodes } from 'mdast';

/**
 * Markdown that somebody else wrote, as it may stand in what is published: it notifies nobody (`@name`), closes no issue
 * (`fixes #1`), and hides nothing (`<!-- … -->`). Code stays letter for letter: there nothing of this works anyway.
 */
export const harmless = async (markdown: string): Promise<string> => {
  if (!RISKY.test(markdown)) return markdown;
  const { fromMarkdown } = await import('mdast-util-from-markdown');
  const code = codeIn(fromMarkdown(markdown));
  let done = 0;
  const parts: string[] = [];
  for (const [start, end] of code) {
    parts.push(disarmed(markdown.slice(done, start)), markdown.slice(start, end));
    done = end;
  }
  return [...parts, disarmed(markdown.slice(done))].join('');
};

const RISKY = /@|<!|\b(?:close|fix|resolve)/i;

// From where to where code goes, in order.
const codeIn = (node: Nodes): [start: number, end: number][] => {
  if (node.type === 'code' || node.type === 'inlineCode') {
    const { start, end } = node.position ?? {};
    return [[start?.offset ?? 0, end?.offset ?? 0]];
  }
  return 'children' in node ? node.children.flatMap(codeIn) : [];
};

// A word joiner is not seen, and ends the name, the keyword and the comment for the host.
const disarmed = (text: string): string =>
  text
    .replaceAll(/(?<![\w`])@(?=\w)/g, `@${JOINER}`)
    .replaceAll(
      /\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=:?\s+\S*(?:#\d|\/issues\/\d|GH-\d))/gi,
      `$1${JOINER}`,
    )
    .replaceAll('<!', `<${JOINER}!`);

const JOINER = '\u2060';

/** The same as a quotation, which also ends what is left open in it. */
export const quoted = async (markdown: string): Promise<string> =>
  (await harmless(markdown))
    .trim()
    .split('\n')
    .map((line) => `> ${line}`.trimEnd())
    .join('\n');
