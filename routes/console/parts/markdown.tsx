import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { visible } from '../../../base/visible.ts';

/** A block of a Markdown text, in its order. */
export interface Block {
  /** As it is written. */
  raw: string;
  /** Its first line, from 1. */
  line: number;
  token: Token;
}

/**
 * A text of our own, which is all of a page: its headings are the page's, links lead to them, and to where this says that a link
 * of it leads in the console.
 */
export const Ours = createContext<((href: string) => string | undefined) | undefined>(undefined);

/** Larger texts are shown as they are written. In characters. */
const LARGEST = 256 * 1024;
const DEEPEST = 40;

/** The blocks of a text; undefined where it is too large, too deep or cannot be read, and has to be shown as it is. */
export const blocksOf = (text: string): Block[] | undefined => {
  if (text.length > LARGEST) return undefined;
  try {
    let line = 1;
    const blocks = lexer(text, { gfm: true }).map((token) => {
      const block = { raw: token.raw, line, token };
      line += token.raw.split('\n').length - 1;
      return block;
    });
    return blocks.some(({ token }) => depthOf(token, 0) > DEEPEST) ? undefined : blocks;
  } catch {
    // Nested deeper than the stack.
    return undefined;
  }
};

/** About how many elements a token is shown with. */
export const sizeOf = (token: Token): number => {
  const {
    items = [],
    tokens = items,
    header = [],
    rows = [],
  } = token as Partial<Tokens.Table> & {
    items?: Token[];
    tokens?: Token[];
  };
  const cells = [header, ...rows].flat().flatMap((cell) => [cell, ...cell.tokens]);
  let size = 1 + cells.length;
  for (const one of tokens) size += sizeOf(one);
  return size;
};

const depthOf = (token: Token, above: number): number => {
  if (above > DEEPEST) return above;
  const { items, tokens = items } = token as { items?: Token[]; tokens?: Token[] };
  return Math.max(above, ...(tokens ?? []).map((one) => depthOf(one, above + 1)));
};

/** A Markdown text that anybody may have written: nothing in it runs, loads, or looks like a part of the page. */
export const Markdown = ({ text }: { text: string }) => {
  const blocks = blocksOf(text);
  if (blocks === undefined) return <pre class="as-written">{visible(text)}</pre>;
  return (
    <div class="markdown">
      {blocks.map(({ token, line }) => (
        <MarkdownToken key={line} token={token} />
      ))}
    </div>
  );
};

/** What a token of Markdown is shown as. One that is not known here is shown as it is written. */
export const MarkdownToken = ({ token }: { token: Token }) => {
  const known = token as MarkedToken;
  const show = SHOWN[known.type] as ((token: MarkedToken) => ComponentChildren) | undefined;
  return <>{show === undefined ? visible(token.raw) : show(known)}</>;
};

type Shown = {
  [T in MarkedToken['type']]?: (token: Extract<MarkedToken, { type: T }>) => ComponentChildren;
};

const inner = (tokens: readonly Token[] | undefined): ComponentChildren =>
  (tokens ?? []).map((token, at) => <MarkdownToken key={at} token={token} />);

const SHOWN: Shown = {
  space: () => null,
  paragraph: ({ tokens }) => <p>{inner(tokens)}</p>,
  heading: (heading) => <Heading {...heading} />,
  code: ({ text, lang }) => (
    <pre data-lang={lang ?? ''}>
      <code>{visible(text)}</code>
    </pre>
  ),
  blockquote: ({ tokens }) => <blockquote>{inner(tokens)}</blockquote>,
  list: (list) => <List {...list} />,
  hr: () => <hr />,
  table: (table) => <Table {...table} />,
  text: (text) => ('tokens' in text && text.tokens ? inner(text.tokens) : plain(text.text)),
  escape: ({ text }) => plain(text),
  strong: ({ tokens }) => <strong>{inner(tokens)}</strong>,
  em: ({ tokens }) => <em>{inner(tokens)}</em>,
  del: ({ tokens }) => <del>{inner(tokens)}</del>,
  codespan: ({ text }) => <code>{visible(text)}</code>,
  br: () => <br />,
  link: ({ href, tokens }) => <Link href={href}>{inner(tokens)}</Link>,
  // Nothing is loaded from elsewhere: a picture is a link to it.
  image: ({ href, text }) => <Link href={href}>{`🖼 ${plain(text) || href}`}</Link>,
  def: () => null,
  checkbox: () => null,
};

// marked leaves what HTML would need: here it is text in the end.
const plain = (text: string): string =>
  visible(text.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? ''));

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
};

const Heading = ({ depth, text, tokens }: Tokens.Heading) => {
  const isOurs = useContext(Ours) !== undefined;
  // The page's own is the first.
  const Tag = `h${Math.min(isOurs ? depth : depth + 1, 6)}` as 'h2';
  return <Tag {...(isOurs && { id: anchorOf(text) })}>{inner(tokens)}</Tag>;
};

// As GitHub makes them.
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const List = ({ ordered, start, items }: Tokens.List) => {
  const shown = items.map((item, at) => (
    <li key={at} class={item.task ? 'task' : ''}>
      {item.task && (
        <input
          type="checkbox"
          checked={item.checked === true}
          disabled
          aria-label={item.checked === true ? 'Done' : 'Not done'}
        />
      )}
      {inner(item.tokens)}
    </li>
  ));
  return ordered ? <ol start={Number(start) || 1}>{shown}</ol> : <ul>{shown}</ul>;
};

const Table = ({ header, rows }: Tokens.Table) => (
  <div class="wide">
    <table>
      <thead>
        <tr>
          {header.map((cell, at) => (
            <th key={at} scope="col">
              {inner(cell.tokens)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row, at) => (
          <tr key={at}>
            {row.map((cell, column) => (
              <td key={column}>{inner(cell.tokens)}</td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);

const SAFE = /^(?:https?:\/\/|mailto:)/i;

const Link = ({ href, children }: { href: string; children: ComponentChildren }) => {
  const ours = useContext(Ours)?.(href);
  if (ours !== undefined) return <a href={ours}>{children}</a>;
  return SAFE.test(href) ? (
    <a href={href} title={href} target="_blank" rel="noreferrer noopener">
      {children}
    </a>
  ) : (
    <span title={visible(href)}>{children}</span>
  );
};
