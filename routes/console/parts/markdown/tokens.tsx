import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { visible } from '../../../../store/base/visible.ts';
import { BrowserDrawn, endOfShownSource, SourceBlock, SourceText, shownSource } from './source.tsx';

/** Maps a link of a guide to an address of the console. */
export type LinkResolver = ((href: string) => string | undefined) | undefined;

/**
 * Renders a token to HTML elements and parts of the source only, so that both can be compared. Unknown tokens are
 * shown as source.
 */
export const elementOf = (token: Token, resolveLink: LinkResolver): ComponentChildren => {
  const known = token as MarkedToken;
  const show = SHOWN[known.type] as
    | ((token: MarkedToken, resolveLink: LinkResolver) => ComponentChildren)
    | undefined;
  return show === undefined ? <SourceText source={token.raw} /> : show(known, resolveLink);
};

type Shown = {
  [T in MarkedToken['type']]?: (
    token: Extract<MarkedToken, { type: T }>,
    resolveLink: LinkResolver,
  ) => ComponentChildren;
};

const inner = (
  tokens: readonly Token[] | undefined,
  resolveLink: LinkResolver,
): ComponentChildren[] => (tokens ?? []).map((token) => elementOf(token, resolveLink));

const SHOWN: Shown = {
  space: () => null,
  paragraph: ({ tokens }, resolveLink) => <p>{inner(tokens, resolveLink)}</p>,
  heading: (heading, resolveLink) => headingOf(heading, resolveLink),
  code: (code, resolveLink) => codeOf(code, resolveLink),
  blockquote: ({ tokens }, resolveLink) => <blockquote>{inner(tokens, resolveLink)}</blockquote>,
  list: (list, resolveLink) => listOf(list, resolveLink),
  hr: () => <hr />,
  table: (table, resolveLink) => tableOf(table, resolveLink),
  text: (text, resolveLink) =>
    'tokens' in text && text.tokens ? inner(text.tokens, resolveLink) : textOf(text.raw),
  escape: ({ text }) => textOf(text),
  strong: ({ tokens }, resolveLink) => <strong>{inner(tokens, resolveLink)}</strong>,
  em: ({ tokens }, resolveLink) => <em>{inner(tokens, resolveLink)}</em>,
  del: ({ tokens }, resolveLink) => <del>{inner(tokens, resolveLink)}</del>,
  codespan: ({ text }) => (
    <code>
      <SourceText source={text} />
    </code>
  ),
  br: () => <br />,
  link: (link, resolveLink) => linkOf(link, resolveLink, inner(link.tokens, resolveLink)),
  // Images are not loaded: an image becomes a link.
  image: (image, resolveLink) =>
    linkOf(image, resolveLink, ['🖼 ', image.text === '' ? image.href : textOf(image.text)]),
  def: ({ raw }) => (
    <pre class="as-written">
      <SourceText source={raw.trimEnd()} />
    </pre>
  ),
  checkbox: ({ raw, checked }) => (
    <>
      <BrowserDrawn source={raw} />
      <input
        type="checkbox"
        checked={checked}
        disabled
        aria-label={checked ? 'Done' : 'Not done'}
      />
    </>
  ),
};

// Entities are shown as the characters that they stand for.
const textOf = (source: string) => (
  <SourceText
    source={source}
    as={source.replace(/&(amp|lt|gt|quot|#39);/g, (_, name: string) => ENTITIES[name] ?? '')}
  />
);

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
};

const headingOf = ({ depth, text, tokens }: Tokens.Heading, resolveLink: LinkResolver) => {
  // The page has the only h1.
  const Tag = `h${Math.min(resolveLink === undefined ? depth + 1 : depth, 6)}` as 'h2';
  return (
    <Tag {...(resolveLink !== undefined && { id: anchorOf(text) })}>
      {inner(tokens, resolveLink)}
    </Tag>
  );
};

// The same anchors as on GitHub.
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const codeOf = ({ text, lang = '' }: Tokens.Code, resolveLink: LinkResolver) => (
  <>
    {lang !== '' && resolveLink === undefined && (
      <p class="code-info">
        <SourceText source={lang} />
      </p>
    )}
    <pre data-lang={lang}>
      <code>
        <SourceText source={text} />
      </code>
    </pre>
  </>
);

const listOf = ({ ordered, start, items }: Tokens.List, resolveLink: LinkResolver) => {
  const shown = items.map((item, at) => {
    const [mark = '', number] = /^\s*(?:(\d+)[.)])?/.exec(item.raw) ?? [];
    // A number out of order is shown as written.
    const isOther = number !== undefined && Number(number) !== Number(start) + at;
    return (
      <li class={item.task ? 'task' : ''} {...(isOther && { value: Number(number) })}>
        <BrowserDrawn source={mark} />
        {inner(item.tokens, resolveLink)}
      </li>
    );
  });
  return ordered ? <ol start={Number(start)}>{shown}</ol> : <ul>{shown}</ul>;
};

const tableOf = ({ raw, header, rows }: Tokens.Table, resolveLink: LinkResolver) => {
  if (raw.split('\n').some((row) => cellsIn(row) > header.length))
    return <SourceBlock source={raw} />;
  const cells = (Cell: 'th' | 'td', row: Tokens.TableCell[]) => (
    <tr>
      {row.map(({ tokens }) => (
        <Cell {...(Cell === 'th' && { scope: 'col' as const })}>{inner(tokens, resolveLink)}</Cell>
      ))}
    </tr>
  );
  return (
    <div class="wide">
      <table>
        <thead>{cells('th', header)}</thead>
        <tbody>{rows.map((row) => cells('td', row))}</tbody>
      </table>
    </div>
  );
};

// The parser drops cells beyond those of the header.
const cellsIn = (row: string): number =>
  row
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/).length;

const SAFE = /^(?:https?:\/\/|mailto:)/i;

const linkOf = (
  { raw, href }: Tokens.Link | Tokens.Image,
  resolveLink: LinkResolver,
  words: ComponentChildren[],
) => {
  const place = resolveLink?.(href);
  if (place !== undefined) return <a href={place}>{words}</a>;
  const rest = resolveLink === undefined ? linkDestination(raw, words) : '';
  return (
    <>
      {SAFE.test(href) ? (
        <a href={href} title={visible(href)} target="_blank" rel="noreferrer noopener">
          {words}
        </a>
      ) : (
        <span title={visible(href)}>{words}</span>
      )}
      {rest !== '' && (
        <span class="destination">
          {' '}
          <SourceText source={rest} />
        </span>
      )}
    </>
  );
};

/** The source after a link's text: its address and title, or its label. */
const linkDestination = (raw: string, words: ComponentChildren[]): string => {
  if (!/^!?\[/.test(raw)) return '';
  const rest = raw.slice(endOfShownSource(raw, shownSource(words), false) ?? 0);
  return rest.slice(rest.indexOf(']') + 1).replace(/^\[\s*\]$/, '');
};
