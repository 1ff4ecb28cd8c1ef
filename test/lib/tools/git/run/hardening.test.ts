import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import fc from 'fast-check';
import { settingsText } from '../../../../../lib/tools/git/run/config.ts';
import {
  type Overrides,
  overrides,
  plainOverrides,
} from '../../../../../lib/tools/git/run/hardening.ts';
import {
  known,
  makeRepository,
  temporaryDirectory,
  testGit,
} from '../../../../helpers/repository.ts';

const CLONED = `[core]
\trepositoryformatversion = 0
\tbare = false
[remote "origin"]
\turl = https://host.invalid/filter/merge.git
\tfetch = +refs/heads/*:refs/remotes/origin/*
[branch "main"]
\tremote = origin
\tmerge = refs/heads/main
`;

// Ways of saying in a file that a program is to be run, or where that is said.
const NAMING = [
  '[filter "x"]\n\tclean = evil\n',
  '[FILTER "x"] SMUDGE = evil',
  '[filter.x]\nprocess=evil\n',
  '[core] a = b\n[core][filter "x"] clean = evil\n',
  '\t [filter\t"a=b\\"c"]\r\n\tclean = evil\r\n',
  '\ufeff[diff "x"]\n\ttextconv = evil\n',
  '# a remark\n[Diff "x"] command = evil\n',
  '[merge "x"]\n\tdriver = evil\n',
  '[hook "x"]\n\tcommand = evil\n',
  '[include]\n\tpath = more\n',
  '[INCLUDE] path = more\n',
  '[includeIf "gitdir:**"]\n\tpath = more\n',
  '[includeIf "onbranch:**"]\n\tpath = more\n',
];

// What git itself finds in these files, and takes out; undefined where it cannot read them.
const asGitReads = async (t: TestContext) => {
  const made = makeRepository(t);
  const git = testGit(t);
  const place = known(made);
  writeFileSync(join(place.git_dir, 'more'), '[filter "x"]\n\tclean = evil\n');
  const args = ['config', '--list', '-z', '--show-scope', '--includes'];
  return async (text: string): Promise<Overrides | undefined> => {
    writeFileSync(join(place.git_dir, 'config'), text);
    const { code, stdout } = await git.at(place).run(args, { read: true, ok: [0, 3, 128] });
    return code === 0 ? overrides(stdout.toString()) : undefined;
  };
};

const latin1 = (text: string): string => Buffer.from(text).toString('latin1');

describe('plainOverrides', () => {
  it('takes nothing out of the settings of a clone', () => {
    assert.deepEqual(plainOverrides(CLONED), { settings: [], env: {} });
  });

  it('leaves every way of naming a program to git', async (t) => {
    const read = await asGitReads(t);
    for (const text of NAMING) {
      assert.notDeepEqual((await read(CLONED + text))?.settings, [], `${text} names none`);
      assert.equal(plainOverrides(latin1(CLONED + text)), undefined, text);
    }
  });

  it('never finds less than git does', async (t) => {
    const read = await asGitReads(t);
    const words = ['[', ']', '"', '\\', '\n', '\r', ' ', '.', '=', '#', '[core]', 'filter', 'Diff'];
    const texts = fc.array(
      fc.constantFrom(
        ...words,
        ...NAMING,
        'x',
        'clean',
        'command',
        'include',
        'path',
        'more',
        '\0',
      ),
      { maxLength: 12 },
    );
    const assertSure = async (parts: string[]): Promise<void> => {
      const text = parts.join('');
      if (plainOverrides(latin1(text)) === undefined) return;
      assert.deepEqual((await read(text))?.settings ?? [], []);
    };
    await fc.assert(fc.asyncProperty(texts, assertSure), { numRuns: 150 });
  });
});

describe('overrides', () => {
  it('keeps a setting of the operator without a value, which git reads as true', () => {
    const listing = 'global\0http.sslverify\0local\0http.sslverify\nfalse\0';
    assert.deepEqual(overrides(listing).settings, [['http.sslverify', 'true']]);
  });
});

describe('settingsText', () => {
  const place = (t: TestContext) => {
    const common_dir = temporaryDirectory(t);
    const git_dir = join(common_dir, 'worktrees');
    mkdirSync(git_dir);
    return { git_dir, common_dir };
  };

  it('is what the repository and the worktree say, nothing where there is no file', (t) => {
    const { git_dir, common_dir } = place(t);
    assert.equal(settingsText({ git_dir, common_dir }), '\n');
    writeFileSync(join(common_dir, 'config'), 'one');
    writeFileSync(join(git_dir, 'config.worktree'), Buffer.from([0xe9]));
    assert.equal(settingsText({ git_dir, common_dir }), 'one\n\u00e9');
  });

  it('takes no link, pipe, directory or very long file at its word', (t) => {
    const { git_dir, common_dir } = place(t);
    const file = join(git_dir, 'config.worktree');
    writeFileSync(join(common_dir, 'elsewhere'), 'x');
    for (const put of [
      () => symlinkSync('../elsewhere', file),
      () => execFileSync('mkfifo', [file]),
      () => mkdirSync(file),
      () => writeFileSync(file, '#'.repeat(300_000)),
    ]) {
      put();
      assert.equal(settingsText({ git_dir, common_dir }), undefined);
      rmSync(file, { recursive: true });
    }
  });
});
