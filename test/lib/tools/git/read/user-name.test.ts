import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { userName } from '../../../../../lib/tools/git/read/user-name.ts';
import { createGit } from '../../../../../lib/tools/git/run/create-git.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../../../../helpers/repository.ts';

/** The name by its function and by git, with these files of the operator and these settings of the repository. */
const named = async (
  t: TestContext,
  files: Record<string, string>,
  settings: readonly (readonly [string, string])[] = [],
) => {
  const home = temporaryDirectory(t);
  writeFiles(home, files);
  const repository = makeRepository(t, { files: { 'a.txt': 'a\n' } });
  const git_dir = join(repository.root, '.git');
  repository.git('config', '--unset-all', 'user.name');
  for (const [key, value] of settings) repository.git('config', '--add', key, value);
  const env = { HOME: home, PATH: process.env.PATH ?? '' };
  const git = createGit({ env }).at({ git_dir, common_dir: git_dir });
  const asked = ['config', '--default', '', '--get', 'user.name'];
  const told = execFileSync('git', ['--git-dir', git_dir, ...asked], { env, encoding: 'utf8' });
  return [await userName(git, env), told.trim() || null];
};

const NAME = '[user]\n\tname = Ada Ł. # the first\n';

describe('userName', () => {
  it('is what git says: of the operator, of the repository, of an included file, and none', async (t) => {
    const dir = temporaryDirectory(t);
    writeFiles(dir, { more: '[user]\n\tname = Included\n' });
    const own = [['user.name', 'Here']] as const;
    const including = [['include.path', join(dir, 'more')]] as const;
    const all = [
      await named(t, { '.gitconfig': NAME }),
      await named(t, { '.config/git/config': NAME }),
      await named(t, { '.gitconfig': NAME }, own),
      await named(t, { '.gitconfig': NAME }, including),
      await named(t, {}),
    ];
    for (const [found, told] of all) assert.equal(found, told);
    assert.deepEqual(
      all.map(([found]) => found),
      ['Ada Ł.', 'Ada Ł.', 'Here', 'Included', null],
    );
  });
});
