import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { acceptPending, pendingChanges } from '../../store/pending/pending.ts';
import { unsandboxedRuns } from '../../store/pending/unsandboxed.ts';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import type { Case } from '../../store/records/case.ts';
import type { Gate, Proof } from '../../store/records/proof.ts';
import { settingsOf } from '../../store/settings/globals.ts';
import { eventually } from '../helpers/eventually.ts';
import { told, type WithCase, withCase } from '../helpers/work-item.ts';

/** A program that no sandbox holds, as the table of runs knows it. */
const unsandboxed = ({ running }: WithCase): (() => Promise<void>) => {
  const { runs, store } = running.service;
  const run = runs.enter({ marker: randomUUID(), loopback: true, sandboxed: false });
  return async () => {
    runs.leave(run);
    await eventually(() => assert.deepEqual(unsandboxedRuns(store), []));
  };
};

const PROOF = (type = 'test', content = 'All green.'): string =>
  `---\nid: ${randomUUID()}\ntype: ${type}\nverified: true\ncreated_at: 2026-01-01T00:00:00Z\n---\n${content}\n`;

const state = async ({ call, at }: WithCase): Promise<string> =>
  (await call<Case>('GET', at)).body.state;

const proofs = async ({ call, at }: WithCase): Promise<Proof[]> =>
  (await call<Proof[]>('GET', `${at}/proof`)).body;

const gateOf = async ({ call, at }: WithCase): Promise<Gate> =>
  (await call<Gate>('GET', `${at}/proof/gate`)).body;

const look = ({ running }: WithCase): Promise<boolean> => sweepWorkspace(running.service.store);

const waiting = ({ running }: WithCase) => pendingChanges(running.service.store);

const trustAll = ({ running }: WithCase) => {
  const { store } = running.service;
  return acceptPending(store, new Set(pendingChanges(store).map(({ id }) => id)));
};

const verifying = async (t: TestContext): Promise<WithCase> => {
  const test = await withCase(t);
  await test.call('PUT', `${test.at}/state`, { state: 'VERIFYING' });
  test.events.length = 0;
  return test;
};

const edit = (test: WithCase, name: string, from: string | RegExp, to: string): void =>
  test.write(name, test.read(name).replace(from, to));

const close = (test: WithCase, to: string, outcome: string): void => {
  edit(test, 'case.md', /^state: .*$/m, `state: ${to}`);
  edit(test, 'case.md', /^outcome: .*$/m, `outcome: ${outcome}`);
};

const onlyProof = ({ dir }: WithCase): string => {
  const [name = ''] = readdirSync(join(dir, 'proof')).filter((each) => each !== 'checklist.md');
  return `proof/${name}`;
};

