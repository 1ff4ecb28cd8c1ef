import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import {
  beginWorktreeChange,
  finishInterruptedChanges,
} from '../../../../lib/code/worktrees/recovery/changes.ts';
import { saveWorktreeChange } from '../../../../store/worktrees/worktree-changes.ts';
import { readWorktree, worktreeFile } from '../../../../store/worktrees/worktrees.ts';
import { gitIn } from '../../../helpers/repository.ts';
import { create, type Fixture, start } from './fixture.ts';

/** A Work item with a worktree. What is set aside is reported, which the fixture takes for a failure. */
const started = async (t: TestContext): Promise<Fixture> => {
  const fixture = await start(t);
  await create(fixture);
  Object.assign(fixture.service.store, { report: () => undefined });
  return fixture;
};

const recordOf = ({ service, item }: Fixture) => {
  const record = readWorktree(service.store, item.id);
  assert.ok(record);
  return record;
};

const filesBelow = (dir: string): string[] => readdirSync(dir, { recursive: true }).map(String);

const make = async ({ send, item }: Fixture): Promise<void> => {
  const { status } = await send('POST', '/api/worktrees', { case_id: item.id });
  assert.equal(status, 201);
};

describe('a worktree that was cut off while it was made', () => {
  // git writes these in this order and syncs none of them.
  const losses: Record<string, (git_dir: string, path: string) => void> = {
    'its record names no directory': (git_dir) => writeFileSync(join(git_dir, 'gitdir'), ''),
    'its record is not whole': (git_dir) => {
      rmSync(join(git_dir, 'commondir'));
      writeFileSync(join(git_dir, 'gitdir'), '\0\0\0');
    },
    'its record is gone': (git_dir) => rmSync(git_dir, { recursive: true }),
    'its .git file is empty': (_, path) => writeFileSync(join(path, '.git'), ''),
    'its directory is gone': (_, path) => rmSync(path, { recursive: true }),
  };
  for (const [name, lose] of Object.entries(losses))
    it(`is made anew: ${name}`, async (t) => {
      const fixture = await started(t);
      const { store } = fixture.service;
      const record = recordOf(fixture);
      await beginWorktreeChange(store, 'make', record);
      rmSync(worktreeFile(store.layout, fixture.item.id));
      lose(record.git_dir, record.path);
      await make(fixture);
      assert.equal(gitIn(recordOf(fixture).path)('status', '--porcelain'), '');
      assert.equal(readdirSync(join(record.common_dir, 'worktrees')).length, 1);
    });

  it('keeps what somebody wrote into it', async (t) => {
    const fixture = await started(t);
    const { store } = fixture.service;
    const record = recordOf(fixture);
    await beginWorktreeChange(store, 'make', record);
    rmSync(worktreeFile(store.layout, fixture.item.id));
    writeFileSync(join(record.path, 'mine.txt'), 'mine\n');
    await finishInterruptedChanges(fixture.service);
    assert.equal(existsSync(record.path), false);
    const kept = filesBelow(store.layout.undo).find((name) => name.endsWith('mine.txt')) ?? '';
    assert.equal(readFileSync(join(store.layout.undo, kept), 'utf8'), 'mine\n');
  });
});

describe('a worktree that was cut off while it was removed', () => {
  it('is removed, and can be made again', async (t) => {
    const fixture = await started(t);
    const { store } = fixture.service;
    const record = recordOf(fixture);
    await beginWorktreeChange(store, 'remove', record);
    renameSync(record.path, join(store.layout.trash, 'taken'));
    rmSync(join(record.git_dir, 'locked'));
    rmSync(join(record.git_dir, 'HEAD'));
    await finishInterruptedChanges(fixture.service);
    assert.equal(readWorktree(store, fixture.item.id), undefined);
    assert.equal(existsSync(record.git_dir), false);
    await make(fixture);
    assert.equal(gitIn(recordOf(fixture).path)('status', '--porcelain'), '');
  });

  it('stays where nothing of it was removed yet', async (t) => {
    const fixture = await started(t);
    const { store } = fixture.service;
    const record = recordOf(fixture);
    await beginWorktreeChange(store, 'remove', record);
    writeFileSync(join(record.path, 'mine.txt'), 'mine\n');
    await finishInterruptedChanges(fixture.service);
    assert.deepEqual(recordOf(fixture), record);
    assert.equal(readFileSync(join(record.path, 'mine.txt'), 'utf8'), 'mine\n');
  });

  it('leaves what somebody put in its place', async (t) => {
    const fixture = await started(t);
    const { store } = fixture.service;
    const record = recordOf(fixture);
    await beginWorktreeChange(store, 'remove', record);
    renameSync(record.path, join(store.layout.trash, 'taken'));
    mkdirSync(record.path);
    writeFileSync(join(record.path, 'mine.txt'), 'mine\n');
    await finishInterruptedChanges(fixture.service);
    assert.equal(readWorktree(store, fixture.item.id), undefined);
    assert.equal(readFileSync(join(record.path, 'mine.txt'), 'utf8'), 'mine\n');
  });
});

describe('a file that was cut off while it was moved', () => {
  it('has its new name alone', async (t) => {
    const fixture = await started(t);
    const { store } = fixture.service;
    const record = recordOf(fixture);
    const [from, to] = ['README.md', 'moved.md'];
    const { case_id, path, branch, common_dir } = record;
    const note = { case_id, path, branch, common_dir, moved: { from, to } };
    await saveWorktreeChange(store, { ...note, change: 'move' });
    const text = readFileSync(join(path, from), 'utf8');
    linkSync(join(path, from), join(path, to));
    await finishInterruptedChanges(fixture.service);
    assert.equal(existsSync(join(path, from)), false);
    assert.equal(readFileSync(join(path, to), 'utf8'), text);
  });
});

describe('the record of a change', () => {
  it('is not written where a link stands in its place', async (t) => {
    const fixture = await started(t);
    const { store } = fixture.service;
    const { case_id, path, branch, common_dir } = recordOf(fixture);
    const file = worktreeFile(store.layout, case_id).replace(/json$/, 'change.json');
    symlinkSync(join(path, 'README.md'), file);
    await assert.rejects(
      saveWorktreeChange(store, { case_id, path, branch, common_dir, change: 'move' }),
    );
    assert.equal(readlinkSync(file), join(path, 'README.md'));
  });
});

describe("a lock of one of the daemon's own refs", () => {
  it('goes where no git is left that holds it; one of another ref stays', async (t) => {
    const fixture = await started(t);
    const { git } = fixture.service;
    const record = recordOf(fixture);
    const place = { git_dir: record.common_dir, common_dir: record.common_dir };
    const lockOf = (ref: string): string => {
      const lock = join(record.common_dir, `${ref}.lock`);
      mkdirSync(dirname(lock), { recursive: true });
      writeFileSync(lock, '');
      // Longer than any git of this moment is there.
      const before = Date.now() / 1000 - 60;
      utimesSync(lock, before, before);
      return lock;
    };
    const [own, other] = [lockOf('refs/dossier/pins/x'), lockOf('refs/heads/x')];
    const { base_commit } = record;
    await git.at(place).run(['update-ref', 'refs/dossier/pins/x', base_commit]);
    assert.equal(existsSync(own), false);
    const update = git.at(place).run(['update-ref', 'refs/heads/x', base_commit]);
    await assert.rejects(update, { code: 'worktree_busy' });
    assert.ok(existsSync(other));
  });
});
