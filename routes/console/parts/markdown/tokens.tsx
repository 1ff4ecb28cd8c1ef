import type { MarkedToken, Token, Tokens } from 'marked';
import type { ComponentChildren } from 'preact';
import { visible } from '../../../../store/base/visible.ts';
import { Drawn, endOfShown, Said, Source, shownOf } from './source.tsx';

/** Where a link of a text of our own leads in the console. */
export type OursOf = ((href: string) => string | undefined) | undefined;

/**
 * What a token of Markdown is shown as: elements of HTML and pieces of the source alone, so that they can be compared with
 * it. A token that is not known here is shown as it is written.
 */
export const elementOf = (token: Token, ours: OursOf): ComponentChildren => {
  const known = token as MarkedToken;
  const show = SHOWN[known.type] as
    | ((token: MarkedToken, ours: OursOf) => ComponentChildren)
    | undefined;
  return show === undefined ? <Said source={token.raw} /> : show(known, ours);
};

type Shown = {
  [T in MarkedToken['type']]?: (
    token: Extract<MarkedToken, { type: T }>,
    ours: OursOf,
  ) => ComponentChildren;
};

const inner = (tokens: readonly Token[] | undefined, ours: OursOf): ComponentChildren[] =>
  (tokens ?? []).map((token) => elementOf(token, ours));

const SHOWN: Shown = {
  space: () => null,
  paragraph: ({ tokens }, ours) => <p>{inner(tokens, ours)}</p>,
  heading: (heading, ours) => headingOf(heading, ours),
  code: (code, ours) => codeOf(code, ours),
  blockquote: ({ tokens }, ours) => <blockquote>{inner(tokens, ours)}</blockquote>,
  list: (list, ours) => listOf(list, ours),
  hr: () => <hr />,
  table: (table, ours) => tableOf(table, ours),
  text: (text, ours) =>
    'tokens' in text && text.tokens ? inner(text.tokens, ours) : textOf(text.raw),
  escape: ({ text }) => textOf(text),
  strong: ({ tokens }, ours) => <strong>{inner(tokens, ours)}</strong>,
  em: ({ tokens }, ours) => <em>{inner(tokens, ours)}</em>,
  del: ({ tokens }, ours) => <del>{inner(tokens, ours)}</del>,
  codespan: ({ text }) => (
    <code>
      <Said source={text} />
    </code>
  ),
  br: () => <br />,
  link: (link, ours) => linkOf(link, ours, inner(link.tokens, ours)),
  // Nothing is loaded from elsewhere: a picture is a link to it.
  image: (image, ours) =>
    linkOf(image, ours, ['🖼 ', image.text === '' ? image.href : textOf(image.text)]),
  def: ({ raw }) => (
    <pre class="as-written">
      <Said source={raw.trimEnd()} />
    </pre>
  ),
  checkbox: ({ raw, checked }) => (
    <>
      <Drawn source={raw} />
      <input
        type="checkbox"
        checked={checked}
        disabled
        aria-label={checked ? 'Done' : 'Not done'}
      />
    </>
  ),
};

// What was written for HTML is shown as it was meant.
const textOf = (source: string) => (
  <Said
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

const headingOf = ({ depth, text, tokens }: Tokens.Heading, ours: OursOf) => {
  // The page's own is the first.
  const Tag = `h${Math.min(ours === undefined ? depth + 1 : depth, 6)}` as 'h2';
  return <Tag {...(ours !== undefined && { id: anchorOf(text) })}>{inner(tokens, ours)}</Tag>;
};

// As GitHub makes them.
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-');

const codeOf = ({ text, lang = '' }: Tokens.Code, ours: OursOf) => (
  <>
    {lang !== '' && ours === undefined && (
      <p class="code-info">
        <Said source={lang} />
      </p>
    )}
    <pre data-lang={lang}>
      <code>
        <Said source={text} />
      </code>
    </pre>
  </>
);

const listOf = ({ ordered, start, items }: Tokens.List, ours: OursOf) => {
  const shown = items.map((item, at) => {
    const [mark = '', number] = /^\s*(?:(\d+)[.)])?/.exec(item.raw) ?? [];
    // A number out of its order is drawn as it is written.
    const isOther = number !== undefined && Number(number) !== Number(start) + at;
    return (
      <li class={item.task ? 'task' : ''} {...(isOther && { value: Number(number) })}>
        <Drawn source={mark} />
        {inner(item.tokens, ours)}
      </li>
    );
  });
  return ordered ? <ol start={Number(start)}>{shown}</ol> : <ul>{shown}</ul>;
};

const tableOf = ({ raw, header, rows }: Tokens.Table, ours: OursOf) => {
  if (raw.split('\n').some((row) => cellsIn(row) > header.length)) return <Source source={raw} />;
  const cells = (Cell: 'th' | 'td', row: Tokens.TableCell[]) => (
    <tr>
      {row.map(({ tokens }) => (
        <Cell {...(Cell === 'th' && { scope: 'col' as const })}>{inner(tokens, ours)}</Cell>
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

// The parser drops those beyond the header.
const cellsIn = (row: string): number =>
  row
    .trim()
    .replace(/^\||(?<!\\)\|$/g, '')
    .split(/(?<!\\)\|/).length;

const SAFE = /^(?:https?:\/\/|mailto:)/i;

const linkOf = (
  { raw, href }: Tokens.Link | Tokens.Image,
  ours: OursOf,
  words: ComponentChildren[],
) => {
  const place = ours?.(href);
  if (place !== undefined) return <a href={place}>{words}</a>;
  const rest = ours === undefined ? behind(raw, words) : '';
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
          <Said source={rest} />
        </span>
      )}
    </>
  );
};

/** What stands behind the words of a link, where it leads and its title, or its label: as it is written. */
const behind = (raw: string, words: ComponentChildren[]): string => {
  if (!/^!?\[/.test(raw)) return '';
  const rest = raw.slice(endOfShown(raw, shownOf(words), false) ?? 0);
  return rest.slice(rest.indexOf(']') + 1).replace(/^\[\s*\]$/, '');
};
