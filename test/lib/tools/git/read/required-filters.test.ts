import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  filtersNotRun,
  unfilteredFiles,
} from '../../../../../lib/tools/git/read/required-filters.ts';
import { scopedEntries } from '../../../../../lib/tools/git/run/config.ts';
import { createGit } from '../../../../../lib/tools/git/run/create-git.ts';
import { commitWorkingFiles } from '../../../../../lib/tools/git/write/commit-files.ts';
import { cleanEnvironment } from '../../../../../lib/tools/process/environment.ts';
import {
  gitIn,
  known,
  makeRepository,
  makeWorktree,
  temporaryDirectory,
  writeFiles,
} from '../../../../helpers/repository.ts';

const found = (...entries: [scope: string, text: string][]): string[] => [
  ...filtersNotRun(scopedEntries(`${entries.flat().join('\0')}\0`)),
];

describe('filtersNotRun', () => {
  const REQUIRED = ['local', 'filter.x.required\ntrue'] as const;
  const LOCAL = ['local', 'filter.x.clean\nevil'] as const;

  it('are those that the repository names, required or not', () => {
    assert.deepEqual(found([...LOCAL]), ['x']);
    assert.deepEqual(found(['local', 'filter.x.process\np']), ['x']);
    assert.deepEqual(found([...REQUIRED], [...LOCAL], ['local', 'filter.x.required\nfalse']), [
      'x',
    ]);
    assert.deepEqual(found([...LOCAL], [...REQUIRED]), ['x']);
    assert.deepEqual(
      found(['worktree', 'filter.a.b.process\np'], ['local', 'filter.a.b.required']),
      ['a.b'],
    );
    assert.deepEqual(found(['local', 'filter.x.required\n1']), ['x']);
    assert.deepEqual(found(['global', 'filter.x.required\nyes'], [...LOCAL]), ['x']);
  });

  it("are none that change nothing, or that are the operator's own", () => {
    for (const none of ['clean\ncat', 'clean\n', 'process\n', 'smudge\nevil'])
      assert.deepEqual(found(['local', `filter.x.${none}`]), []);
    assert.deepEqual(found([...REQUIRED], ['local', 'filter.x.required\nfalse']), []);
    assert.deepEqual(
      found(['global', 'filter.x.clean\nmine'], ['global', 'filter.x.required\ntrue']),
      [],
    );
    assert.deepEqual(found(['global', 'filter.x.clean\nmine'], [...LOCAL], [...REQUIRED]), []);
    assert.deepEqual(found(['system', 'filter.x.process\nmine'], [...LOCAL], [...REQUIRED]), []);
  });

  it('are those whose own command git does not run, because the repository names a process', () => {
    const process = ['local', 'filter.x.process\nevil'] as const;
    assert.deepEqual(found(['global', 'filter.x.clean\nmine'], [...process], [...REQUIRED]), ['x']);
  });
});

describe('unfilteredFiles', () => {
  const place = async (t: TestContext) => {
    const home = temporaryDirectory(t);
    const made = makeRepository(t, { files: { 'a.txt': 'a\n' } });
    const git = createGit({ env: cleanEnvironment({ PATH: process.env.PATH }, { HOME: home }) });
    const worktree = await makeWorktree(t, git, known(made));
    return { home, made, git, worktree };
  };
  const PATHS = ['a.txt', 'new.txt', 'missing.txt', 'caf\xe9.txt', 'src/:(top)b.txt'];
  const FOUND = ['a.txt', 'new.txt', 'caf\xe9.txt', 'src/:(top)b.txt'].toSorted();

  for (const [where, say] of Object.entries({
    'of the worktree': ({ worktree }) =>
      writeFiles(worktree.path, { '.gitattributes': '*.txt filter=x\n' }),
    'of the index alone': ({ worktree }) => {
      const inside = gitIn(worktree.path);
      writeFiles(worktree.path, { attributes: '*.txt filter=x\n' });
      const oid = inside('hash-object', '-w', 'attributes').trim();
      inside('update-index', '--add', '--cacheinfo', `100644,${oid},.gitattributes`);
    },
    'of the repository': ({ made }) =>
      writeFiles(join(made.root, '.git'), { 'info/attributes': '*.txt filter=x\n' }),
    'of the operator': ({ home }) =>
      writeFiles(home, { '.config/git/attributes': '*.txt filter=x\n' }),
  } satisfies Record<string, (at: Awaited<ReturnType<typeof place>>) => void>))
    it(`goes by the attributes ${where}`, async (t) => {
      const at = await place(t);
      const { made, git, worktree } = at;
      writeFiles(worktree.path, { 'new.txt': 'n\n', 'src/:(top)b.txt': 'b\n' });
      writeFileSync(Buffer.from(`${worktree.path}/caf\xe9.txt`, 'latin1'), 'c\n');
      say(at);
      assert.deepEqual([...(await unfilteredFiles(git.at(worktree), PATHS))], []);
      made.git('config', 'filter.x.required', 'true');
      assert.deepEqual([...(await unfilteredFiles(git.at(worktree), PATHS))].toSorted(), FOUND);
    });

  it('leaves the pointers of git-lfs, and refuses to commit another file as it is', async (t) => {
    const { made, git, worktree } = await place(t);
    // Where git-lfs is installed, the operator's own settings have the filter `lfs`, and that runs.
    made.git('config', 'filter.lfs-absent.required', 'true');
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'1'.repeat(64)}\nsize 1\n`;
    const attributes = '*.bin filter=lfs-absent diff=lfs-absent merge=lfs-absent -text\n';
    writeFiles(worktree.path, { '.gitattributes': attributes, 'one.bin': pointer });
    assert.equal(
      (await commitWorkingFiles(git, worktree, { message: 'pointer', isAll: true })).committed
        ?.files,
      2,
    );
    const head = gitIn(worktree.path)('rev-parse', 'HEAD');
    writeFiles(worktree.path, {
      'two.bin': 'x',
      'long.bin': pointer + 'x'.repeat(2000),
      'b.txt': '',
    });
    await assert.rejects(
      commitWorkingFiles(git, worktree, { message: 'all', isAll: true }),
      /has a filter for long\.bin, two\.bin/,
    );
    assert.equal(gitIn(worktree.path)('rev-parse', 'HEAD'), head);
    assert.equal(gitIn(worktree.path)('diff', '--cached', '--name-only'), '');
  });
});
