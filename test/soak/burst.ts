/**
 * `npm run soak:burst`: what test/store/checkout.test.ts does in small, at the size of a large workspace, with the times
 * that it took and the memory that it left.
 */
import assert from 'node:assert/strict';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
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
  proofText,
  repositoryIn,
  settled,
  watchedItems,
  write,
} from '../helpers/many-items.ts';
import type { Running } from '../helpers/service.ts';

const COUNT = 10_000;
// For a machine that does other work too.
const PATIENCE_MS = 300_000;
const MEMORY = ['notes', 'tasks', 'hypotheses'];

describe('a checkout of ten thousand Work items', () => {
  it('tells exactly what git says differs, there and back, and hears everything after it', async (t) => {
    const running = await watchedItems(t, COUNT);
    for (let n = 0; n < COUNT; n += 1) writeMemory(running.workspace, n);
    const git = await repositoryIn(running);
    await commitBranch(running, git, () => changeAll(running.workspace));
    say(t, 'idle');
    for (const [from, to] of [
      ['main', 'other'],
      ['other', 'main'],
    ] as const) {
      running.events.length = 0;
      const changes = differing(git, from, to);
      const wanted = eventsOf(changes);
      const began = performance.now();
      git('checkout', '--quiet', to);
      const ended = performance.now();
      await eventually(() => assert.equal(running.events.length, wanted.length), PATIENCE_MS);
      say(
        t,
        `${changes.length} paths, ${wanted.length} events: ${seconds(ended - began)} of git, all told ${seconds(performance.now() - ended)} after`,
      );
      await settled(running);
      assert.deepEqual(heard(running), wanted);
    }
    // Removed and made again; then some that were changed.
    await assertAllHeard(running, (n) => n % 5 === 0);
    await assertAllHeard(running, (n) => n % 5 === 3);
    await assertHeard(running, ...[1, 2, 3, 4, 5].map((n) => COUNT - n));
    assert.deepEqual(running.logged, []);
    say(t, 'after all of it');
  });
});

const writeMemory = (workspace: string, n: number): void => {
  for (const name of MEMORY) write(join(workspace, dirOf(n), `memory/${name}.md`), `${name}\n`);
};

// 8,000 files modified, 2,000 Work items of five files removed, 2,000 made.
const changeAll = (workspace: string): void => {
  for (let n = 0; n < COUNT; n += 1) changeOne(workspace, n);
  for (let n = COUNT; n < COUNT + COUNT / 5; n += 1) {
    write(join(workspace, dirOf(n), 'case.md'), caseText(n));
    write(join(workspace, dirOf(n), 'proof/one.md'), proofText('of the branch'));
    writeMemory(workspace, n);
  }
};

const changeOne = (workspace: string, n: number): void => {
  const dir = join(workspace, dirOf(n));
  const proof = join(dir, 'proof/one.md');
  if (n % 5 === 0) rmSync(dir, { recursive: true });
  else if (n % 5 === 1) writeFileSync(proof, readFileSync(proof, 'utf8').replace('was', 'is'));
  else writeFileSync(join(dir, 'case.md'), caseText(n, 'BLOCKED'));
};

const BATCH = 200;

/** A thousand of these are edited, so few at a time that nobody takes it for a burst and sweeps. */
const assertAllHeard = async (running: Running, which: (n: number) => boolean): Promise<void> => {
  const all = Array.from({ length: COUNT }, (_, n) => n)
    .filter(which)
    .slice(0, 1000);
  for (let from = 0; from < all.length; from += BATCH) {
    running.events.length = 0;
    const batch = all.slice(from, from + BATCH);
    for (const n of batch) edit(running, n, 'type: bug', 'type: task');
    const wanted = batch.map((n) => `case_updated ${dirOf(n)}`).toSorted();
    await eventually(() => assert.equal(running.events.length, BATCH));
    assert.deepEqual(heard(running), wanted);
  }
};

describe('a burst of ten thousand writes while the daemon is busy for four seconds', () => {
  it('loses nothing, tells nothing twice, and is told soon after', async (t) => {
    const running = await watchedItems(t, COUNT);
    say(t, 'idle');
    const { workspace } = running;
    const files = Array.from({ length: COUNT }, (_, n) => [
      join(workspace, dirOf(n), 'case.md'),
      caseText(n, 'BLOCKED'),
    ]);
    const writer = new Worker(WRITE, { eval: true, workerData: files });
    await new Promise((resolve) => writer.once('online', resolve));
    const until = performance.now() + 4000;
    while (performance.now() < until);
    const from = performance.now();
    await eventually(() => assert.equal(running.events.length, COUNT), PATIENCE_MS);
    say(t, `all told ${seconds(performance.now() - from)} after`);
    await settled(running);
    assert.equal(new Set(heard(running)).size, COUNT);
    assert.equal(running.events.length, COUNT);
    assert.deepEqual(running.logged, []);
    say(t, 'after it');
  });
});

const WRITE = `
const { writeFileSync } = require('node:fs');
for (const [path, text] of require('node:worker_threads').workerData) writeFileSync(path, text);
`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const say = (t: TestContext, what: string): void => {
  global.gc?.();
  const { rss, heapUsed } = process.memoryUsage();
  const mb = (bytes: number): string => `${Math.round(bytes / 1_048_576)} MB`;
  t.diagnostic(`${what} (${mb(rss)} resident, ${mb(heapUsed)} of heap)`);
};
