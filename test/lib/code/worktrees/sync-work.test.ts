import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type WorktreeDiff, worktreeDiff } from '../../../../lib/code/worktrees/inspect/diff.ts';
import { syncWork } from '../../../../lib/code/worktrees/recovery/sync-work.ts';
import { readWorktree } from '../../../../store/worktrees/worktrees.ts';
import { inject } from '../../../helpers/faults.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { create, start } from './fixture.ts';

interface Scene {
  root: string;
  diff: () => Promise<WorktreeDiff>;
  sync: (diff: WorktreeDiff) => Promise<void>;
  /** What `sync` was called with, a line for each time. */
  called: () => string[];
}

/** A worktree, with a `sync` on the PATH that notes how it is called; without any where there is to be none. */
const scene = async (t: TestContext, program = 'exec "$REAL" "$@"'): Promise<Scene> => {
  const fixture = await start(t);
  const { path } = await create(fixture);
  const { git, store, item, config } = { ...fixture, ...fixture.service };
  const record = readWorktree(store, item.id);
  assert.ok(record !== undefined);
  const bin = temporaryDirectory(t);
  const log = join(bin, 'called');
  const text = `#!/bin/sh\nREAL=/bin/sync\necho "$@" >> ${log}\n${program}\n`;
  if (program !== '') writeFiles(bin, { sync: text });
  if (program !== '') chmodSync(join(bin, 'sync'), 0o755);
  const PATH = program === '' ? bin : [bin, process.env.PATH].join(delimiter);
  const env = { ...config.env, PATH };
  return {
    root: path,
    diff: () => worktreeDiff(git, record),
    sync: (diff) => syncWork({ store, config: { ...config, env } }, record, diff),
    called: () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : []),
  };
};

const many = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`d${n % 20}/f${n}.txt`, `${n}\n`]));

/** Each kind of change that is synced by itself. */
const change = (root: string): void => {
  const git = gitIn(root);
  writeFiles(root, {
    'new/deep/file.txt': 'new\n',
    'tab\t"é.txt': 'x\n',
    'b.txt': 'b\n'.repeat(9),
  });
  git('add', 'b.txt');
  git('-c', 'user.name=A', '-c', 'user.email=a@example.com', 'commit', '-qm', 'b');
  mkdirSync(join(root, 'moved'));
  git('mv', 'b.txt', 'moved/b.txt');
  rmSync(join(root, 'README.md'));
  symlinkSync('/nowhere', join(root, 'new/link'));
  writeFiles(root, { 'run.sh': 'true\n' });
  chmodSync(join(root, 'run.sh'), 0o755);
};

describe('syncWork', () => {
  it('syncs files that were made, moved, deleted, linked or made executable one by one', async (t) => {
    const { root, diff, sync, called } = await scene(t);
    change(root);
    await sync(await diff());
    assert.deepEqual(called(), []);
  });

  it('syncs the file system once where more than 200 files were changed', async (t) => {
    const { root, diff, sync, called } = await scene(t);
    writeFiles(root, many(200));
    await sync(await diff());
    assert.deepEqual(called(), []);
    writeFiles(root, many(5000));
    await sync(await diff());
    assert.deepEqual(called(), [`-f ${root}`]);
  });

  it('syncs the file system where a file is gone or another thing by now', async (t) => {
    const { root, diff, sync, called } = await scene(t);
    writeFiles(root, { 'a/one.txt': 'one\n', 'b/two.txt': 'two\n' });
    const seen = await diff();
    rmSync(join(root, 'a/one.txt'));
    await sync(seen);
    rmSync(join(root, 'b'), { recursive: true });
    symlinkSync('/dev', join(root, 'b'));
    await sync(seen);
    assert.equal(called().length, 2);
  });

  it('syncs the file system for a submodule, whose files the diff does not name', async (t) => {
    const { root, diff, sync, called } = await scene(t);
    const git = gitIn(root);
    git('init', '--quiet', 'sub');
    const author = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];
    gitIn(join(root, 'sub'))(...author, 'commit', '--allow-empty', '-qm', 'inner');
    git('add', 'sub');
    const seen = await diff();
    assert.deepEqual(
      seen.changed.map(({ path }) => path),
      ['sub'],
    );
    await sync(seen);
    assert.equal(called().length, 1);
  });

  for (const [what, program] of [
    ['is no program for it', ''],
    ['is one that cannot', 'exit 1'],
  ] as const)
    it(`syncs all files one by one where there ${what}`, async (t) => {
      const { root, diff, sync } = await scene(t, program);
      writeFiles(root, many(300));
      await sync(await diff());
    });

  it('rejects where the disk fails', async (t) => {
    const { root, diff, sync } = await scene(t);
    change(root);
    const seen = await diff();
    const faults = await inject(t, process.pid, 'fsync:error=EIO');
    if (faults === undefined) return;
    await assert.rejects(sync(seen), { code: 'EIO' });
    await faults.end();
  });
});
