import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hiddenBlock } from '../../../../lib/agents/runbook/shell-blocks.ts';
import { partsOf } from '../../../../lib/host/pull-requests/compose.ts';
import { publicWords } from '../../../../lib/host/pull-requests/compose-body.ts';
import { disarmMarkdown, quoteMarkdown } from '../../../../lib/host/pull-requests/disarm.ts';
import { codeSpans } from '../../../../lib/text/markdown/code-spans.ts';
import { shellBlocks } from '../../../../lib/text/markdown/fences.ts';
import { readLeaves } from '../../../../lib/text/markdown/leaves.ts';
import { definitionOf } from '../../../../lib/work/generate/definition.ts';
import { hypothesesOf } from '../../../../lib/work/generate/hypotheses.ts';
import { tasksOf } from '../../../../lib/work/generate/tasks.ts';
import { extractIssue } from '../../../../lib/work/issue-text/extract.ts';
import { fenceOff } from '../../../../store/base/text.ts';
import { visible, warningsIn } from '../../../../store/base/visible.ts';
import { parseSections } from '../../../../store/front-matter/body.ts';

const ORIGIN = {
  ...{ title: 'It hangs', name: 'acme/app#1', url: null, state: 'open', labels: [] },
  synced_at: null,
};

/** All that reads Markdown which somebody else wrote, each the whole way of an endpoint. */
const READERS: Record<string, (markdown: string) => unknown> = {
  extractIssue: (text) => JSON.stringify(extractIssue(text)),
  'the three files of planning': (text) => {
    const problem = extractIssue(definitionOf(extractIssue(text), ORIGIN));
    const hypotheses = hypothesesOf(problem, { title: 'x', source: 'y', own: undefined });
    return (
      tasksOf(extractIssue(hypotheses), problem, 'x') + tasksOf(extractIssue(text), problem, 'x')
    );
  },
  disarmMarkdown: (text) => disarmMarkdown(`@a ${text} @b`),
  quoted: (text) => quoteMarkdown(`@a ${text}`),
  shellBlocks,
  hiddenBlock: (text) => hiddenBlock(`${text}\n\n\`\`\`sh\ntrue\n\`\`\`\n`),
  'the words of a session': (text) => publicWords(`## Last words\n${text}`),
  'the parts of a draft': partsOf,
  'the texts of a review': (text) => parseSections(`\n## a\n\n\`\`\`markdown\n${text}`),
  fenceOff: (text) => fenceOff(text, 'text'),
  warningsIn,
  visible,
};

// What is said again and again; a first and a last part stand once.
const HOSTILE: Record<string, [first: string, again: string, last: string]> = {
  quotes: ['', '>', ''],
  'quotes with text': ['', '> ', 'a'],
  'lists in lists': ['', '- ', 'a'],
  'numbered lists in lists': ['', '1. ', 'a'],
  'rulers that are none': ['', '* ', 'a'],
  'lists in lists over many lines': ['- '.repeat(31), '\n', 'a'],
  'quotes over many lines': [`${'>'.repeat(31)}a\n`, 'b\n', ''],
  headings: ['', '#\n', ''],
  'headings with words': ['', '# ab\n', ''],
  'headings of all levels': ['', '# a\n## b\n###### c\n', ''],
  'a heading of blanks': ['# a', ' ', 'b'],
  underlines: ['', 'a\n-\n', ''],
  'bold lines': ['', '**Expected**\n', ''],
  'a bold line and blanks': ['**ab**', ' ', 'x'],
  labels: ['', 'Expected: a\n', ''],
  brackets: ['', '[', ''],
  links: ['', '[a](', ''],
  'links with titles': ['`', '[a](/u "', '`'],
  addresses: ['`', 'http://', '`'],
  definitions: ['', '[a]: b "\n', ''],
  emphasis: ['', '**a *b_ ', ''],
  stars: ['', '*', ''],
  backticks: ['', '`', ''],
  'backticks and words': ['', '`a', ''],
  'backticks of all lengths': ['', '`a``b```c````d', ''],
  'backticks that end a fence': ['', '`', 'a`'],
  tildes: ['', '~', 'a'],
  fences: ['', '```\n', ''],
  'blocks of code': ['', '```\na\n```\n', ''],
  'headed blocks of code': [`# ${'a'.repeat(250)}\n`, '```sh\nError: a\n```\n', ''],
  'check boxes': ['# a\n', '- [ ] a\n', ''],
  'unended comments': ['', '<!--', ''],
  comments: ['', '<!-- a -->', ''],
  tags: ['', '<a b="', ''],
  'tags with attributes': ['', '<a b="" c="', ''],
  'blanks in a tag': ['<a', ' ', 'b'],
  'rows of a table': ['|a|\n|-|\n', '|a', ''],
  'lines of a table': ['|a|\n|-|\n', '|a|\n', ''],
  'blank lines': ['a', '\n', 'b'],
  'dashes on lines': ['# a\n', '-\n', 'Verdict:'],
  blanks: ['a', ' ', 'b'],
  tabs: ['', '\t', 'b'],
  'returns of the carriage': ['', '\r', 'a'],
  mentions: ['', '@a ', ''],
  'words that close': ['', 'fixes ', '#1'],
  'one word': ['', 'a', ''],
  paths: ['', 'a/', ''],
  'what nobody sees': ['', '\u200b', ''],
};

