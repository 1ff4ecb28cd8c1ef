import assert from 'node:assert/strict';
import { readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { allItems, itemOf, itemsOf } from '../../store/reconcile/items.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import { atEnd } from '../helpers/at-end.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  assertHeard,
  caseText,
  commitBranch,
  differing,
  dirOf,
  edit,
  eventsOf,
  heard,
  idOf,
  proofText,
  repositoryIn,
  settled,
  watchedItems,
  write,
} from '../helpers/many-items.ts';
import type { Running } from '../helpers/service.ts';

const COUNT = 500;

describe('a checkout of five hundred Work items', () => {
  it('tells exactly what git says differs, there and back, and hears everything after it', async (t) => {
    const running = await watchedItems(t, COUNT);
    const git = await repositoryIn(running);
    await commitBranch(running, git, () => changeAll(running.workspace));
    for (const [from, to] of [
      ['main', 'other'],
      ['other', 'main'],
      ['main', 'other'],
      ['other', 'main'],
    ] as const) {
      running.events.length = 0;
      git('checkout', '--quiet', to);
      const wanted = eventsOf(differing(git, from, to));
      await eventually(() => assert.deepEqual(heard(running), wanted));
      await settled(running);
      assert.deepEqual(heard(running), wanted);
    }
    // One that was never touched, one that was changed, one that was gone and one whose proof was.
    await assertHeard(running, 4, 5, 0, 1);
    assert.deepEqual(running.logged, []);
  });
});

const changeAll = (workspace: string): void => {
  for (let n = 0; n < COUNT; n += 1) changeOne(workspace, n);
  for (let n = COUNT; n < COUNT + 50; n += 1)
    write(join(workspace, dirOf(n), 'case.md'), caseText(n));
};

const changeOne = (workspace: string, n: number): void => {
  const dir = join(workspace, dirOf(n));
  const proof = join(dir, 'proof/one.md');
  if (n % 10 === 0) rmSync(dir, { recursive: true });
  else if (n % 10 === 1) rmSync(proof);
  else if (n % 10 === 2) write(join(dir, 'proof/two.md'), proofText('of the branch'));
  else if (n % 10 === 3) writeFileSync(proof, readFileSync(proof, 'utf8').replace('was', 'is'));
  else if (n % 10 > 4) writeFileSync(join(dir, 'case.md'), caseText(n, 'BLOCKED'));
};

describe('a burst of two thousand writes while the daemon is busy', () => {
  it('loses nothing and tells nothing twice', async (t) => {
    const running = await watchedItems(t, COUNT);
    const until = performance.now() + 2000;
    for (const state of ['BLOCKED', 'OPEN', 'IMPLEMENTING', 'VERIFYING'])
      for (let n = 0; n < COUNT; n += 1)
        writeFileSync(join(running.workspace, dirOf(n), 'case.md'), caseText(n, state));
    while (performance.now() < until);
    await eventually(() => assert.equal(running.events.length, COUNT));
    await settled(running);
    assert.equal(new Set(heard(running)).size, COUNT);
    assert.equal(running.events.length, COUNT);
  });
});

