/** One comment of the operator on a plan, as in comments.md. */
export interface PlanComment {
  /** The quoted text of the plan; empty for a comment on the whole plan. */
  quote: string;
  text: string;
  /** The offsets in the file, in characters. */
  start: number;
  end: number;
}

/** Comments that were sent to the agent together. */
interface SentRound {
  at: string;
  /** The start of the plan's hash, if the file has it. */
  plan: string | undefined;
  comments: PlanComment[];
}

interface PlanComments {
  rounds: SentRound[];
  unsent: PlanComment[];
  /** The source text of the unsent comments; empty if there are none. */
  pending: string;
  /** Quotes without a comment below them. */
  bare: string[];
}

// Formatters of Markdown, such as Prettier, write `_` for `*`.
const SENT = /^(?:\*|_)Sent (\d{4}-[^,*_]*)(?:, on plan ([0-9a-f]{6,64}))?\.?(?:\*|_)\s*$/;
const QUOTED = /^ {0,3}> ?/;
// The start of a line of a comment that would read as a quote or as the end of a round.
const MISREAD = /^(?=\\* {0,3}>|\\*[*_]Sent )/;

/**
 * Parses comments.md: quotes with comments below them. Any other text belongs to the comment above it. A line `*Sent …*`
 * ends a round of comments that were sent together.
 */
export const readComments = (text: string): PlanComments => {
  const rounds: SentRound[] = [];
  let [from, at] = [0, 0];
  for (const line of text.split('\n')) {
    const [, sent, plan] = SENT.exec(line) ?? [];
    if (sent !== undefined) {
      rounds.push({ at: sent, plan, comments: commentsIn(text, from, at).comments });
      from = at + line.length + 1;
    }
    at += line.length + 1;
  }
  const { comments: unsent, bare } = commentsIn(text, from, text.length);
  return { rounds, unsent, bare, pending: unsent.length === 0 ? '' : text.slice(from).trim() };
};

const commentsIn = (
  text: string,
  from: number,
  to: number,
): { comments: PlanComment[]; bare: string[] } => {
  const found: Draft[] = [];
  let at = from;
  for (const line of text.slice(from, to).split('\n')) {
    addLine(found, line.replace(/\r$/, ''), at);
    at += line.length + 1;
  }
  const all = found.map(({ quote, body, start, end }) => ({
    quote: quote.join('\n').trim(),
    text: body.join('\n').trim(),
    start,
    end,
  }));
  return {
    comments: all.filter(({ text }) => hasContent(text)),
    bare: all.flatMap(({ quote, text }) => (quote === '' || hasContent(text) ? [] : [quote])),
  };
};

interface Draft {
  quote: string[];
  body: string[];
  start: number;
  end: number;
}

const addLine = (found: Draft[], line: string, at: number): void => {
  const last = found.at(-1);
  const isQuote = QUOTED.test(line);
  const end = at + line.length;
  if (isQuote && last?.body.length === 0) {
    last.quote.push(line.replace(QUOTED, ''));
    last.end = end;
  } else if (isQuote) {
    found.push({ quote: [line.replace(QUOTED, '')], body: [], start: at, end });
  } else if (last !== undefined) {
    last.body.push(line.replace(/^\\(?=\\* {0,3}>|\\*[*_]Sent )/, ''));
    if (line.trim() !== '') last.end = end;
  } else if (line.trim() !== '') found.push({ quote: [], body: [line], start: at, end });
};

// Headings and HTML comments alone are not worth sending.
const hasContent = (text: string): boolean =>
  text
    .replace(/<!--.*?-->/gs, '')
    .replace(/^#{1,6} .*$/gm, '')
    .trim() !== '';

const render = (quote: string, body: string): string => {
  const quoted = quote.split('\n').map((line) => (line === '' ? '>' : `> ${line}`));
  const lines = body
    .trim()
    .split('\n')
    .map((line) => line.replace(MISREAD, '\\'));
  return `${quoted.join('\n')}\n\n${lines.join('\n')}`;
};

/** The file with a comment added at its end. */
export const withComment = (file: string, quote: string, body: string): string => {
  const [ends = ''] = /\n{0,2}$/.exec(file) ?? [];
  const between = file === '' ? '' : '\n\n'.slice(ends.length);
  return `${file}${between}${render(quote, body)}\n`;
};

/** The file with the text of one comment replaced, or without the comment if `body` is empty. */
export const withCommentReplaced = (
  file: string,
  { quote, start, end }: PlanComment,
  body: string,
): string =>
  body.trim() === ''
    ? `${file.slice(0, start)}${file.slice(end).replace(/^\s+/, '')}`
    : `${file.slice(0, start)}${render(quote, body)}${file.slice(end)}`;

/** The file with `sent` marked as sent; undefined if its unsent comments do not start with that text. */
export const asSent = (
  file: string,
  sent: string,
  { at, plan }: { at: string; plan: string },
): string | undefined => {
  const { pending } = readComments(file);
  if (sent === '' || !pending.startsWith(sent)) return undefined;
  const end = file.lastIndexOf(pending) + sent.length;
  const rest = file.slice(end).replace(/^\s+/, '');
  return `${file.slice(0, end)}\n\n*Sent ${at}, on plan ${plan.slice(0, 12)}.*\n${rest === '' ? '' : `\n${rest}`}`;
};
