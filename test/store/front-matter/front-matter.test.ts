import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  bodyOfText,
  parseFrontMatter,
  textOfBody,
} from '../../../store/front-matter/front-matter.ts';
import { Problem } from '../../../store/front-matter/problem.ts';
import { renderFrontMatter, spliceFrontMatter } from '../../../store/front-matter/splice.ts';
import { decodeText } from '../../../store/front-matter/text.ts';

const problemOf = (read: () => unknown): Problem => {
  try {
    read();
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return error;
  }
  throw new assert.AssertionError({ message: 'it was read' });
};

const BY_HAND = `---
# who and what
id: "b1"   # never change
title:   'Tax is  off'
tags: [a,  b]   # flow stays flow
state: OPEN # now
story: >
  folded
  text
due: 2026-01-02
big: 012
outcome:
mine: {x: 1}
---
Body --- with

---
a rule`;

describe('parseFrontMatter', () => {
  it('reads YAML 1.2 core: times stay text, 012 is a number, unknown keys stay', () => {
    const { data } = parseFrontMatter(BY_HAND);
    assert.equal(data.due, '2026-01-02');
    assert.equal(data.big, 12);
    assert.equal(data.outcome, null);
    assert.deepEqual(data.mine, { x: 1 });
  });

  for (const [name, text, code, line] of [
    ['code in a js block', '---js\n{ a: process.exit(9) }\n---\n', 'no_front_matter', 1],
    ['code in a javascript block', '---javascript\nprocess.exit(9)\n---\n', 'no_front_matter', 1],
    ['a json block', '---json\n{"a":1}\n---\n', 'no_front_matter', 1],
    ['five dashes', '-----\na: 1\n-----\n', 'no_front_matter', 1],
    ['no closing rule', '---\na: 1\nbody', 'unclosed_front_matter', 1],
    [
      'a closing line that only begins with dashes',
      '---\na: 1\n---foo\nb: 2\n---\n',
      'not_a_mapping',
      1,
    ],
    ['comments alone', '---\n# nothing\n---\n', 'not_a_mapping', 1],
    ['nothing', '---\n---\n', 'not_a_mapping', 1],
    ['plain text', '---\nhello\n---\n', 'not_a_mapping', 1],
    ['a list', '---\n- a\n---\n', 'not_a_mapping', 1],
    ['a key twice', '---\na: 1\nb: 2\na: 3\n---\n', 'bad_yaml', 4],
    ['an open quote', '---\na: 1\nb: "x\nc: 1\n---\n', 'bad_yaml', 3],
    ['a tag', '---\na: 1\nb: !!js/function x\n---\n', 'bad_yaml', 3],
    ['an empty file', '', 'no_front_matter', 1],
  ] as const) {
    it(`refuses ${name}`, () => {
      const problem = problemOf(() => parseFrontMatter(text));
      assert.equal(problem.code, code);
      assert.equal(problem.place?.line, line);
    });
  }

  it('refuses aliases that multiply', () => {
    const levels = [
      'a: &a [1]',
      ...'bcdefghi'.split('').map((k, i) => `${k}: &${k} [${`*${'abcdefgh'[i]},`.repeat(9)}]`),
    ];
    assert.equal(
      problemOf(() => parseFrontMatter(`---\n${levels.join('\n')}\n---\n`)).code,
      'too_many_aliases',
    );
  });

  it('does not let a key named __proto__ reach the prototype', () => {
    parseFrontMatter('---\n__proto__: {polluted: true}\n---\n');
    assert.equal(({} as { polluted?: boolean }).polluted, undefined);
  });
});

describe('decodeText', () => {
  it('refuses bytes that are not UTF-8, NUL bytes and open merges, and says where', () => {
    assert.equal(problemOf(() => decodeText(Buffer.from([0x2d, 0xff]))).code, 'not_utf8');
    assert.deepEqual(problemOf(() => decodeText(Buffer.from('a\nb\0'))).place, {
      line: 2,
      column: 2,
    });
    const merge = 'a\n<<<<<<< HEAD\nx\n=======\ny\n>>>>>>> other\n';
    assert.deepEqual(problemOf(() => decodeText(Buffer.from(merge))).place, { line: 2, column: 1 });
  });

  it('reads a text that quotes one marker', () => {
    assert.equal(decodeText(Buffer.from('see\n>>>>>>> that\n')), 'see\n>>>>>>> that\n');
  });
});

describe('spliceFrontMatter', () => {
  it('gives the same bytes back when nothing differs', () => {
    assert.equal(
      spliceFrontMatter(parseFrontMatter(BY_HAND), { state: 'OPEN', missing: undefined }),
      BY_HAND,
    );
  });

  for (const [name, changes, from, to] of [
    ['a value', { state: 'BLOCKED' }, 'state: OPEN # now', 'state: BLOCKED # now'],
    ['a quoted value', { title: 'New: one' }, "title:   'Tax is  off'", 'title:   "New: one"'],
    ['an empty value', { outcome: 'resolved' }, 'outcome:\n', 'outcome: resolved\n'],
    ['a folded text', { story: 'short' }, 'story: >\n  folded\n  text\n', 'story: short\n'],
    ['a removed key', { due: undefined }, 'due: 2026-01-02\n', ''],
    ['an added key', { extra: 'x' }, 'mine: {x: 1}\n', 'mine: {x: 1}\nextra: x\n'],
    ['a text that looks like a number', { title: '012' }, "'Tax is  off'", '"012"'],
    ['a list', { tags: ['c'] }, 'tags: [a,  b]   # flow stays flow\n', 'tags:\n  - c\n'],
    ['text to null', { state: null }, 'state: OPEN', 'state: null'],
  ] as const) {
    for (const eol of ['\n', '\r\n']) {
      it(`changes ${name} and nothing else (${eol === '\n' ? 'LF' : 'CRLF'})`, () => {
        const inEol = (text: string) => text.replaceAll('\n', eol);
        const result = spliceFrontMatter(parseFrontMatter(inEol(BY_HAND)), changes);
        assert.equal(result, inEol(BY_HAND.replace(from, to)));
      });
    }
  }

  it('keeps a byte-order mark', () => {
    assert.equal(
      spliceFrontMatter(parseFrontMatter('\uFEFF---\na: 1\n---\n'), { a: 2 }),
      '\uFEFF---\na: 2\n---\n',
    );
  });

  it('changes several keys at once, in a flow mapping too', () => {
    const text = spliceFrontMatter(parseFrontMatter('---\n{a: 1, b: 2}\n---\nbody'), {
      a: 5,
      c: 'n',
    });
    assert.deepEqual(parseFrontMatter(text).data, { a: 5, b: 2, c: 'n' });
    assert.equal(parseFrontMatter(text).body, 'body');
  });

  it('refuses a change that would move another value along', () => {
    const source = parseFrontMatter('---\na: &x 1\nb: *x\n---\n');
    assert.throws(() => spliceFrontMatter(source, { a: 5 }), { code: 'unreadable_record' });
  });
});

describe('bodyOfText', () => {
  it('brings any text back exactly', () => {
    for (const text of ['', 'a', '\n', '\n\na\n\n', 'a\n', '---\nx', ' ']) {
      const body = bodyOfText(text, '\n');
      assert.equal(textOfBody(parseFrontMatter(renderFrontMatter({ a: 1 }, body))), text);
    }
    assert.equal(bodyOfText('a\nb', '\r\n'), '\r\na\r\nb\r\n');
    assert.equal(textOfBody({ body: '\r\na\r\nb\r\n', eol: '\r\n' }), 'a\nb');
  });
});
