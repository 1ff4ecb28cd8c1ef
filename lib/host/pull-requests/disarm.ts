import { codeSpans } from '../../text/markdown/code-spans.ts';
import { type Leaf, readLeaves } from '../../text/markdown/leaves.ts';

/**
 * Untrusted Markdown that is safe to publish: it notifies no user (`@name`), closes no issue (`fixes #1`) and hides
 * nothing (`<!-- … -->`). Code stays unchanged, because none of this works there.
 */
export const disarmMarkdown = (markdown: string): string => {
  if (!RISKY.test(markdown)) return markdown;
  let text = markdown;
  // A disarmed comment may have hidden the beginning of a block, so the text is parsed again.
  for (let round = 0; round < ROUNDS; round += 1) {
    const before = text;
    text = disarmOutsideCode(before);
    if (text === before) return text;
  }
  return disarmed(text);
};

const ROUNDS = 4;

const disarmOutsideCode = (markdown: string): string => {
  let done = 0;
  const parts: string[] = [];
  for (const [start, end] of codeIn(markdown)) {
    parts.push(disarmed(markdown.slice(done, start)), markdown.slice(start, end));
    done = end;
  }
  return [...parts, disarmed(markdown.slice(done))].join('');
};

const RISKY = /@|<!|\b(?:close|fix|resolve)/i;

type Span = [start: number, end: number];

// The ranges of code, in order.
const codeIn = (markdown: string): Span[] => {
  // Below a footnote the host reads indented text as text, not as code.
  const indented = !markdown.includes('[^');
  return readLeaves(markdown).leaves.flatMap((leaf): Span[] => {
    if (leaf.kind === 'fence' || (leaf.kind === 'indented' && indented))
      return [[leaf.start, leaf.end]];
    return leaf.kind === 'paragraph' || leaf.kind === 'heading' ? spansIn(leaf) : [];
  });
};

const spansIn = ({ lines }: Leaf): Span[] => {
  const spans = codeSpans(lines.map(({ text }) => text).join('\n'));
  let [line, before] = [0, 0];
  const placeOf = (at: number): number => {
    for (;;) {
      const { text = '', at: start = 0 } = lines[line] ?? {};
      if (at - before <= text.length) return start + at - before;
      before += text.length + 1;
      line += 1;
    }
  };
  return spans.map(([start, end]) => [placeOf(start), placeOf(end)]);
};

// A word joiner is invisible and ends the name, the keyword or the comment for the host.
const disarmed = (text: string): string =>
  text
    .replaceAll(/(?<!\w)@(?=\w)/g, `@${JOINER}`)
    .replaceAll(
      /\b(close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?=:?\s+\S*(?:#\d|\/issues\/\d|GH-\d))/gi,
      `$1${JOINER}`,
    )
    .replaceAll('<!', `<${JOINER}!`);

const JOINER = '\u2060';

/** The same as a quotation, which also closes open blocks. */
export const quoteMarkdown = (markdown: string): string =>
  // Code is detected after quoting, because the quotation mark moves tab stops.
  disarmMarkdown(
    markdown
      .trim()
      .split(/\r\n|\n|\r/)
      .map((line) => `> ${line}`.trimEnd())
      .join('\n'),
  );