const sized = ([first, again, last]: [string, string, string], size: number): string =>
  first + again.repeat(Math.ceil(size / again.length)) + last;

// The processor's time, in ms: what else the machine does is not in it.
const cost = (read: () => unknown): number => {
  const before = process.cpuUsage();
  read();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1000;
};

const quickest = (read: () => unknown): number => Math.min(...[1, 2, 3].map(() => cost(read)));

const LARGE = 65_536;
// What costs in proportion takes 8 times as long for the larger text, and what costs with the square 64 times.
const TIMES = 8;
const SLACK = 3;
// Below it, what is measured is the collector and the compiler.
const FLOOR = 5;

// What the larger text may cost is known only where it is not cheap by itself. Where once is too much, the best of three
// counts: the collector and the compiler are in the first.
const assertInProportion = (read: (size: number) => unknown, size: number, name: string): void => {
  const large = () => read(size);
  const first = cost(large);
  if (first < FLOOR * TIMES * SLACK) return;
  const little = () => read(size / TIMES);
  const isFine = (once: number, more: number) => more < Math.max(FLOOR, once) * TIMES * SLACK;
  if (isFine(cost(little), first)) return;
  const [once, more] = [quickest(little), quickest(large)];
  assert.ok(isFine(once, more), `${name}: ${once} ms, then ${more} ms`);
};

describe('what reads the Markdown of others', () => {
  for (const [reader, read] of Object.entries(READERS))
    it(`takes a time in proportion to the text: ${reader}`, () => {
      for (const [name, parts] of Object.entries(HOSTILE))
        assertInProportion((size) => read(sized(parts, size)), LARGE, name);
    });

  it('takes a time in proportion to any such text', () => {
    const pieces = Object.values(HOSTILE).flat().concat('\n', '\n\n', '    ', '> ', '- ');
    const text = fc.array(fc.constantFrom(...pieces), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(text, (parts) => {
        const again = parts.join('') || 'a';
        const all = (size: number): void => {
          const markdown = sized(['', again, ''], size);
          for (const read of Object.values(READERS)) read(markdown);
        };
        assertInProportion(all, LARGE / 4, JSON.stringify(again));
      }),
      { numRuns: 30 },
    );
  });

  it('takes what is nested too deep for text, and says so of a plan', () => {
    const deep = `- a\n\n${'> '.repeat(33)}\`\`\`sh\nrm x\n\`\`\`\n`;
    assert.deepEqual(
      readLeaves(deep).leaves.map(({ kind }) => kind),
      ['paragraph', 'paragraph'],
    );
    assert.deepEqual(shellBlocks(deep), []);
    assert.match(hiddenBlock(deep) ?? '', /^Line 3 of the plan is nested in more than/);
    assert.equal(readLeaves(`${'> '.repeat(32)}a`).too_deep, undefined);
    assert.deepEqual(codeSpans('`a` and ``b`c``'), [
      [0, 3],
      [8, 15],
    ]);
  });
});
