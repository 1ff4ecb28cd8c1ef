import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { reconcile } from '../../store/reconcile.ts';
import { sweep } from '../../store/sweep.ts';
import { makeWorkspaceFiles } from '../../store/workspace-files.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, type TestRepository } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';

const idOf = (n: number): string => `00000000-0000-4000-8000-${String(n).padStart(12, '0')}`;
const dirOf = (n: number): string => `cases/2026-0${1 + (n % 3)}/item-${n}`;

const write = (path: string, text: string): void => {
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
};

const caseText = (n: number, state = 'OPEN'): string =>
  `---\nid: ${idOf(n)}\ntitle: Number ${n}\ntype: bug\nstate: ${state}\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n`;

const proofText = (content: string): string =>
  `---\nid: ${randomUUID()}\ntype: log\nverified: false\ncreated_at: 2026-01-01T00:00:00.000Z\n---\n\n${content}\n`;

/** A running daemon that watches so many Work items, each with a proof; nothing is left to tell. */
const watched = async (t: TestContext, count: number): Promise<Running> => {
  const running = await startForTest(t, { watch: true });
  for (let n = 0; n < count; n += 1) {
    write(join(running.workspace, dirOf(n), 'proof/one.md'), proofText('as it was'));
    write(join(running.workspace, dirOf(n), 'case.md'), caseText(n));
  }
  await sweep(running.service.store);
  await settled(running);
  running.events.length = 0;
  return running;
};

/** Everything that a hint began has been told, what is gone is gone for good, and a sweep finds nothing more. */
const settled = async ({ service: { store } }: Running): Promise<void> => {
  await sweep(store);
  await Promise.all([...store.items.byId.keys()].map((id) => reconcile(store, id)));
  await eventually(() => assert.equal(store.missing.size, 0));
  await Promise.all([...store.items.byId.keys()].map((id) => store.turns.idle(id)));
};

const repositoryIn = async ({ workspace, service }: Running): Promise<TestRepository['git']> => {
  const git = gitIn(workspace);
  await makeWorkspaceFiles(service.store.layout);
  git('init', '--quiet', '--initial-branch=main');
  git('config', 'user.name', 'An Operator');
  git('config', 'user.email', 'one@example.com');
  git('add', '--all');
  git('commit', '--quiet', '--message', 'main');
  return git;
};

/** What git says that differs between two branches, as events: of Work items that are on both. */
const expected = (git: TestRepository['git'], from: string, to: string): string[] => {
  const lines = git('diff', '--name-status', '--no-renames', from, to).trim().split('\n');
  const changes = lines.map((line) => line.split('\t') as [string, string]);
  const ofOne = changes
    .filter(([kind, path]) => kind !== 'M' && path.endsWith('/case.md'))
    .map(([, path]) => path.replace('/case.md', ''));
  return changes
    .filter(([, path]) => !ofOne.some((dir) => path.startsWith(`${dir}/`)))
    .flatMap(([kind, path]) => eventOf(kind, path) ?? [])
    .toSorted();
};

const eventOf = (kind: string, path: string): string | undefined => {
  const dir = path.replace(/\/(case\.md|proof\/.*)$/, '');
  if (path.endsWith('/case.md')) return `case_state_changed ${dir}`;
  if (kind === 'D') return undefined;
  return `${kind === 'A' ? 'proof_created' : 'proof_updated'} ${dir}`;
};

const heard = ({ events, service: { store } }: Running): string[] =>
  events
    .map(({ event_type, payload }) => `${event_type} ${store.items.byId.get(payload.case_id)?.dir}`)
    .toSorted();

const edit = ({ workspace }: Running, n: number, from: string, to: string): void => {
  const path = join(workspace, dirOf(n), 'case.md');
  writeFileSync(path, readFileSync(path, 'utf8').replace(from, to));
};

/** What a hand writes in a Work item is told by the watcher, long before the minute's sweep would find it. */
const assertHeard = async (running: Running, ...items: number[]): Promise<void> => {
  for (const n of items) {
    running.events.length = 0;
    edit(running, n, 'type: bug', 'type: task');
    await eventually(() => assert.deepEqual(heard(running), [`case_updated ${dirOf(n)}`]));
    write(join(running.workspace, dirOf(n), `proof/${randomUUID()}.md`), proofText('new'));
    const both = [`case_updated ${dirOf(n)}`, `proof_created ${dirOf(n)}`];
    await eventually(() => assert.deepEqual(heard(running), both));
    edit(running, n, 'type: task', 'type: bug');
    await eventually(() => assert.equal(running.events.length, 3));
  }
};

const COUNT = 500;

