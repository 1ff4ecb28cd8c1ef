import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parserOf } from '../../../store/front-matter/parse.ts';
import { fileProblems, Problem } from '../../../store/front-matter/problem.ts';
import { CaseMatter } from '../../../store/records/case.ts';
import { ProofMatter } from '../../../store/records/proof.ts';
import { Settings } from '../../../store/records/settings.ts';
import { WebhookMatter } from '../../../store/records/webhook.ts';

type Told = [line?: number | undefined, column?: number | undefined, message?: string];

/** What is told of such settings: line, column and words of each. */
const toldOf = (...lines: string[]): Told[] => toldBy(parserOf(Settings), ...lines);

const toldBy = (parse: (text: string) => unknown, ...lines: string[]): Told[] => {
  try {
    parse(`---\n${lines.join('\n')}\n---\n`);
  } catch (error) {
    assert.ok(error instanceof Problem, String(error));
    return fileProblems('workspace.md', error).map(({ line, column, message }) => [
      line,
      column,
      message,
    ]);
  }
  return [];
};

const ID = 'id: 3f2a9c10-0d5e-4b7a-9c1d-2e3f4a5b6c7d';
const AT = 'created_at: 2026-11-21T07:03:46Z';
const CASE = { schema: CaseMatter, lines: [ID, 'title: x', 'type: task', 'state: OPEN', AT] };
const HOOK = { schema: WebhookMatter, lines: [ID, AT] };
const PROOF = { schema: ProofMatter, lines: [ID, 'type: test-log', 'verified: false', AT] };

describe('a value that does not fit', () => {
  for (const [line, message] of [
    ['autocommit: "true"', 'autocommit: must be true or false: write true, without quotes'],
    ['autocommit: yes', 'autocommit: must be true or false: write true, without quotes'],
    ['autocommit: Off', 'autocommit: must be true or false: write false, without quotes'],
    ['autocommit: maybe', 'autocommit: must be true or false, not maybe'],
    ['max_sessions: "4"', 'max_sessions: must be a whole number: write 4, without quotes'],
    ['max_sessions: four', 'max_sessions: must be a whole number, not four'],
    ['max_sessions: 0', 'max_sessions: must be >= 1, not 0'],
    ['provider:', 'provider: must be text, not empty'],
    [
      'provider: #5 is wrong',
      'provider: is empty, because # begins a comment. Put it in quotes: "#5 is wrong"',
    ],
    ['provider: 5 # five', 'provider: must be text: write "5", in quotes'],
    ['provider: [claude]', 'provider: must be text, not a list'],
    ['provider: 4', 'provider: must be text: write "4", in quotes'],
    ['sandbox_readable: ~/x', 'sandbox_readable: must be a list: write ["~/x"]'],
    ['projects: ./here', 'projects: must be `key: value` lines, not ./here'],
    ['sandbox: on', 'sandbox: must be one of auto, off, seatbelt, not on'],
    ['network: prox', 'network: must be one of proxy, host, not prox'],
    ['network: {alow: [x.org]}', 'network.allow: is missing. Is alow a misspelling of it?'],
  ] as const)
    it(`is told with what to write: ${line}`, () => {
      const found = toldOf(line);
      assert.deepEqual(found, [[2, 1, message]]);
    });

  it('is told without the value where a token may be', () => {
    const line = 'providers: {a: {kind: acp, command: x, args: "--token x", env: {T: 1234567}}}';
    const found = toldOf(line).map(([, , message]) => message);
    assert.deepEqual(found, [
      'providers.a.args: must be a list',
      'providers.a.env.T: must be text',
    ]);
  });

  for (const [good, wrong, message] of [
    [CASE, 'created_at: today', /^created_at: must be a time such as \S+Z, not today$/],
    [CASE, 'state: DONE', /^state: must be one of OPEN, .*, PLANNING, not DONE$/],
    [CASE, 'type: A Bug', /^type: must be a lower-case word such as bug or test-log, not A Bug$/],
    [CASE, 'id: 7b', /^id: must be a UUID, not 7b$/],
    [CASE, 'outcome: 42', /^outcome: must be text: write "42", in quotes$/],
    [CASE, 'outcome: [a]', /^outcome: must be text, not a list$/],
    [CASE, 'tilte: x', /^title: is missing\. Is tilte a misspelling of it\?$/],
    [
      HOOK,
      'url: https://a:secret@x.org/',
      /^url: must be an address that begins with [^@]+, without a password$/,
    ],
    [CASE, 'type: "A\\nBug"', /^type: must be a lower-case word such as bug or test-log$/],
    [PROOF, 'file: ../a.png', /^file: must be the name of a file in proof.*, not \.\.\/a\.png$/],
  ] as const)
    it(`is told with the value: ${wrong}`, () => {
      const key = wrong === 'tilte: x' ? 'title' : wrong.split(':', 1)[0];
      const others = good.lines.filter((line) => !line.startsWith(`${key}:`));
      const [[, , said = ''] = []] = toldBy(parserOf(good.schema), ...others, wrong);
      assert.match(said, message);
    });

  it('is told at its own place, however deep, and all of them are', () => {
    const found = toldOf(
      'autocommit: "true"',
      'providers:',
      '  mine:',
      '    kind: agent',
      '    args: [--acp, 4]',
      'worktrees:',
      '  setup: [1]',
    );
    assert.deepEqual(
      found.map(([line, column, message]) => [line, column, message?.split(':', 1)[0]]).toSorted(),
      [
        [2, 1, 'autocommit'],
        [5, 5, 'providers.mine.kind'],
        [6, 19, 'providers.mine.args.1'],
        [8, 11, 'worktrees.setup.0'],
      ],
    );
  });
});

