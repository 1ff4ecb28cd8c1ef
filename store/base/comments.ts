/** What the operator says of one place of a plan, as comments.md has it. */
export interface PlanComment {
  /** The wording that it was made on; empty for what is said of the whole. */
  quote: string;
  text: string;
  /** Where it stands in the file, in characters. */
  start: number;
  end: number;
}

/** Comments that were sent together. */
export interface SentRound {
  at: string;
  /** The beginning of the plan's hash, where the file says it. */
  plan: string | undefined;
  comments: PlanComment[];
}

export interface PlanComments {
  rounds: SentRound[];
  unsent: PlanComment[];
  /** What is to be sent, as it is written; empty where nothing is. */
  pending: string;
  /** Quotes below which nothing is said yet: they are kept, and no comment. */
  bare: string[];
}

const SENT = /^\*Sent (\d{4}-[^,*]*)(?:, on plan ([0-9a-f]{6,64}))?\.?\*\s*$/;
const QUOTED = /^ {0,3}> ?/;
// What a comment begins a line with, and would be read as a quote or as the end of a round.
const MISREAD = /^(?=\\* {0,3}>|\\*\*Sent )/;

/**
 * Reads comments.md: a quote, and below it what is said of it. Whatever else stands there is nobody's mistake: it belongs to
 * the comment above it. A line `*Sent …*` ends what was sent together.
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
    take(found, line.replace(/\r$/, ''), at);
    at += line.length + 1;
  }
  const all = found.map(({ quote, said, start, end }) => ({
    ...{ quote: quote.join('\n').trim(), text: said.join('\n').trim(), start, end },
  }));
  return {
    comments: all.filter(({ text }) => isSaid(text)),
    bare: all.flatMap(({ quote, text }) => (quote === '' || isSaid(text) ? [] : [quote])),
  };
};

interface Draft {
  quote: string[];
  said: string[];
  start: number;
  end: number;
}

const take = (found: Draft[], line: string, at: number): void => {
  const last = found.at(-1);
  const isQuote = QUOTED.test(line);
  const end = at + line.length;
  if (isQuote && last?.said.length === 0) {
    last.quote.push(line.replace(QUOTED, ''));
    last.end = end;
  } else if (isQuote) {
    found.push({ quote: [line.replace(QUOTED, '')], said: [], start: at, end });
  } else if (last !== undefined) {
    last.said.push(line.replace(/^\\(?=\\* {0,3}>|\\*\*Sent )/, ''));
    if (line.trim() !== '') last.end = end;
  } else if (line.trim() !== '') found.push({ quote: [], said: [line], start: at, end });
};

// A title alone, or a remark in HTML, says nothing to an agent.
const isSaid = (text: string): boolean =>
  text
    .replace(/<!--.*?-->/gs, '')
    .replace(/^#{1,6} .*$/gm, '')
    .trim() !== '';

const written = (quote: string, said: string): string => {
  const quoted = quote.split('\n').map((line) => (line === '' ? '>' : `> ${line}`));
  const lines = said
    .trim()
    .split('\n')
    .map((line) => line.replace(MISREAD, '\\'));
  return `${quoted.join('\n')}\n\n${lines.join('\n')}`;
};

/** The file with one comment more. */
export const withComment = (file: string, quote: string, said: string): string => {
  const [ends = ''] = /\n{0,2}$/.exec(file) ?? [];
  const between = file === '' ? '' : '\n\n'.slice(ends.length);
  return `${file}${between}${written(quote, said)}\n`;
};

/** The file with another text of a comment, or without it where that is empty. Nothing else of it changes. */
export const withOther = (
  file: string,
  { quote, start, end }: PlanComment,
  said: string,
): string =>
  said.trim() === ''
    ? `${file.slice(0, start)}${file.slice(end).replace(/^\s+/, '')}`
    : `${file.slice(0, start)}${written(quote, said)}${file.slice(end)}`;

/** The file, in which `sent` was sent; undefined where it does not begin what waits there. */
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
