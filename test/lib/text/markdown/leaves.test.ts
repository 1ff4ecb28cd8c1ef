import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Nodes } from 'mdast';
import { fromMarkdown } from 'mdast-util-from-markdown';
import { disarmMarkdown, quoteMarkdown } from '../../../../lib/host/pull-requests/disarm.ts';
import { readLeaves } from '../../../../lib/text/markdown/leaves.ts';

// No item without text: after indented code the reference parser takes one for a paragraph.
const BITS = [
  '# ',
  '- c',
  '  ',
  '    ',
  '1. c',
  '> ',
  '```',
  '~~~',
  '`',
  '\n',
  '\n\n',
  '---',
  '===',
];
const WORDS = ['a', 'b c', '@alice ', 'fixes #1', '<b>', '<!-- x -->', '<a t="`">', '<div>', '\t'];
const LINKS = ['[a](/u "`")', '[a]: /u "`"\n', '\\`', '<http://x/`>', '|', '``', '[', '](', '*'];

const markdown = (...bits: string[]): fc.Arbitrary<string> =>
  fc.array(fc.constantFrom(...bits), { maxLength: 25 }).map((parts) => parts.join(''));

// With one seed: once in fifty thousand texts the reference parser itself is at odds with CommonMark and GitHub.
const RUNS = { numRuns: Number(process.env.DOSSIER_MARKDOWN ?? 1000), seed: 20261122 };

type Told = [kind: string, text: string];

// What another reader shows as headings, code and text, outermost first.
const judged = (node: Nodes): Told[] => {
  if (node.type === 'code')
    return [[node.lang == null ? 'code' : `code ${node.lang}`, node.value.trimEnd()]];
  if (node.type === 'heading') return [[`heading ${node.depth}`, '']];
  if (node.type === 'paragraph' || node.type === 'html') return [[node.type, '']];
  if (node.type === 'thematicBreak') return [['rule', '']];
  return 'children' in node ? node.children.flatMap(judged) : [];
};

const told = (text: string): Told[] =>
  readLeaves(text).leaves.map(({ kind, level, info, lines }) => {
    if (kind === 'heading') return [`heading ${level}`, ''];
    if (kind !== 'fence' && kind !== 'indented') return [kind, ''];
    const [language = ''] = info.split(/[ \t]/, 1);
    return [
      language === '' ? 'code' : `code ${language}`,
      lines
        .map(({ text: one }) => one)
        .join('\n')
        .trimEnd(),
    ];
  });

// The reference parser parts indented code at a blank line where a quote has just ended; CommonMark does not.
const asOne = (all: Told[]): Told[] =>
  all.reduce<Told[]>((some, [kind, text]) => {
    const last = some.at(-1);
    const isMore = kind === 'code' && last?.[0] === 'code';
    if (isMore) last[1] = `${last[1]}\n${text}`;
    else some.push([kind, text]);
    const [, said = ''] = some.at(-1) ?? [];
    some[some.length - 1] = [kind, said.replaceAll(/\n(?:[ \t]*\n)+/g, '\n')];
    return some;
  }, []);

// What is left to be read of a text once code is taken out.
const shown = (node: Nodes): string => {
  if (node.type === 'text' || node.type === 'html') return node.value;
  return 'children' in node ? node.children.map(shown).join(' ') : ' ';
};

const MENTION = /(?<![\w`])@\w/;
const CLOSES = /\b(close[sd]?|fix(e[sd])?|resolve[sd]?):?\s+\S*(#\d|\/issues\/\d)/i;

describe('readLeaves', () => {
  it('sees the blocks that the reference parser sees', () => {
    fc.assert(
      fc.property(markdown(...BITS, 'a', 'b c', '<div>', '<!-- x -->', '\t'), (text) => {
        assert.deepEqual(asOne(told(text)), asOne(judged(fromMarkdown(text))));
      }),
      RUNS,
    );
  });

  it('tells where each line of a block stands in the text', () => {
    fc.assert(
      fc.property(markdown(...BITS, ...WORDS, '\r\n', '\r', '\uFEFF'), (text) => {
        const leaves = readLeaves(text).leaves.filter(({ kind }) => kind !== 'fence');
        const lines = leaves.flatMap((leaf) => leaf.lines.map((line) => ({ ...leaf, ...line })));
        for (const { text: line, at, start, end } of lines) {
          assert.ok(at >= start && at <= end);
          // A tab that is used in half is written out.
          if (!/^\s/.test(line)) assert.equal(text.slice(at, at + line.length), line);
        }
      }),
      RUNS,
    );
  });
});

describe('disarmMarkdown', () => {
  it('leaves nothing that notifies, closes or hides outside of what the reference parser takes for code', () => {
    fc.assert(
      fc.property(markdown(...BITS, ...WORDS, ...LINKS), (text) => {
        for (const made of [
          disarmMarkdown(text),
          quoteMarkdown(text),
          disarmMarkdown(`- [ ] ${text}`),
        ]) {
          const read = shown(fromMarkdown(made));
          assert.doesNotMatch(read, MENTION, made);
          assert.doesNotMatch(read, CLOSES, made);
          assert.doesNotMatch(read, /<!--/, made);
        }
      }),
      RUNS,
    );
  });

  it('counts no backtick that a link, a tag, a table or an address has taken', () => {
    const taken = [
      '[x](/u "`") @alice `',
      '[x]: /u "`"\n@alice `',
      '<a title="`"> @alice `',
      'http://x.example/` @alice `',
      '| ` | @alice ` |\n|---|---|\n| ` | @alice ` |',
      '[^1]: a\n\n    @alice',
    ];
    for (const text of taken) assert.doesNotMatch(disarmMarkdown(text), /@a/, text);
    // A lone tag ends a paragraph that goes on without the marks of its list.
    assert.doesNotMatch(disarmMarkdown('1. a `\n@alice\n<a title="`">'), /@a/);
    const plain = ['see <br> [x](https://x.example "t") and `@a`', 'a | `@a`', 'List<T> `@a`'];
    for (const text of plain) assert.equal(disarmMarkdown(text), text);
  });

  it('leaves no quotation by a return of the carriage, and moves no code out of its column', () => {
    assert.equal(quoteMarkdown('a\rb'), '> a\n> b');
    assert.doesNotMatch(quoteMarkdown('x\n\n\t@alice'), /@a/);
  });
});
