/** Files of a tree on file systems that cannot do what others can. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { makeDirectories } from '../../../../store/fs/directories.ts';
import type { Tree } from '../../../../store/fs/worktree/folder.ts';
import { moveInTree } from '../../../../store/fs/worktree/move.ts';
import {
  createTreeFile,
  removeFromTree,
  replaceTreeFile,
} from '../../../../store/fs/worktree/write.ts';
import { layoutOf } from '../../../../store/layout.ts';
import { inject } from '../../../helpers/faults.ts';
import {
  gitIn,
  makeRepository,
  temporaryDirectory,
  writeFiles,
} from '../../../helpers/repository.ts';
import { tinyDisk } from '../../../helpers/tiny-disk.ts';

const unnoted = async (): Promise<void> => undefined;

const treeAt = (t: TestContext, root: string, git_dir: string): Tree => {
  const layout = layoutOf(temporaryDirectory(t));
  makeDirectories(layout);
  return { layout, root, git_dir, closed: [git_dir] };
};

const bytes = (text: string): Buffer => Buffer.from(text);

const keptTexts = ({ layout: { undo } }: Tree): string[] =>
  readdirSync(undo, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => readFileSync(join(each.parentPath, each.name), 'utf8'));

/** Each kind of change, with what is there afterwards. */
const change = async (tree: Tree): Promise<void> => {
  const { root, layout } = tree;
  assert.ok(await createTreeFile(tree, 'sub/one.txt', bytes('one\n')));
  assert.equal(await createTreeFile(tree, 'sub/one.txt', bytes('two\n')), undefined);
  chmodSync(join(root, 'sub/one.txt'), 0o755);
  const wanted = { bytes: bytes('new\n'), ifMatch: undefined };
  assert.ok(await replaceTreeFile(tree, 'sub/one.txt', wanted));
  assert.equal(readFileSync(join(root, 'sub/one.txt'), 'utf8'), 'new\n');
  assert.equal(statSync(join(root, 'sub/one.txt')).mode & 0o777, 0o755);
  assert.equal(
    await moveInTree(tree, { from: 'sub/one.txt', to: 'sub/two.txt' }, unnoted),
    'moved',
  );
  assert.equal(await moveInTree(tree, { from: 'sub/two.txt', to: 'README.md' }, unnoted), 'exists');
  assert.equal(await removeFromTree(tree, 'sub/two.txt', undefined), 'removed');
  assert.deepEqual(readdirSync(join(root, 'sub')), []);
  assert.deepEqual(keptTexts(tree).toSorted(), ['new\n', 'one\n']);
  assert.deepEqual(readdirSync(layout.tmp), []);
  assert.deepEqual(
    readdirSync(tree.git_dir).filter((name) => name.includes('.tmp')),
    [],
  );
};

describe('files of a tree', () => {
  it('are changed where .dossier is on another disk, by way of the git directory', async (t) => {
    const root = temporaryDirectory(t);
    if (tinyDisk(t, 4096, root) === undefined) return;
    const git = gitIn(root);
    git('init', '--quiet');
    writeFiles(root, { 'README.md': '# Sample\n' });
    await change(treeAt(t, root, join(root, '.git')));
    assert.equal(git('status', '--porcelain').trim(), '?? README.md');
  });

  it('are changed where the git directory is elsewhere, too', async (t) => {
    const root = temporaryDirectory(t);
    if (tinyDisk(t, 4096, root) === undefined) return;
    writeFiles(root, { 'README.md': '# Sample\n' });
    await change(treeAt(t, root, temporaryDirectory(t)));
    assert.deepEqual(
      readdirSync(root).filter((name) => name.startsWith('.dossier')),
      [],
    );
  });

  it('are changed where there are no hard links', async (t) => {
    const repository = makeRepository(t);
    const tree = treeAt(t, repository.root, join(repository.root, '.git'));
    if ((await inject(t, process.pid, 'link,linkat:error=EPERM')) === undefined) return;
    await change(tree);
    assert.ok(existsSync(join(repository.root, 'README.md')));
  });
});