describe('a directory of Work items', () => {
  it('that is removed and made again at once is heard in all its parts', async (t) => {
    const running = await watchedItems(t, 4);
    for (let again = 0; again < 3; again += 1) {
      for (let n = 0; n < 4; n += 1) remake(running, n);
      await settled(running);
    }
    await assertHeard(running, 0, 1, 2, 3);
  });

  it('whose folder is moved away is gone without a sweep, and heard again when it is back', async (t) => {
    const running = await watchedItems(t, 3);
    const { workspace, service } = running;
    const away = join(workspace, 'away');
    renameSync(join(workspace, 'cases/2026-01'), away);
    await eventually(() => assert.equal(allItems(service.store).length, 2));
    renameSync(away, join(workspace, 'cases/2026-01'));
    await eventually(() => assert.equal(allItems(service.store).length, 3));
    await assertHeard(running, 0, 1);
  });

  it('comes back with the whole of cases/', async (t) => {
    const running = await watchedItems(t, 3);
    const { workspace, service } = running;
    renameSync(join(workspace, 'cases'), join(workspace, 'away'));
    await eventually(() => assert.equal(allItems(service.store).length, 0));
    renameSync(join(workspace, 'away'), join(workspace, 'cases'));
    await eventually(() => assert.equal(allItems(service.store).length, 3));
    await assertHeard(running, 0, 1, 2);
    assert.deepEqual(running.logged, []);
  });

  it('is not forgotten while the whole workspace is elsewhere', async (t) => {
    const running = await watchedItems(t, 3);
    const { workspace, service } = running;
    const away = `${workspace}-away`;
    renameSync(workspace, away);
    atEnd(t, () => rmSync(away, { recursive: true, force: true }));
    await sweepWorkspace(service.store);
    edit({ ...running, workspace: away }, 1, 'OPEN', 'BLOCKED');
    await eventually(() => assert.equal(itemsOf(service.store).missing.size, 0));
    renameSync(away, workspace);
    await sweepWorkspace(service.store);
    assert.deepEqual(heard(running), [`case_state_changed ${dirOf(1)}`]);
    assert.equal(allItems(service.store).length, 3);
  });

  it('is gone when a file or a link stands in its place', async (t) => {
    const running = await watchedItems(t, 3);
    const { workspace, service } = running;
    for (const n of [0, 1]) renameSync(join(workspace, dirOf(n)), join(workspace, `away-${n}`));
    writeFileSync(join(workspace, dirOf(0)), 'a file');
    symlinkSync(join(workspace, 'away-1'), join(workspace, dirOf(1)));
    await eventually(() =>
      assert.deepEqual(
        allItems(service.store).map(({ id }) => id),
        [idOf(2)],
      ),
    );
    assert.deepEqual(
      running.logged.map(({ message }) => message.split(':')[0]),
      [dirOf(1)],
      'the link alone',
    );
  });

  it('that takes the place of another is known there, and the other is gone', async (t) => {
    const running = await watchedItems(t, 3);
    const { workspace, service } = running;
    rmSync(join(workspace, dirOf(1)), { recursive: true });
    renameSync(join(workspace, dirOf(0)), join(workspace, dirOf(1)));
    await eventually(() => assert.equal(allItems(service.store).length, 2));
    await settled(running);
    assert.equal(itemOf(service.store, idOf(0))?.dir, dirOf(1));
    assert.equal(itemOf(service.store, idOf(1)), undefined);
    assert.equal(itemOf(service.store, idOf(0))?.files.case.problem, undefined);
    assert.deepEqual(running.events, []);
  });

  it('changes places with two others, and each is known where it is now', async (t) => {
    const running = await watchedItems(t, 3);
    const { workspace, service } = running;
    const [a, b, c] = [0, 1, 2].map((n) => join(workspace, dirOf(n))) as [string, string, string];
    renameSync(a, `${workspace}/spare`);
    renameSync(b, a);
    renameSync(c, b);
    renameSync(`${workspace}/spare`, c);
    await eventually(() =>
      assert.deepEqual(
        [0, 1, 2].map((n) => itemOf(service.store, idOf(n))?.dir),
        [dirOf(2), dirOf(0), dirOf(1)],
      ),
    );
    await settled(running);
    assert.deepEqual(running.events, []);
    assert.equal(itemsOf(service.store).byDir.size, 3);
  });
});

const remake = ({ workspace }: Running, n: number): void => {
  const dir = join(workspace, dirOf(n));
  const [record, proof] = ['case.md', 'proof/one.md'].map((name) =>
    readFileSync(join(dir, name), 'utf8'),
  ) as [string, string];
  rmSync(dir, { recursive: true });
  write(join(dir, 'proof/one.md'), proof);
  write(join(dir, 'case.md'), record);
};
