import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ignoredUnseen } from '../../../../../lib/tools/git/read/ignore-rules.ts';
import {
  known,
  makeRepository,
  makeWorktree,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

describe('ignoredUnseen', () => {
  const unseenOf = async (
    t: Parameters<typeof makeRepository>[0],
    files: Record<string, string>,
    tracked?: Record<string, string>,
  ): Promise<string[]> => {
    const git = testGit(t);
    const worktree = await makeWorktree(
      t,
      git,
      known(makeRepository(t, tracked && { files: tracked })),
    );
    writeFiles(worktree.path, files);
    return ignoredUnseen(git.at(worktree));
  };

  it('names what a .gitignore that ignores itself hides, each directory once', async (t) => {
    const files = {
      '.venv/.gitignore': '*\n',
      '.venv/lib/deep/a.py': '',
      'deep/in/.gitignore': '*\n',
      'deep/in/a': '',
      'src/.gitignore': '.gitignore\n:(top)x\n*.log\n',
      'src/:(top)x': '',
      'src/line\nbreak.log': '',
      'src/seen.txt': '',
    };
    assert.deepEqual((await unseenOf(t, files, { 'src/a.txt': '' })).toSorted(), [
      '.venv/',
      'deep/in/',
      'src/.gitignore',
      'src/:(top)x',
      'src/line\nbreak.log',
    ]);
  });

  it('names nothing that a rule hides which git shows', async (t) => {
    const tracked = { '.gitignore': '*.log\nnode_modules/\n', 'all/.gitignore': '*\n' };
    const files = {
      'a.log': '',
      'all/b.txt': '',
      'node_modules/a/.gitignore': '*\n',
      'new/.gitignore': '*.txt\n',
      'new/c.txt': '',
    };
    assert.deepEqual(await unseenOf(t, files, tracked), []);
    assert.deepEqual(await unseenOf(t, {}), []);
  });
});