describe('a text that YAML takes otherwise', () => {
  for (const [line, message] of [
    [
      'title: Fix: the thing',
      'The value contains a colon, which YAML reads as `key: value`. Put it in quotes: title: "Fix: the thing"',
    ],
    [
      'title: @ann wants it',
      'The value starts with a character that has a meaning in YAML. Put it in quotes: title: "@ann wants it"',
    ],
    [
      'title: "Fix" the thing',
      'The value starts with a character that has a meaning in YAML. Put it in quotes: title: "\\"Fix\\" the thing"',
    ],
    [
      'title: *urgent* parser',
      'The value starts with a character that has a meaning in YAML. Put it in quotes: title: "*urgent* parser"',
    ],
    [
      'title: *urgent',
      'The value starts with a character that has a meaning in YAML. Put it in quotes: title: "*urgent"',
    ],
    [
      'title: !important is lost',
      'The value starts with a character that has a meaning in YAML. Put it in quotes: title: "!important is lost"',
    ],
    [
      'title: & is wrong',
      'The value starts with a character that has a meaning in YAML. Put it in quotes: title: "& is wrong"',
    ],
  ] as const)
    it(`is told with the quotes to put: ${line}`, () => {
      const [[at, column, said] = []] = toldOf(line);
      assert.deepEqual([at, typeof column, said], [2, 'number', message]);
    });

  for (const [lines, at, message] of [
    [['provider: "a', 'sandbox: off', 'max_sessions: 4'], 2, /^The quote that opens here /],
    [['provider: a', 'sandbox: off', 'provider: b'], 4, /^The key provider occurs twice\. /],
    [['limits: {a: 1, a: 2}'], 2, /^The key a occurs twice\. /],
    [['"a:b": 1', '"a:b": 2'], 3, /^Map keys must be unique/],
    [['provider: claude', '  model: x'], 2, /^Nested mappings are not allowed/],
    [['title: The parser', 'loses lines'], 3, /^The line has no `key:`\. .* indent the line/],
    [['title: The parser', 'loses lines', 'a: 1'], 3, /^The line has no `key:`\. /],
    [['limits: {a: 1 b: 2}'], 2, /^(?!The line has no)/],
    [['limits:', '\tidle_minutes: 3'], 3, /^The line is indented with a tab\. Use spaces$/],
  ] as const)
    it(`is told where it begins, with what to do: ${lines.join(' / ')}`, () => {
      const [[line, , said = ''] = []] = toldOf(...lines);
      assert.equal(line, at);
      assert.match(said, message);
    });

  it('is told for each line that has one', () => {
    const found = toldOf('title: Fix: the thing', 'owner: @ann', 'state: OPEN');
    assert.deepEqual(
      found.map(([line]) => line),
      [2, 3],
    );
  });
});
