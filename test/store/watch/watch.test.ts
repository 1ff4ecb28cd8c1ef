import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { layoutOf } from '../../../store/layout.ts';
import { type Watcher, watchWorkspace } from '../../../store/watch/watch.ts';
import { atEnd } from '../../helpers/at-end.ts';
import { eventually } from '../../helpers/eventually.ts';
import { caseText, dirOf, proofText, write, writeItems } from '../../helpers/many-items.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

interface Watched {
  root: string;
  watcher: Watcher;
  failures: unknown[];
  hints: readonly string[];
  /** Resolves once something was hinted at below this directory, after `act`. */
  hears(dir: string, act: () => void): Promise<void>;
}

/** A workspace of four Work items, so many of which are chokidar's. */
const watched = async (
  t: TestContext,
  most: number,
  root = temporaryDirectory(t),
): Promise<Watched> => {
  writeItems(root, 4);
  const hints: string[] = [];
  const failures: unknown[] = [];
  const events = {
    hint: (path: string) => void hints.push(path),
    failed: (error: unknown) => void failures.push(error),
  };
  const items = [0, 1, 2, 3].map(dirOf);
  const watcher = watchWorkspace(layoutOf(root), items, events, most);
  atEnd(t, () => watcher.close());
  await watcher.ready;
  const hears = async (dir: string, act: () => void): Promise<void> => {
    hints.length = 0;
    act();
    await eventually(() =>
      assert.ok(
        hints.some((hint) => hint === dir || hint.startsWith(`${dir}/`)),
        `${dir} was not among ${hints}`,
      ),
    );
  };
  return { root, watcher, failures, hints, hears };
};

describe('watchWorkspace', () => {
  for (const most of [0, 2, 100]) {
    it(`hears every Work item when ${most} are chokidar's`, async (t) => {
      const { root, hears, failures } = await watched(t, most);
      for (const dir of [0, 1, 2, 3].map(dirOf)) {
        await hears(dir, () => write(join(root, dir, 'case.md'), caseText(9)));
        await hears(`${dir}/proof`, () => write(join(root, dir, 'proof/two.md'), proofText('x')));
      }
      assert.deepEqual(failures, []);
    });

    it(`hears what is made again in all its parts when ${most} are chokidar's`, async (t) =>
      remakeAll(await watched(t, most)));
  }

  it('hears the same on a file system in memory', async (t) => {
    const root = mkdtempSync('/dev/shm/dossier-');
    atEnd(t, () => rmSync(root, { recursive: true, force: true }));
    await remakeAll(await watched(t, 2, root));
  });

  // Each of them would be listed again, and a sweep would follow.
  it('hints at no folder of its Work items when the first sweep meets it', async (t) => {
    const { root, watcher, hints, hears } = await watched(t, 2);
    const met = new Set([0, 1, 2, 3].map((n) => dirname(dirOf(n))));
    for (const dir of ['cases', ...met]) watcher.place(dir, 'folder');
    await hears('cases/other', () => {
      write(join(root, 'cases/other/x'), '');
      watcher.place('cases/other', 'folder');
    });
    const more = hints.filter((hint) => !`${hint}/`.startsWith('cases/other/'));
    assert.deepEqual(more, []);
    for (const dir of met)
      await hears(`${dir}/new`, () => write(join(root, dir, 'new/case.md'), caseText(9)));
  });

  it('gives the watch of a folder back when it is moved away', async (t) => {
    const { root, watcher, hears } = await watched(t, 0);
    const folder = join(root, 'cases/folder');
    write(join(folder, 'x'), '');
    await hears('cases/folder', () => watcher.place('cases/folder', 'folder'));
    const before = watches();
    for (let again = 0; again < 5; again += 1) {
      await hears('cases/folder', () => renameSync(folder, join(root, `away-${again}`)));
      write(join(folder, 'x'), '');
      await hears('cases/folder', () => watcher.place('cases/folder', 'folder'));
      await hears('cases/folder', () => writeFileSync(join(folder, 'y'), ''));
    }
    assert.equal(watches(), before);
  });
});

const remakeAll = async ({ root, watcher, hears, failures }: Watched): Promise<void> => {
  for (const dir of [0, 1, 2, 3].map(dirOf)) {
    await hears(dir, () => rmSync(join(root, dir), { recursive: true }));
    watcher.place(dir, 'item');
    write(join(root, dir, 'case.md'), caseText(9));
    await hears(dir, () => watcher.place(dir, 'item'));
    await hears(dir, () => write(join(root, dir, 'case.md'), caseText(8)));
    await hears(dir, () => write(join(root, dir, 'proof/two.md'), proofText('x')));
    await hears(dir, () => watcher.place(dir, 'item'));
    await hears(`${dir}/proof`, () => write(join(root, dir, 'proof/two.md'), proofText('y')));
  }
  assert.deepEqual(failures, []);
};

/** The inotify watches of this process, as the kernel counts them. */
const watches = (): number =>
  readdirSync('/proc/self/fdinfo')
    .map((fd) => readOrEmpty(`/proc/self/fdinfo/${fd}`).match(/^inotify /gm)?.length ?? 0)
    .reduce((sum, count) => sum + count, 0);

// A descriptor may be closed meanwhile.
const readOrEmpty = (path: string): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
};
