/** What files below `.dossier/` and records say of runs and of what waits counts only where this machine wrote it. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { gateOf, saveGate } from '../../store/held/held-file.ts';
import type { Proof } from '../../store/records/proof.ts';
import { acquireLock } from '../../store/sessions/locks.ts';
import { isRunMarker, newRunMarker } from '../../store/sessions/run-marker.ts';
import { readSession } from '../../store/sessions/sessions.ts';
import { atEnd } from '../helpers/at-end.ts';
import { planned, rewrite } from '../helpers/forged.ts';

const sleeper = (t: TestContext, marker: string) => {
  const child = spawn('sleep', ['600'], { env: { ...process.env, DOSSIER_RUN: marker } });
  atEnd(t, () => void child.kill('SIGKILL'));
  const exited = new Promise<boolean>((resolve) => child.once('exit', () => resolve(true)));
  return { isAlive: () => child.exitCode === null && child.signalCode === null, exited };
};

describe('the mark of a run', () => {
  it('ends what this machine started for that session, and nothing that a file names', async (t) => {
    const { it, id, dir } = await planned(t);
    const { layout } = it.running.service.store;
    const mark = readSession(it.running.service.store, it.item.id, id)?.matter.run_marker ?? '';
    assert.equal(isRunMarker(layout, id, mark), true);
    const [left, another, ofAnother] = [
      sleeper(t, mark),
      sleeper(t, randomUUID()),
      newRunMarker(layout, randomUUID()),
    ];
    assert.equal(isRunMarker(layout, id, ofAnother), false);
    const others = sleeper(t, ofAnother);
    await it.running.restart();
    assert.equal(await left.exited, true);
    rewrite(dir, { run_marker: ofAnother });
    await it.running.restart();
    assert.deepEqual([another.isAlive(), others.isAlive()], [true, true]);
  });
});

describe('the mark of a check', () => {
  it('ends what this machine started for it, and nothing that a proof names', async (t) => {
    const { it } = await planned(t);
    const { store } = it.running.service;
    const folder = join(it.running.workspace, it.item.path, 'proof');
    mkdirSync(folder, { recursive: true });
    const prove = (id: string, run_marker: string): void => {
      const run = `{command: x, status: running, exit_code: null, attempt: 1, sandbox: none, started_at: ${AT}, ended_at: null, changed_tests: []}`;
      const matter = `id: ${id}\ntype: check\nrun_marker: ${run_marker}\nrun: ${run}\n`;
      writeFileSync(join(folder, `${id}.md`), `---\n${matter}---\n`);
    };
    const [mine, theirs, own] = [randomUUID(), randomUUID(), randomUUID()];
    const mark = newRunMarker(store.layout, mine);
    const [left, named, identified] = [mark, theirs, own].map((each) => sleeper(t, each));
    prove(mine, mark);
    prove(randomUUID(), theirs);
    prove(own, randomUUID());
    const lock = { kind: 'operator' as const, operation: 'check', acquired_at: AT };
    await it.control('abort');
    assert.ok(await acquireLock(store, it.item.id, lock));
    await it.running.restart();
    assert.equal(await left?.exited, true);
    assert.deepEqual([named?.isAlive(), identified?.isAlive()], [true, true]);
    const { body } = await it.running.call<Proof[]>('GET', `${it.at}/proof`);
    assert.deepEqual(new Set(body.map(({ run }) => run?.status)), new Set(['interrupted']));
  });
});

const AT = '2026-11-30T10:00:00Z';

describe('what waits of sessions', () => {
  it('is believed of what this machine wrote alone', async (t) => {
    const { it, dir } = await planned(t);
    const { store } = it.running.service;
    // As the next daemon reads it.
    const kept = () => [...gateOf({ ...store }).sessions.values()].map(({ plan }) => plan.holds);
    gateOf(store).sessions.set(dir.slice(-8), {
      id: dir.slice(-8),
      case_id: it.item.id,
      matter: { holds: { status: 'plan_ready' } as never },
      plan: { holds: 'Mine.' },
    });
    saveGate(store);
    assert.deepEqual(kept(), ['Mine.']);
    const { held } = store.layout;
    writeFileSync(held, readFileSync(held, 'utf8').replace('Mine.', 'Yours.'));
    assert.deepEqual(kept(), []);
  });
});