describe('a file edit while a program runs that no sandbox holds', () => {
  it('verifies no proof of its own, and resolves nothing', async (t) => {
    const test = await verifying(t);
    const end = unsandboxed(test);
    test.write('proof/mine.md', PROOF());
    await look(test);
    assert.deepEqual(
      (await proofs(test)).map(({ verified, verified_at }) => [verified, verified_at]),
      [[false, null]],
    );
    assert.equal((await gateOf(test)).satisfied, false);
    assert.equal(await state(test), 'VERIFYING');
    assert.deepEqual(told(test.events), ['proof_created']);
    assert.match(test.read('proof/mine.md'), /verified: true/);
    await end();
    assert.equal(await state(test), 'VERIFYING');
    const [one] = waiting(test);
    assert.deepEqual(
      [one?.kind, one?.field, one?.file],
      ['verification', 'verified', `${test.item.path}/proof/mine.md`],
    );
  });

  it('is no state, and the record and the diagnostics say that it waits', async (t) => {
    const test = await verifying(t);
    unsandboxed(test);
    close(test, 'RESOLVED', 'resolved');
    await look(test);
    const { body } = await test.call<Case>('GET', test.at);
    assert.deepEqual([body.state, body.outcome], ['VERIFYING', null]);
    assert.equal(body.problems?.[0]?.code, 'held');
    assert.match(
      body.problems?.[0]?.message ?? '',
      /RESOLVED.*dossier trust --workspace \S+ .*VERIFYING/,
    );
    const listed = await test.call<Case[]>('GET', '/cases?state=RESOLVED');
    assert.deepEqual(listed.body, []);
    assert.deepEqual(told(test.events), []);
    assert.match(test.running.logged.map(({ details }) => JSON.stringify(details)).join(), /held/);
  });

  it('takes nothing off the checklist, not even by removing it', async (t) => {
    const test = await verifying(t);
    const entry = { description: 'Reviewed', type: 'review', required: true };
    await test.call('POST', `${test.at}/proof/checklist`, entry);
    unsandboxed(test);
    for (const spoil of [
      () => edit(test, 'proof/checklist.md', 'required: true', 'required: false'),
      () => rmSync(join(test.dir, 'proof/checklist.md')),
    ]) {
      spoil();
      await look(test);
      const { missing } = await gateOf(test);
      assert.deepEqual(
        missing.map(({ type }) => type),
        ['review'],
      );
    }
    assert.deepEqual(
      waiting(test).map(({ kind }) => kind),
      ['checklist'],
    );
  });

  it('ticks nothing on a checklist, old or new, and a tick by the API holds', async (t) => {
    const test = await verifying(t);
    test.write('proof/checklist.md', '- [ ] Reviewed\n- [ ] Seen\n');
    await look(test);
    unsandboxed(test);
    edit(test, 'proof/checklist.md', /\[ \]/g, '[x]');
    await look(test);
    assert.equal((await gateOf(test)).missing.length, 2);
    assert.equal(await state(test), 'VERIFYING');
    assert.deepEqual(
      waiting(test).map(({ kind }) => kind),
      ['checklist'],
    );
    test.write('proof/checklist.md', '- [ ] Reviewed\n- [ ] Seen\n');
    const { body } = await test.call<{ id: string }[]>('GET', `${test.at}/proof/checklist`);
    await test.call('PATCH', `${test.at}/proof/checklist/${body[0]?.id}`, { done: true });
    assert.deepEqual([(await gateOf(test)).missing.length, waiting(test)], [1, []]);
    test.write('../../made/case.md', '---\ntitle: Made\n---\n');
    test.write('../../made/proof/checklist.md', '- [x] Reviewed\n');
    await look(test);
    const { body: all } = await test.call<Case[]>('GET', '/cases');
    const made = all.find(({ title }) => title === 'Made');
    const gate = await test.call<Gate>('GET', `/cases/${made?.id}/proof/gate`);
    assert.equal(gate.body.satisfied, false);
  });

  it('puts no other file under a verification, and none that it verifies itself', async (t) => {
    const test = await verifying(t);
    const review = { description: 'Reviewed', type: 'review', required: true };
    await test.call('POST', `${test.at}/proof/checklist`, review);
    const shot = await test.call<Proof>(
      'POST',
      `${test.at}/proof/files?type=shot`,
      Buffer.from('one'),
    );
    await test.call('PUT', `${test.at}/proof/${shot.body.id}/verify`);
    unsandboxed(test);
    test.write(`proof/${shot.body.file}`, 'two');
    await look(test);
    assert.equal((await proofs(test))[0]?.verified, false);
    const name = `proof/shot-${shot.body.id.slice(0, 8)}.md`;
    edit(test, name, 'verified: false', 'verified: true');
    await look(test);
    assert.equal((await proofs(test))[0]?.verified, false);
    const record = PROOF('review').replace('verified: true', 'verified: true\nfile: mine.png');
    test.write('proof/mine.png', 'forged');
    test.write('proof/mine.md', record);
    await look(test);
    assert.deepEqual(
      (await proofs(test)).map(({ verified }) => verified),
      [false, false],
    );
    assert.equal((await gateOf(test)).satisfied, false);
    assert.deepEqual(
      waiting(test).map(({ kind }) => kind),
      ['verification', 'verification'],
    );
    assert.equal(await state(test), 'VERIFYING');
  });

  it('carries a verification to no other content, type or Work item', async (t) => {
    const test = await verifying(t);
    const entry = { description: 'Reviewed', type: 'review', required: true };
    await test.call('POST', `${test.at}/proof/checklist`, entry);
    const { body } = await test.call<Proof>('POST', `${test.at}/proof`, {
      type: 'test',
      content: 'ok',
    });
    await test.call('PUT', `${test.at}/proof/${body.id}/verify`);
    unsandboxed(test);
    edit(test, onlyProof(test), 'type: test', 'type: review');
    await look(test);
    assert.equal((await proofs(test))[0]?.verified, false);
    assert.equal(await state(test), 'VERIFYING');
    edit(test, onlyProof(test), 'type: review', 'type: test');
    await look(test);
    assert.equal((await proofs(test))[0]?.verified, true);
    assert.deepEqual(waiting(test), []);
  });

  it('holds as ever in all that is not the operator’s word, and when a sandbox holds the program', async (t) => {
    const test = await verifying(t);
    const { runs } = test.running.service;
    runs.enter({ marker: randomUUID(), loopback: true, sandboxed: true });
    test.write('proof/mine.md', PROOF());
    await look(test);
    assert.equal(await state(test), 'RESOLVED');
    assert.equal(existsSync(join(test.running.workspace, '.dossier/unsandboxed')), false);
    unsandboxed(test);
    edit(test, 'case.md', /title: .*/, 'title: Another');
    await look(test);
    assert.equal((await test.call<Case>('GET', test.at)).body.title, 'Another');
    assert.deepEqual(waiting(test), []);
  });
});

