/** Nothing in a text is hidden from whoever reads it: what is seen is what there is. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { hiddenBlock } from '../../lib/agents/runbook/shell-blocks.ts';
import { logTo } from '../../lib/log.ts';
import {
  jsonText,
  visible,
  visibleOutput,
  visibleWithin,
  warningsIn,
} from '../../store/base/visible.ts';

const HIDDEN = /(?![\t\n])[\p{Cc}\p{Bidi_C}\p{Zl}\p{Zp}]/u;

const HOSTILE: Record<string, [text: string, shown: string, kind: string]> = {
  conceal: ['ls\u001b[8m; rm -rf ~\u001b[0m', 'ls␛[8m; rm -rf ~␛[0m', 'control'],
  'cursor up and erase': ['rm x\n\u001b[1A\u001b[2Kls', 'rm x\n␛[1A␛[2Kls', 'control'],
  'a bare carriage return': ['rm -rf ~\rls     ', 'rm -rf ~␍ls     ', 'control'],
  backspaces: ['rm\u0008\u0008ls', 'rm␈␈ls', 'control'],
  'an 8-bit control sequence': ['a\u009b8mb', 'a⟦U+009B⟧8mb', 'control'],
  delete: ['a\u007fb', 'a␡b', 'control'],
  NUL: ['a\u0000b', 'a␀b', 'control'],
  'an override of direction': ['a\u202egnp.exe', 'a⟦U+202E⟧gnp.exe', 'bidi'],
  'an isolate': ['a\u2067b\u2069', 'a⟦U+2067⟧b⟦U+2069⟧', 'bidi'],
  'a mark of direction': ['a\u200fb', 'a⟦U+200F⟧b', 'bidi'],
  'a zero-width space': ['r\u200bm', 'r⟦U+200B⟧m', 'invisible'],
  'a joiner between Latin letters': ['r\u200dm', 'r⟦U+200D⟧m', 'invisible'],
  'a byte order mark inside': ['r\ufeffm', 'r⟦U+FEFF⟧m', 'invisible'],
  'tags that spell a message': ['a\u{e0041}', 'a⟦U+E0041⟧', 'invisible'],
  'a control of hieroglyphs': ['a\u{13430}b', 'a⟦U+13430⟧b', 'invisible'],
  'a selector that carries bits': ['a\u{e0101}', 'a⟦U+E0101⟧', 'invisible'],
  'a filler of Hangul': ['a\u3164b', 'a⟦U+3164⟧b', 'invisible'],
  'a blank of Braille': ['a\u2800b', 'a⟦U+2800⟧b', 'invisible'],
  'fillers of Hangul that join': ['a\u115f\u1160b', 'a⟦U+115F⟧⟦U+1160⟧b', 'invisible'],
  'a half-width filler of Hangul': ['a\uffa0b', 'a⟦U+FFA0⟧b', 'invisible'],
  'a note without a head': ['a\u{1d159}b', 'a⟦U+1D159⟧b', 'invisible'],
  'a blank of hieroglyphs': ['a\u{13441}b', 'a⟦U+13441⟧b', 'invisible'],
  'a soft hyphen': ['a\u00adb', 'a⟦U+00AD⟧b', 'invisible'],
  'a line separator': ['# x\u2028rm', '# x⟦U+2028⟧rm', 'line_separator'],
};

describe('visible', () => {
  for (const [what, [text, shown, kind]] of Object.entries(HOSTILE))
    it(`shows ${what}, warns of it, and does so once`, () => {
      assert.equal(visible(text), shown);
      assert.equal(visible(shown), shown);
      assert.deepEqual([...new Set(warningsIn(text).map((each) => each.kind))], [kind]);
      assert.deepEqual(warningsIn(shown), []);
    });

  it('leaves what is seen as it is: line ends, emoji, flags, joined letters, ideographs', () => {
    for (const text of [
      'One\ttwo\r\nthree\n',
      '👨‍👩‍👧 👍🏽 ❤️ 1️⃣ 🏳️‍🌈 🏴󠁧󠁢󠁥󠁮󠁧󠁿',
      'می‌خواهم',
      'مرحبا \u200f!',
      '\u200eשלום',
      'क्‍ष',
      '葛󠄀',
      '\ufeff# A title',
      'Ünïcödé – “quotes” …',
    ]) {
      assert.equal(visible(text), text);
      assert.deepEqual(warningsIn(text), []);
    }
  });

  it('shows the tags of a flag that spell anything but the name of a flag', () => {
    const shown = '🏴⟦U+E0072⟧⟦U+E006D⟧⟦U+E0078⟧⟦U+E007F⟧';
    assert.equal(visible('🏴\u{e0072}\u{e006d}\u{e0078}\u{e007f}'), shown);
  });

  it('names line and column, merges what stands together, and stops at a hundred', () => {
    const [one, two] = warningsIn('first\r\n😀ab\u200b\u200bc\n\u001b[1A');
    assert.deepEqual(one, { line: 2, column: 4, kind: 'invisible', text: '⟦U+200B⟧⟦U+200B⟧' });
    assert.deepEqual(two, { line: 3, column: 1, kind: 'control', text: '␛' });
    assert.equal(warningsIn('\u001b \n'.repeat(5000)).length, 100);
  });

  it('warns of what three thousand blanks push out of sight, and of no blanks at a line’s end', () => {
    const pushed = `ls${' '.repeat(3000)}; rm -rf ~\n`;
    assert.deepEqual(warningsIn(pushed), [
      { line: 1, column: 3, kind: 'long_blank', text: '; rm -rf ~' },
    ]);
    assert.equal(warningsIn(`a${'\t'.repeat(10)}b`)[0]?.kind, 'long_blank');
    assert.deepEqual(warningsIn(`a${' '.repeat(3000)}\nb${' '.repeat(60)}c`), []);
  });

  it('warns of what empty lines push below the fold, by the line where they begin, and of none at the end', () => {
    const pushed = `# Plan\n${'\n'.repeat(400)}rm -rf ~\n`;
    assert.deepEqual(warningsIn(pushed), [
      { line: 2, column: 1, kind: 'blank_lines', text: 'rm -rf ~' },
    ]);
    for (const blank of ['\r\n', ' \t\n', '\u00a0\n', '\u3000\r\n'])
      assert.deepEqual(
        warningsIn(`a\n${blank.repeat(30)}b`).map(({ line, kind }) => [line, kind]),
        [[2, 'blank_lines']],
        JSON.stringify(blank),
      );
    assert.deepEqual(warningsIn(`a${'\n'.repeat(15)}b${'\n'.repeat(400)}`), []);
    assert.equal(warningsIn(`${'\n'.repeat(30)}b`)[0]?.line, 1);
  });

  it('warns of lines that only look empty by what they are made of', () => {
    for (const blank of ['\u2800', '\u3164', '\u115f', '\u1160', '\u00ad', '\u{e0041}']) {
      const found = warningsIn(`# Plan\n${`${blank}\n`.repeat(40)}rm -rf ~\n`);
      assert.deepEqual([found[0]?.line, found[0]?.kind, found.length], [2, 'invisible', 40]);
    }
  });

  it('takes the colours out of outputs and nothing else', () => {
    const output = '\u001b[31mred\u001b[0m\u001b[2J\u001b]0;title\u0007';
    assert.equal(visibleOutput(output), 'red␛[2J␛]0;title␇');
  });

  it('reaches every text of a value but ids', () => {
    const event = { title: '\u001b', deep: [{ option_id: '\u001b', name: '\u202e' }], n: 1 };
    assert.deepEqual(visibleWithin(event), {
      ...{ title: '␛', n: 1 },
      deep: [{ option_id: '\u001b', name: '⟦U+202E⟧' }],
    });
  });

  it('is quick on the worst of texts', () => {
    const since = performance.now();
    for (const text of [
      '\u200d',
      '\u001b',
      ' ',
      '👨\u200d',
      '\r',
      '\ufe0f',
      '\n',
      ' \n',
      '\u2800',
      '\u00a0',
    ])
      warningsIn(visible(text.repeat(200_000)) + text.repeat(200_000));
    assert.ok(performance.now() - since < 60_000);
  });
});

describe('jsonText', () => {
  it('lets nothing hidden through, and loses nothing', () => {
    for (const [text] of Object.values(HOSTILE)) {
      for (const json of [jsonText({ [text]: text }), jsonText({ [text]: text }, 2)]) {
        assert.doesNotMatch(json, HIDDEN);
        assert.match(json, /^[\n\x20-\x7e]*$/);
        assert.deepEqual(JSON.parse(json), { [text]: text });
      }
    }
    assert.equal(jsonText({ a: 'plain é 😀' }), JSON.stringify({ a: 'plain é 😀' }));
  });
});

describe('a line of the log', () => {
  it('shows a terminal no control sequence, whoever wrote it', () => {
    const lines: string[] = [];
    const log = logTo({ write: (line: string) => lines.push(line) }, 'info');
    for (const [text] of Object.values(HOSTILE)) log.error({ text, err: new Error(text) }, text);
    for (const line of lines) {
      assert.doesNotMatch(line, HIDDEN);
      const { text, msg, err } = JSON.parse(line);
      assert.doesNotMatch([text, msg, err.message, err.stack].join('\n'), HIDDEN);
    }
    log.info({ text: 'one\r\ntwo\t\\u001b' }, 'x');
    assert.equal(JSON.parse(lines.at(-1) ?? '').text, 'one\r\ntwo\t\\u001b');
  });
});

describe('a shell block', () => {
  const plan = (script: string): string =>
    `# Plan\n\n\`\`\`sh\ntrue\n\`\`\`\n\n\`\`\`sh\n${script}\n\`\`\`\n`;

  for (const [what, [text]] of Object.entries(HOSTILE))
    it(`with ${what} is named`, () => {
      const found = hiddenBlock(plan(text)) ?? '';
      assert.match(found, what.includes('return') ? /carriage return .* line/ : /^Block 2 of 2 \(/);
      assert.doesNotMatch(found, HIDDEN);
    });

  it('with a command pushed out of sight is named, and one without anything is not', () => {
    assert.match(
      hiddenBlock(plan(`ls${' '.repeat(3000)}; rm -rf ~`)) ?? '',
      /rm -rf ~.*out of sight/,
    );
    assert.match(
      hiddenBlock(plan(`ls\n${'\n'.repeat(400)}rm -rf ~`)) ?? '',
      /empty lines that push “rm -rf ~” out of sight in line 2/,
    );
    assert.match(
      hiddenBlock(plan('true\nrm\u00A0-rf build')) ?? '',
      /has ⟦U\+00A0⟧ in line 2, column 3/,
    );
    assert.equal(hiddenBlock(plan('printf "hello 😀\\n"\n\techo "é"')), undefined);
    assert.equal(hiddenBlock('Prose \u001b[8m alone.\n'), undefined);
  });
});
