import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isGitName, pathNames } from '../../../../store/fs/worktree/path.ts';

const refused = (path: string): void =>
  assert.throws(() => pathNames(path), { code: 'unsafe_path' }, JSON.stringify(path));

describe('namesIn', () => {
  it('answers the names on the way', () => {
    assert.deepEqual(pathNames('src/a b/émile.ts'), ['src', 'a b', 'émile.ts']);
    for (const name of ['.gitignore', '.github', 'git', '.git-x', '...', 'C:x', '-rf', '~', '🎉'])
      assert.deepEqual(pathNames(name), [name]);
  });

  const WRONG = [
    '',
    '/',
    '/etc/passwd',
    '//x',
    'a//b',
    'a/',
    '.',
    './a',
    'a/./b',
    '..',
    '../a',
    'a/../../b',
    'a/..',
    'a\\b',
    '..\\a',
    'a\0b',
    'a\nb',
    'a\u007fb',
    'a\u0085b',
    '\ud800',
    'x'.repeat(256),
    'é'.repeat(128),
    `${'a/'.repeat(2100)}a`,
  ];
  for (const path of WRONG) it(`refuses ${JSON.stringify(path.slice(0, 40))}`, () => refused(path));

  const GIT = [
    '.git',
    '.GIT',
    '.Git',
    '.git\u200c',
    '.\u200dg\u2060it',
    '\ufeff.git',
    '.g\u00adit',
    '.git.',
    '.git ',
    '.git . .',
    '.git::$INDEX_ALLOCATION',
    '.git:x',
    'git~1',
    'GIT~1',
    'git~2',
    '.ｇｉｔ',
    '．git',
  ];
  for (const name of GIT)
    it(`takes ${JSON.stringify(name)} for .git, at any level`, () => {
      for (const path of [name, `${name}/config`, `sub/${name}`, `a/${name}/hooks/x`])
        refused(path);
    });

  it('takes no path whose names lead anywhere but down, whatever it is made of', () => {
    const piece = fc.oneof(
      fc.constantFrom('.', '..', '/', '\\', '.git', '.GIT', 'git~1', ' ', '\0', '\u200c', 'a', ':'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        const path = pieces.join('');
        let names: string[];
        try {
          names = pathNames(path);
        } catch (error) {
          assert.equal((error as { code?: string }).code, 'unsafe_path');
          return;
        }
        assert.equal(names.join('/'), path);
        for (const name of names) {
          assert.ok(!['', '.', '..'].includes(name) && !isGitName(name), path);
          assert.ok(!/[\\\p{Cc}\p{Cs}]/u.test(name), path);
        }
      }),
      { numRuns: 500 },
    );
  });
});