describe('what waits', () => {
  it('is listed by GET /trust, and taken by POST /trust and by nothing less', async (t) => {
    const test = await verifying(t);
    unsandboxed(test);
    close(test, 'RESOLVED', 'resolved');
    await look(test);
    const { body } = await test.call<{ key: string; hash: string; kind: string }[]>(
      'GET',
      '/trust',
    );
    const [one] = body;
    assert.deepEqual([body.length, one?.kind], [1, 'change']);
    const stale = { values: [{ key: one?.key, hash: 'f'.repeat(64) }] };
    assert.equal((await test.call('POST', '/trust', stale)).status, 412);
    assert.equal(await state(test), 'VERIFYING');
    const taken = await test.call<{ waiting: unknown[] }>('POST', '/trust', {
      values: [{ key: one?.key, hash: one?.hash }],
    });
    assert.deepEqual([taken.status, taken.body.waiting], [200, []]);
    assert.equal(await state(test), 'RESOLVED');
    assert.deepEqual(told(test.events), ['case_state_changed VERIFYING RESOLVED']);
  });

  it('is a setting or a receiver of events too, also where all is trusted', async (t) => {
    const test = await verifying(t);
    const end = unsandboxed(test);
    const { workspace, service } = test.running;
    writeFileSync(join(workspace, 'workspace.md'), '---\nsandbox: off\n---\n');
    mkdirSync(join(workspace, 'webhooks'));
    writeFileSync(
      join(workspace, 'webhooks/x.md'),
      '---\nurl: http://127.0.0.1:9/x\nevents: ["*"]\n---\n',
    );
    await look(test);
    const kinds = async (): Promise<unknown[]> =>
      (await test.call<{ kind: string }[]>('GET', '/trust')).body
        .map(({ kind }) => kind)
        .toSorted();
    assert.deepEqual(await kinds(), ['setting', 'webhook']);
    assert.notEqual(settingsOf(service.store).sandbox, 'off');
    await end();
    await look(test);
    assert.deepEqual(await kinds(), ['setting', 'webhook']);
  });

  it('holds, with its events, once the operator says so: of the value that was seen', async (t) => {
    const test = await verifying(t);
    const end = unsandboxed(test);
    test.write('proof/mine.md', PROOF());
    await look(test);
    const { store } = test.running.service;
    const seen = new Set(waiting(test).map(({ id }) => id));
    edit(test, 'proof/mine.md', 'All green.', 'Trust me.');
    assert.deepEqual(await acceptPending(store, seen), []);
    assert.equal(await state(test), 'VERIFYING');
    await trustAll(test);
    assert.equal(await state(test), 'RESOLVED');
    assert.deepEqual(waiting(test), []);
    assert.ok(told(test.events).includes('proof_updated true'));
    await end();
  });

  it('is over when the file is put back, and nothing was ever told of it', async (t) => {
    const test = await verifying(t);
    unsandboxed(test);
    const before = test.read('case.md');
    edit(test, 'case.md', 'state: VERIFYING', 'state: RESOLVED');
    await look(test);
    assert.equal(waiting(test).length, 1);
    test.write('case.md', before);
    await look(test);
    assert.deepEqual([waiting(test), told(test.events)], [[], []]);
    assert.equal((await test.call<Case>('GET', test.at)).body.problems, undefined);
  });

  it('is settled by a write of the API to that very field, and left alone by others', async (t) => {
    const test = await verifying(t);
    unsandboxed(test);
    close(test, 'NON_ISSUE', 'forged');
    const { status } = await test.call('PUT', test.at, { title: 'Renamed' });
    assert.equal(status, 200);
    assert.equal(waiting(test).length, 1);
    assert.match(test.read('case.md'), /state: NON_ISSUE/);
    await test.call('PUT', `${test.at}/state`, { state: 'IMPLEMENTING' });
    assert.equal(await state(test), 'IMPLEMENTING');
    assert.match(test.read('case.md'), /state: IMPLEMENTING/);
    assert.doesNotMatch(test.read('case.md'), /forged/);
    assert.deepEqual(waiting(test), []);
  });

  it('goes on waiting after the program and the daemon have ended; later edits hold', async (t) => {
    const test = await verifying(t);
    const end = unsandboxed(test);
    close(test, 'RESOLVED', 'resolved');
    await end();
    assert.equal(await state(test), 'VERIFYING');
    await test.running.restart();
    assert.equal(await state(test), 'VERIFYING');
    assert.equal(waiting(test).length, 1);
    edit(test, 'case.md', /title: .*/, 'title: Another');
    await look(test);
    assert.equal(await state(test), 'VERIFYING');
    edit(test, 'case.md', 'state: RESOLVED', 'state: NON_ISSUE');
    await look(test);
    assert.equal(await state(test), 'NON_ISSUE');
    assert.deepEqual(waiting(test), []);
  });

  it('is what changed while a program may have outlived its daemon, too', async (t) => {
    const test = await verifying(t);
    unsandboxed(test);
    await test.running.stop();
    close(test, 'RESOLVED', 'resolved');
    test.write('proof/mine.md', PROOF());
    await test.running.restart();
    assert.equal(await state(test), 'VERIFYING');
    assert.deepEqual(
      waiting(test)
        .map(({ kind }) => kind)
        .toSorted(),
      ['state', 'verification'],
    );
    assert.deepEqual(unsandboxedRuns(test.running.service.store), []);
    assert.equal((await proofs(test))[0]?.verified, false);
  });

  it('is nothing that the API wrote: verifying and moving go on as ever', async (t) => {
    const test = await verifying(t);
    unsandboxed(test);
    const entry = { description: 'Works', type: 'test', required: true };
    await test.call('POST', `${test.at}/proof/checklist`, entry);
    const { body } = await test.call<Proof>('POST', `${test.at}/proof`, {
      type: 'test',
      content: 'ok',
    });
    await test.call('PUT', `${test.at}/proof/${body.id}/verify`);
    assert.equal(await state(test), 'RESOLVED');
    assert.deepEqual(waiting(test), []);
    assert.match(readFileSync(join(test.dir, 'case.md'), 'utf8'), /state: RESOLVED/);
    const made = await test.call<Case>('POST', '/cases', { title: 'New', type: 'bug' });
    await test.call('PUT', `/cases/${made.body.id}/state`, { state: 'IMPLEMENTING' });
    await look(test);
    assert.deepEqual(waiting(test), []);
  });

  it('is a Work item that is made resolved by file: it is new, and open', async (t) => {
    const test = await verifying(t);
    unsandboxed(test);
    const path = join(test.running.workspace, 'cases', 'made');
    test.write('../../made/case.md', '---\ntitle: Made\nstate: RESOLVED\noutcome: resolved\n---\n');
    assert.ok(existsSync(path));
    await look(test);
    const { body } = await test.call<Case[]>('GET', '/cases');
    assert.deepEqual(body.map((one) => one.state).toSorted(), ['OPEN', 'VERIFYING']);
  });
});
