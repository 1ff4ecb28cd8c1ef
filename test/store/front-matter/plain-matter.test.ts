import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { array, assert as check, constantFrom, oneof, property, string, tuple } from 'fast-check';
import { parseAsYaml, parseFrontMatter } from '../../../store/front-matter/front-matter.ts';
import { plainMatter } from '../../../store/front-matter/plain-matter.ts';
import { renderFrontMatter } from '../../../store/front-matter/splice.ts';

const USUAL = `# Of a usual record: it's "so"
#id: none
id: 1e5a4c1b-0000-4000-8000-000000000001
title: A Work item of the usual size, (really) it's 100% über
type: bug
state: OPEN
outcome: null

#
mode: 420
is_open: true
link: https://example.com/a?b=c
note: "it is: quoted #1 "
created_at: 2026-01-01T00:00:00.000Z
`;

// What YAML may take for something else than a text, or for the start of something.
const TRICKY = [
  ...['~', '', ' ', 'Null', 'TRUE', 'no', 'y', 'NaN', 'Infinity', 'inf', '.inf', '.nan', '-', '-1'],
  ...['0', '00', '012', '0x1f', '0o7', '1e5', '1_000', '1.5', '+1', '.5', '123456789012345678'],
  ...['2026-01-02', '12:30:45', '12345678-1234-1234-1234-123456789012', '12345678e'],
  ...['a: b', 'a:b', 'a:', 'a :b', 'a #b', 'a#b', '#a', '- a', '? a', '& a', '&a b', '*a', '!a b'],
  ...['!!str a', '|', '>', '%a', '@a', '`a', '{a: 1}', '[a]', 'a, b]', 'a{b}', '"a" b', '"a\\n"'],
  ...["'a'", "it's", '"a', 'a"b"', '"', '""', '" "', '---', '...', 'a ---', 'a\tb', '\ta', 'a\t'],
  ...['a  b', 'a ', ' a', 'ä', 'a\u00a0', 'a\u2028b', 'a\u0085b', '\ufeffa', '日本', 'a😀', 'a\\b'],
];
const KEYS = [
  ...['a', 'b', 'long_name', 'null', 'true', 'nullable', 'constructor', '__proto__', '1a', 'a-b'],
  ...['#', '# a', '#- ', 'A', 'a b', '"a"', '- a', '? a', '<<', '#a', ' a', ''],
];

const value = oneof(
  constantFrom(...TRICKY),
  string({ maxLength: 12 }),
  string({ maxLength: 8, unit: constantFrom(...'aZ09_-:# "\'[]{},&*!|>%@`~.?\t\\ä') }),
);
const line = tuple(constantFrom(...KEYS), constantFrom(': ', ':', ':  '), value).map((parts) =>
  parts.join(''),
);
const block = oneof(
  array(oneof(line, value, constantFrom('', ' ', '#', '# a: b', ' # a', '#\t', '#\u2028')), {
    maxLength: 4,
  }),
  array(line, { maxLength: 4 }),
);

const yamlOf = (yaml: string): unknown => {
  try {
    return parseAsYaml(`---\n${yaml}---\n`).data;
  } catch {
    return 'refused';
  }
};

describe('plainMatter', () => {
  it('reads what records nearly always are, as the YAML parser does', () => {
    assert.deepEqual(plainMatter(USUAL), yamlOf(USUAL));
    assert.equal(
      plainMatter(USUAL)?.title,
      "A Work item of the usual size, (really) it's 100% über",
    );
  });

  it('answers as the YAML parser, or leaves it to that', async () => {
    const assertSame = (yaml: string): void => {
      const plain = plainMatter(yaml);
      if (plain !== undefined) assert.deepEqual(plain, yamlOf(yaml), JSON.stringify(yaml));
    };
    for (const text of TRICKY) assertSame(`a: ${text}\nb: c\n`);
    for (const key of KEYS) assertSame(`${key}: x\n${key}: y\n`);
    for (const key of KEYS) assertSame(`a: x\n${key}: y\n`);
    await check(
      property(block, constantFrom('\n', '', '\r\n'), (lines, end) =>
        assertSame(lines.map((each) => `${each}\n`).join('') + end),
      ),
      { numRuns: 5000 },
    );
  });

  it('reads what the daemon writes of such values, and leaves lists to the YAML parser', () => {
    const data = { id: 'x', title: 'Fix: the #1 bug', outcome: null, count: 3, is: false };
    const { data: again, yaml } = parseFrontMatter(renderFrontMatter(data, ''));
    assert.deepEqual(again, data);
    assert.deepEqual(plainMatter(yaml), data);
    assert.equal(plainMatter('# nothing\n\n'), undefined);
    assert.equal(plainMatter('labels: [a]\n'), undefined);
    assert.equal(plainMatter('labels:\n  - a\n'), undefined);
  });
});

describe('parseFrontMatter', () => {
  it('makes the document when it is asked for, with the place of each value', () => {
    const source = parseFrontMatter(`---\n${USUAL}---\nbody`);
    assert.deepEqual(source.document.toJS(), source.data);
    assert.equal(source.document, source.document);
    assert.equal(source.body, 'body');
  });
});