describe('a checkout of five hundred Work items', () => {
  it('tells exactly what git says differs, there and back, and hears everything after it', async (t) => {
    const running = await watched(t, COUNT);
    const { workspace } = running;
    const git = await repositoryIn(running);
    git('checkout', '--quiet', '-b', 'other');
    await running.stop();
    for (let n = 0; n < COUNT; n += 1) changeOnBranch(workspace, n);
    for (let n = COUNT; n < COUNT + 50; n += 1)
      write(join(workspace, dirOf(n), 'case.md'), caseText(n));
    git('add', '--all');
    git('commit', '--quiet', '--message', 'other');
    git('checkout', '--quiet', 'main');
    await running.restart();
    await settled(running);
    for (const [from, to] of [
      ['main', 'other'],
      ['other', 'main'],
      ['main', 'other'],
      ['other', 'main'],
    ] as const) {
      running.events.length = 0;
      git('checkout', '--quiet', to);
      const wanted = expected(git, from, to);
      await eventually(() => assert.deepEqual(heard(running), wanted));
      await settled(running);
      assert.deepEqual(heard(running), wanted);
    }
    // One that was never touched, one that was changed, one that was gone and one whose proof was.
    await assertHeard(running, 4, 5, 0, 1);
    assert.deepEqual(running.logged, []);
  });
});

const changeOnBranch = (workspace: string, n: number): void => {
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
    const running = await watched(t, COUNT);
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
    const running = await watched(t, 4);
    for (let again = 0; again < 3; again += 1) {
      for (let n = 0; n < 4; n += 1) remake(running, n);
      await settled(running);
    }
    await assertHeard(running, 0, 1, 2, 3);
  });

  it('whose folder is moved away is gone without a sweep, and heard again when it is back', async (t) => {
    const running = await watched(t, 3);
    const { workspace, service } = running;
    const away = join(workspace, 'away');
    renameSync(join(workspace, 'cases/2026-01'), away);
    await eventually(() => assert.equal(service.store.items.byId.size, 2));
    renameSync(away, join(workspace, 'cases/2026-01'));
    await eventually(() => assert.equal(service.store.items.byId.size, 3));
    await assertHeard(running, 0, 1);
  });

  it('comes back with the whole of cases/', async (t) => {
    const running = await watched(t, 3);
    const { workspace, service } = running;
    renameSync(join(workspace, 'cases'), join(workspace, 'away'));
    await eventually(() => assert.equal(service.store.items.byId.size, 0));
    renameSync(join(workspace, 'away'), join(workspace, 'cases'));
    await eventually(() => assert.equal(service.store.items.byId.size, 3));
    await assertHeard(running, 0, 1, 2);
    assert.deepEqual(running.logged, []);
  });

  it('is not forgotten while the whole workspace is elsewhere', async (t) => {
    const running = await watched(t, 3);
    const { workspace, service } = running;
    const away = `${workspace}-away`;
    renameSync(workspace, away);
    t.after(() => rmSync(away, { recursive: true, force: true }));
    await sweep(service.store);
    edit({ ...running, workspace: away }, 1, 'OPEN', 'BLOCKED');
    await eventually(() => assert.equal(service.store.missing.size, 0));
    renameSync(away, workspace);
    await sweep(service.store);
    assert.deepEqual(heard(running), [`case_state_changed ${dirOf(1)}`]);
    assert.equal(service.store.items.byId.size, 3);
  });

  it('is gone when a file or a link stands in its place', async (t) => {
    const running = await watched(t, 3);
    const { workspace, service } = running;
    for (const n of [0, 1]) renameSync(join(workspace, dirOf(n)), join(workspace, `away-${n}`));
    writeFileSync(join(workspace, dirOf(0)), 'a file');
    symlinkSync(join(workspace, 'away-1'), join(workspace, dirOf(1)));
    await eventually(() => assert.deepEqual([...service.store.items.byId.keys()], [idOf(2)]));
    assert.deepEqual(running.logged, []);
  });

  it('that takes the place of another is known there, and the other is gone', async (t) => {
    const running = await watched(t, 3);
    const { workspace, service } = running;
    rmSync(join(workspace, dirOf(1)), { recursive: true });
    renameSync(join(workspace, dirOf(0)), join(workspace, dirOf(1)));
    await eventually(() => assert.equal(service.store.items.byId.size, 2));
    await settled(running);
    assert.equal(service.store.items.byId.get(idOf(0))?.dir, dirOf(1));
    assert.equal(service.store.items.byId.get(idOf(1)), undefined);
    assert.equal(service.store.items.byId.get(idOf(0))?.files.case.problem, undefined);
    assert.deepEqual(running.events, []);
  });

  it('changes places with two others, and each is known where it is now', async (t) => {
    const running = await watched(t, 3);
    const { workspace, service } = running;
    const [a, b, c] = [0, 1, 2].map((n) => join(workspace, dirOf(n))) as [string, string, string];
    renameSync(a, `${workspace}/spare`);
    renameSync(b, a);
    renameSync(c, b);
    renameSync(`${workspace}/spare`, c);
    await eventually(() =>
      assert.deepEqual(
        [0, 1, 2].map((n) => service.store.items.byId.get(idOf(n))?.dir),
        [dirOf(2), dirOf(0), dirOf(1)],
      ),
    );
    await settled(running);
    assert.deepEqual(running.events, []);
    assert.equal(service.store.items.byDir.size, 3);
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
