import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { parserOf } from '../../../store/front-matter/parse.ts';
import { fileProblems, Problem } from '../../../store/front-matter/problem.ts';
import { Settings } from '../../../store/records/settings.ts';

const parse = parserOf(Settings);

/** What is told of such settings: line, column and words of each. */
const toldOf = (
  ...lines: string[]
): [line?: number | undefined, column?: number | undefined, message?: string][] => {
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

describe('a value that does not fit', () => {
  for (const [line, message] of [
    ['autocommit: "true"', 'autocommit: must be true or false: write true, without quotes'],
    ['autocommit: yes', 'autocommit: must be true or false: write true, without quotes'],
    ['autocommit: Off', 'autocommit: must be true or false: write false, without quotes'],
    ['autocommit: maybe', 'autocommit: must be true or false'],
    ['max_sessions: "4"', 'max_sessions: must be a whole number: write 4, without quotes'],
    ['max_sessions: four', 'max_sessions: must be a whole number'],
    ['provider: 4', 'provider: must be text: write "4", in quotes'],
    ['sandbox_readable: ~/x', 'sandbox_readable: must be a list: write ["~/x"]'],
    ['projects: ./here', 'projects: must be `key: value` lines'],
    ['sandbox: on', 'sandbox: must be one of auto, off, seatbelt'],
    ['network: prox', 'network: must be one of proxy, host'],
  ] as const)
    it(`is told with what to write: ${line}`, () => {
      const found = toldOf(line);
      assert.deepEqual(found, [[2, 1, message]]);
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
  ] as const)
    it(`is told with the quotes to put: ${line}`, () => {
      const [[at, column, said] = []] = toldOf(line);
      assert.deepEqual([at, typeof column, said], [2, 'number', message]);
    });

  it('is told for each line that has one', () => {
    const found = toldOf('title: Fix: the thing', 'owner: @ann', 'state: OPEN');
    assert.deepEqual(
      found.map(([line]) => line),
      [2, 3],
    );
  });
});
