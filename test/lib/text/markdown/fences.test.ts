import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { readFences } from '../../../../lib/text/markdown/fences.ts';

const fences = (lines: string[]): [info: string, content: string][] =>
  readFences(lines.join('\n')).map(({ info, content }) => [info, content]);

// What a CommonMark reader shows as fenced code: the expected values were checked against the reference parser.
const CASES: [claim: string, lines: string[], expected: [string, string][]][] = [
  ['reads a plain block', ['```sh', 'a', '', 'b', '```'], [['sh', 'a\n\nb\n']]],
  ['reads an empty block', ['```sh', '```'], [['sh', '']]],
  ['reads tildes', ['~~~sh', '```', '~~~'], [['sh', '```\n']]],
  ['keeps the whole info string', ['```  sh  title="x"  ', 'a', '```'], [['sh  title="x"', 'a\n']]],
  [
    'ends a block only by a fence as long',
    ['````md', '```sh', 'rm', '```', '````'],
    [['md', '```sh\nrm\n```\n']],
  ],
  ['ends a block by a longer fence', ['```sh', 'a', '`````', 'text'], [['sh', 'a\n']]],
  ['does not end a block by the other mark', ['```sh', '~~~', '```'], [['sh', '~~~\n']]],
  ['does not end a block by a fence with text', ['```sh', '``` sh', '```'], [['sh', '``` sh\n']]],
  ['runs an open block to the end of the text', ['```sh', 'a'], [['sh', 'a\n']]],
  ['takes no backtick in a backtick info', ['``` `sh', 'a', '```'], [['', '']]],
  ['takes a backtick in a tilde info', ['~~~ `sh', 'a', '~~~'], [['`sh', 'a\n']]],
  [
    'removes the indentation of the fence',
    ['  ```sh', '    a', ' b', '  ```'],
    [['sh', '  a\nb\n']],
  ],
  ['sees indented code as no fence', ['    ```sh', '    rm', '    ```'], []],
  ['sees a tab as indented code', ['\t```sh', '\trm', '\t```'], []],
  ['keeps a fence deep in a paragraph as text', ['text', '    ```sh', '    rm'], []],
  ['interrupts a paragraph', ['text', '```sh', 'a', '```'], [['sh', 'a\n']]],
  ['takes two backticks for text', ['``sh', 'rm', '``'], []],
  [
    'reads a block in a list item',
    ['1. do', '   ```sh', '   a', '     b', '   ```'],
    [['sh', 'a\n  b\n']],
  ],
  [
    'reads a block deep in a wide list item',
    ['10. do', '', '    ```sh', '    a', '    ```'],
    [['sh', 'a\n']],
  ],
  ['reads a block right after the marker', ['- ```sh', '  a', '  ```'], [['sh', 'a\n']]],
  [
    'ends a block with its list item',
    ['- ```sh', '  a', 'b', '```sh', 'c', '```'],
    [
      ['sh', 'a\n'],
      ['sh', 'c\n'],
    ],
  ],
  ['reads a block in a quote', ['> ```sh', '> a', '> ```'], [['sh', 'a\n']]],
  ['ends a block with its quote', ['> ```sh', '> a', 'rm'], [['sh', 'a\n']]],
  ['reads a block in a quote in a list', ['- > ~~~sh', '  > a', '  > ~~~'], [['sh', 'a\n']]],
  ['ignores a comment', ['<!--', '```sh', 'rm', '```', '-->'], []],
  ['reads on after a comment', ['<!-- x -->', '```sh', 'a', '```'], [['sh', 'a\n']]],
  [
    'ignores preformatted HTML, blank lines included',
    ['<pre>', '', '```sh', 'rm', '```', '</pre>'],
    [],
  ],
  ['ignores what an HTML block holds', ['<details>', '```sh', 'rm', '```', '</details>'], []],
  [
    'reads a block after a blank line in HTML',
    ['<details>', '', '```sh', 'a', '```', '', '</details>'],
    [['sh', 'a\n']],
  ],
  [
    'reads on below a heading and a ruler',
    ['# h', '```sh', 'a', '```', '---', '```', 'b', '```'],
    [
      ['sh', 'a\n'],
      ['', 'b\n'],
    ],
  ],
  ['takes CRLF and CR for line ends', ['```sh\r\na\rb\r\n```\r'], [['sh', 'a\nb\n']]],
  ['ignores a byte order mark', ['\uFEFF```sh', 'a', '```'], [['sh', 'a\n']]],
  ['reads nothing from nothing', [''], []],
];

describe('readFences', () => {
  for (const [claim, lines, expected] of CASES) {
    it(claim, () => {
      assert.deepEqual(fences(lines), expected);
    });
  }

  it('tells the text just before a block', () => {
    const leads = readFences('## Build it ##\n```sh\n```\ntext\nmore:\n\n```sh\n```\n```sh\n```');

    assert.deepEqual(
      leads.map(({ lead }) => lead),
      ['Build it', 'more:', ''],
    );
  });
});
