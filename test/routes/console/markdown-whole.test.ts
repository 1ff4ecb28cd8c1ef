/** What a Markdown text says is in sight, or the block is shown as source. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { h } from 'preact';
import { render } from 'preact-render-to-string';
import { Markdown } from '../../../routes/console/parts/markdown.tsx';
import { planText } from '../../helpers/plan-text.ts';

const html = (text: string): string => render(h(Markdown, { text }));

const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' };

/** What is read of a page: text, no attribute. */
const seen = (text: string): string =>
  html(text)
    .replace(/<p class="quiet">Shown as source<\/p>|🖼/g, '')
    .replace(/<input[^>]* checked[^>]*>/g, ' x ')
    .replace(/<(?:"[^"]*"|[^>"])*>/g, ' ')
    .replace(/&(amp|lt|gt|quot);/g, (_, name: string) => CHARACTERS[name] ?? '');

const compact = (text: string): string => seen(text).replace(/\s/g, '');

/** `npm run soak:markdown` reads a hundred thousand. */
const TEXTS = Number(process.env.DOSSIER_MARKDOWN ?? 2000);

// What another reader takes for content, as it means it and as it is written.
const contentOf = (node: Nodes, text: string): string[][] => {
  const { position, ...rest } = node;
  const own = { alt: '', label: '', title: '', url: '', value: '', lang: '', meta: '', ...rest };
  const { alt, label, title, url, value, lang, meta } = own;
  const written = text.slice(position?.start.offset, position?.end.offset);
  const said = [alt, label, title, url, value, lang, meta].filter(
    (one): one is string => typeof one === 'string' && one !== '',
  );
  const below = 'children' in node ? node.children.flatMap((one) => contentOf(one, text)) : [];
  return [...said.map((one) => [one, written]), ...below];
};

// Without blanks, and what Markdown marks with.
const bare = (text: string): string =>
  text.replace(/(?<![a-z\d])\d+[.)]/g, '').replace(/[\s\\`*_~#<>|:+=![\]-]/g, '');

const assertWords = (text: string, words: RegExp): void => {
  const shown = seen(text);
  for (const [word] of text.matchAll(words))
    assert.ok(shown.includes(word), `${word} of ${JSON.stringify(text)}`);
};

const assertContent = (text: string): void => {
  const whole = bare(seen(text));
  for (const ways of contentOf(fromMarkdown(text), text))
    assert.ok(
      ways.some((way) => whole.includes(bare(way))),
      `${ways[0]} of ${JSON.stringify(text)}`,
    );
};

describe('a Markdown text that anybody may have written', () => {
  it('has definitions, their titles and their labels in sight', () => {
    const text = '[note]: # "Delete\nthe backups"\n\nA [plan][note].\n\n[note]: # (Twice)\n';
    assert.match(compact(text), /\[note\]:#"Deletethebackups"/);
    assert.match(compact(text), /Aplan\[note\]\./);
    assert.match(compact(text), /\[note\]:#\(Twice\)/);
    assert.match(compact('> [q]: /u "Deep"\n> - [r]: /v (Deeper)\n'), /Deep.*Deeper/);
    assert.match(compact('- x\n\n  [q]: /u\n  [q]: /u "Again"\n'), /Again/);
  });

  it('has cells beyond the header of their table in sight', () => {
    assert.match(compact('| a |\n| - |\n| b | and rm -rf / |\n'), /andrm-rf\//);
    assert.match(compact('a | b\n- | -\nc | d | ***\n'), /\*\*\*/);
    assert.match(html('| a |\n| - |\n| b | c |\n'), /Shown as source/);
    assert.doesNotMatch(html('| a | b |\n| - | - |\n| \\| | `\\|` |\n| x |\n'), /Shown as source/);
  });

  it('has destinations and titles of links and pictures in sight', () => {
    assert.match(
      compact('[docs](https://example.org/a "And push --force")'),
      /docs\(https:.*force"\)/,
    );
    assert.match(compact("![x](secret.png 'Title')"), /x\(secret\.png'Title'\)/);
    assert.match(compact('[![a](b "c")](d "e")'), /a\(b"c"\)\(d"e"\)/);
    assert.match(compact('[a][b `]` c]\n\n[b `]` c]: /u'), /c\]/);
    assert.equal(compact('<https://example.org>'), 'https://example.org');
  });

  it('has what a fence is marked with, numbers of items and ticks in sight', () => {
    assert.match(compact('```sh then delete it\nls\n```'), /^shthendeleteitls$/);
    assert.match(html('3. a\n9. b'), /<ol start="3"><li[^>]*>a<\/li><li[^>]* value="9">b/);
    assert.match(html('- [X] a'), /Done/);
  });

  it('is shown as source for one in a hundred of the examples of CommonMark at most', () => {
    const { examples } = JSON.parse(readFileSync('test/helpers/commonmark.json', 'utf8'));
    const others = examples.filter((one: string) => /as-source|^<pre/.test(html(one)));
    assert.ok(examples.length > 600);
    assert.ok(others.length <= examples.length / 100, `${others.length} of ${examples.length}`);
    for (const one of examples) assertWords(one, /(?<![&\p{L}])\p{L}{2,}/gu);
  });

  it(`has every word, destination, title, label, definition and cell of ${TEXTS} texts in sight`, () => {
    fc.assert(
      fc.property(planText, (text) => {
        assertWords(text, /w\d+q/g);
        assertContent(text);
      }),
      { numRuns: TEXTS },
    );
  });
});
