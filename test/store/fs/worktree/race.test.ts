/** What is served or changed is in the tree, whoever swaps its directories for links meanwhile. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Tree } from '../../../../store/fs/worktree/folder.ts';
import { listTreeFolder } from '../../../../store/fs/worktree/list.ts';
import { moveInTree } from '../../../../store/fs/worktree/move.ts';
import { readTreeFile } from '../../../../store/fs/worktree/read.ts';
import {
  createTreeFile,
  makeTreeFolder,
  removeFromTree,
  replaceTreeFile,
} from '../../../../store/fs/worktree/write.ts';
import { killAtEnd } from '../../../helpers/at-end.ts';
import { temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { openWorkspace } from '../../../helpers/workspace.ts';

// The directory and a link to one outside take turns at the same name, as fast as renames are.
// What somebody else makes there meanwhile is moved out of the way.
const SWAP = `const { renameSync: mv } = require('node:fs');
process.chdir(process.argv[1]);
let n = 0;
const put = (name) => {
  try { mv(name, 'sub'); } catch { try { mv('sub', 'made-' + n++); } catch {} put(name); }
};
console.log('at work');
for (;;) { mv('sub', 'aside'); put('link'); mv('sub', 'link'); put('aside'); }`;

const swapped = async (t: TestContext): Promise<{ tree: Tree; outside: string }> => {
  const { store } = await openWorkspace(t);
  const root = temporaryDirectory(t);
  const outside = temporaryDirectory(t);
  writeFiles(root, { 'sub/file.txt': 'inside\n', '.git/HEAD': 'ref: refs/heads/main\n' });
  writeFiles(outside, { 'file.txt': 'SECRET\n' });
  symlinkSync(outside, join(root, 'link'));
  const child = spawn(process.execPath, ['-e', SWAP, root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  killAtEnd(t, child);
  await once(child.stdout, 'data');
  const git_dir = join(root, '.git');
  return { tree: { layout: store.layout, root, git_dir, closed: [git_dir] }, outside };
};

const OFTEN = 20;

/** Does it until it was let through and refused, each often. */
const often = async (work: (n: number) => Promise<unknown>): Promise<void> => {
  const seen = { done: 0, refused: 0 };
  const end = Date.now() + 60_000;
  for (let n = 0; (seen.done < OFTEN || seen.refused < OFTEN) && Date.now() < end; n += 1) {
    try {
      if ((await work(n)) === undefined) continue;
      seen.done += 1;
    } catch (error) {
      const { code = '' } = error as { code?: string };
      assert.ok(['unsafe_path', 'file_busy', 'ENOENT'].includes(code), String(error));
      seen.refused += 1;
    }
  }
  assert.ok(seen.done > 0 && seen.refused > 0, JSON.stringify(seen));
};

const untouched = (outside: string): void => {
  assert.deepEqual(readdirSync(outside), ['file.txt']);
  assert.equal(readFileSync(join(outside, 'file.txt'), 'utf8'), 'SECRET\n');
};

describe('while a directory is swapped for a link', () => {
  it('reads and lists nothing behind the link', async (t) => {
    const { tree } = await swapped(t);
    await often(async () => {
      const file = await readTreeFile(tree, 'sub/file.txt');
      assert.equal(file?.bytes.toString() ?? 'inside\n', 'inside\n');
      return file;
    });
    await often((n) => listTreeFolder(tree, 'sub', { limit: 10, after: String(n) }));
  });

  it('writes nothing behind it', async (t) => {
    const { tree, outside } = await swapped(t);
    await often((n) =>
      replaceTreeFile(tree, 'sub/file.txt', { bytes: Buffer.from(`${n}\n`), ifMatch: undefined }),
    );
    untouched(outside);
  });

  it('makes, renames and removes nothing behind it', async (t) => {
    const { tree, outside } = await swapped(t);
    await often((n) => createTreeFile(tree, `sub/new-${n}.txt`, Buffer.from('new\n')));
    await often(async (n) => (await makeTreeFolder(tree, `sub/deep-${n}`)) || undefined);
    await often(async (n) => {
      await createTreeFile(tree, `top-${n}.txt`, Buffer.from('x\n'));
      const moved = await moveInTree(
        tree,
        { from: `top-${n}.txt`, to: `sub/moved-${n}.txt` },
        async () => undefined,
      );
      return moved === 'moved' ? moved : undefined;
    });
    await often(async (n) => {
      if (n % 2 === 0) await createTreeFile(tree, 'sub/file.txt', Buffer.from('x\n'));
      return (await removeFromTree(tree, 'sub/file.txt', undefined)) === 'removed' || undefined;
    });
    untouched(outside);
  });
});
