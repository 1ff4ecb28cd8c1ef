import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../../../store/records/case.ts';
import type { Proof } from '../../../../store/records/proof.ts';
import type { Session } from '../../../../store/records/session.ts';
import { eventually } from '../../../helpers/eventually.ts';
import {
  type Machine,
  newItem,
  planFor,
  twoMachines,
  untilStatus,
  workOn,
} from '../../../helpers/two-machines.ts';

/** What this machine has goes to the other. */
const share = async (from: Machine, to: Machine): Promise<void> => {
  await from.committed();
  await from.git('push', '--quiet');
  await to.git('pull', '--quiet', '--no-edit');
};

/** All that the API says of the workspace, but for when this machine's files were written, and who verified here. */
const everything = async ({ send }: Machine) => {
  const cases = await send<Case[]>('GET', '/cases');
  const ofOne = ['sessions', 'proof/checklist', 'memory'];
  return Promise.all(
    cases.map(async ({ updated_at: _, ...item }) => {
      const parts = ofOne.map((part) => send('GET', `/cases/${item.id}/${part}`));
      const proofs = await proofsOf({ send }, item);
      const alike = proofs.map(({ verified_elsewhere: _here, ...proof }) => proof);
      return [item, alike, ...(await Promise.all(parts))];
    }),
  );
};

const proofsOf = ({ send }: Pick<Machine, 'send'>, { id }: Pick<Case, 'id'>): Promise<Proof[]> =>
  send('GET', `/cases/${id}/proof`);

const assertClean = async ({ git }: Machine): Promise<void> =>
  assert.equal(await git('status', '--porcelain'), '');

/** Nothing that git keeps says on which machine, or where on it, it was written. */
const assertPortable = async (machine: Machine): Promise<void> => {
  const { git, workspace, running } = machine;
  const files = (await git('ls-files')).trim().split('\n');
  for (const file of files) {
    assert.doesNotMatch(file, /(^|\/)(\.dossier|lock\.md|[^/]*\.lock|[^/]*\.tmp)(\/|$)/);
    const text = readFileSync(join(workspace, file), 'utf8');
    for (const local of [workspace, running.repository.root, hostname()])
      assert.equal(text.includes(local), false, `${file} has ${local}`);
  }
};

const edit = ({ workspace }: Machine, { path }: Case, from: string | RegExp, to: string): void => {
  const file = join(workspace, path, 'case.md');
  writeFileSync(file, readFileSync(file, 'utf8').replace(from, to));
};

describe('two clones of a workspace, each with a daemon', () => {
  for (const autocommit of [true, false]) {
    it(`merge what was done on different Work items, committed ${autocommit ? 'by itself' : 'by hand'}`, async (t) => {
      const [one, two] = await twoMachines(t, { autocommit });
      const mine = await newItem(one, 'Done on the first machine');
      const theirs = await newItem(one, 'Done on the second machine');
      await share(one, two);
      await eventually(async () =>
        assert.equal((await two.send<Case[]>('GET', '/cases')).length, 2),
      );
      assert.deepEqual([await one.told(), await two.told()], [[], []]);

      await Promise.all([live(one, mine), live(two, theirs)]);
      const [ofOne, ofTwo] = [await one.told(), await two.told()];
      assert.deepEqual(ofOne, ofTwo);
      assert.ok(ofOne.includes('session_completed'));

      await one.committed();
      await two.committed();
      await share(one, two);
      await share(two, one);
      const net = [
        'case_state_changed OPEN RESOLVED',
        'case_updated',
        'proof_created',
        'proof_updated',
      ];
      assert.deepEqual([await one.told(), await two.told()], [net, net]);
      assert.deepEqual(await everything(one), await everything(two));
      // Each knows what its own operator verified.
      for (const [machine, item, elsewhere] of [
        [one, mine, undefined],
        [one, theirs, true],
        [two, mine, true],
        [two, theirs, undefined],
      ] as const)
        assert.equal((await proofsOf(machine, item))[0]?.verified_elsewhere, elsewhere);

      for (const each of [one, two]) {
        await each.running.restart();
        assert.deepEqual(await each.told(), []);
        await assertClean(each);
        await assertPortable(each);
        assert.deepEqual(each.running.logged, []);
      }
      assert.equal(
        await one.git('rev-parse', 'HEAD^{tree}'),
        await two.git('rev-parse', 'HEAD^{tree}'),
      );
    });
  }

  it('merge two keys of one record that do not stand side by side', async (t) => {
    const [one, two] = await twoMachines(t);
    const item = await newItem(one, 'Seen by both');
    await share(one, two);
    await two.told();
    await one.send('PUT', `/cases/${item.id}`, { title: 'Told by one' });
    await two.send('PUT', `/cases/${item.id}/state`, { state: 'INVESTIGATING' });
    await one.told();
    await two.told();
    await two.committed();
    await share(one, two);
    assert.deepEqual(await two.told(), ['case_updated']);
    await share(two, one);
    assert.deepEqual(await one.told(), ['case_state_changed OPEN PLANNING']);
    assert.deepEqual(await everything(one), await everything(two));
  });

  it('tell where both changed one line, serve what was read last, and go on when it is mended', async (t) => {
    const [one, two] = await twoMachines(t, { autocommit: true });
    const [item, other] = [
      await newItem(one, 'Seen by both'),
      await newItem(one, 'Not in the way'),
    ];
    await share(one, two);
    await two.told();
    await one.send('PUT', `/cases/${item.id}`, { title: 'Told by one' });
    await two.send('PUT', `/cases/${item.id}`, { title: 'Told by two' });
    await one.committed();
    await two.committed();
    await two.told();
    await one.git('push', '--quiet');
    // Where the daemon's commit holds the index for a moment longer, nothing is pulled.
    await eventually(async () => {
      await assert.rejects(two.git('pull', '--quiet', '--no-edit'));
      await two.git('rev-parse', '--quiet', '--verify', 'MERGE_HEAD');
    });

    const file = `${item.path}/case.md`;
    const conflict = await eventually(async () => {
      const served = await two.send<Case>('GET', `/cases/${item.id}`);
      assert.equal(served.title, 'Told by two');
      assert.equal(served.problems?.length, 1);
      return served.problems?.[0];
    });
    assert.deepEqual(
      [conflict?.file, conflict?.code, conflict?.line],
      [file, 'conflict_markers', 3],
    );
    const refused = await two.call<{ code: string; detail: string }>('PUT', `/cases/${item.id}`, {
      title: 'Over it',
    });
    assert.deepEqual([refused.status, refused.body.code], [409, 'unreadable_record']);
    assert.match(refused.body.detail, /case\.md:3:1: .*conflict/);

    // The other one goes on, and nothing is committed on the way.
    await two.send('PUT', `/cases/${other.id}/state`, { state: 'BLOCKED' });
    await eventually(() =>
      assert.match(two.running.logged.map(textOf).join(), /git merge --continue/),
    );
    assert.deepEqual(await two.told(), ['case_state_changed OPEN BLOCKED']);
    assert.match(await two.git('status', '--porcelain'), new RegExp(`^UU ${file}$`, 'm'));

    await two.git('checkout', '--theirs', '--', file);
    assert.deepEqual(await two.told(), ['case_updated']);
    await two.git('add', file);
    await two.git('commit', '--quiet', '--no-edit');
    await two.committed();
    await two.git('push', '--quiet');
    await one.told();
    await one.git('pull', '--quiet', '--no-edit');
    assert.deepEqual(await one.told(), ['case_state_changed OPEN BLOCKED']);
    assert.deepEqual(await everything(one), await everything(two));
    const subjects = await two.git('log', '-1', '--format=%s');
    assert.equal(subjects.trim(), 'case Not in the way: state OPEN to BLOCKED');
  });

  it('leave a session to the machine that runs it', async (t) => {
    const [one, two] = await twoMachines(t);
    const item = await newItem(one, 'Worked on by one');
    const session = await planFor(one, item);
    edit(one, item, 'type: feature', 'type: chore');
    await share(one, two);
    const at = `/cases/${item.id}/sessions/${session.id}`;
    const there = await eventually(() => two.send<Session>('GET', at));
    assert.deepEqual(there, { ...session, elsewhere: true });
    assert.equal('elsewhere' in (await one.send<Session>('GET', at)), false);

    const before = await two.git('rev-parse', 'HEAD');
    await two.running.restart();
    for (const [path, body] of [
      [`${at}/approve`, {}],
      [`${at}/revise`, { comment: 'Again' }],
      [`/api/cases/${item.id}/session/abort`, undefined],
      [`/api/cases/${item.id}/session/pause`, undefined],
      [`/api/cases/${item.id}/session/resume`, undefined],
    ] as const) {
      const refused = await two.call<{ code: string; detail: string }>('POST', path, body);
      assert.equal(refused.status, 422, path);
      assert.equal(refused.body.code, 'invalid_state');
      assert.match(refused.body.detail, /another machine/);
    }
    assert.deepEqual(await two.send('GET', '/api/sessions/active'), []);
    assert.equal((await two.send(`GET`, `/api/worktrees/${item.id}/lock`)).locked, false);
    // What is there is streamed, to its end.
    const stream = await two.call('GET', `${at}/stream`);
    assert.match(stream.text, /event: plan_ready/);
    assert.deepEqual(await two.told(), []);
    await assertClean(two);
    assert.equal(await two.git('rev-parse', 'HEAD'), before);

    await one.send('POST', `${at}/approve`, {});
    await untilStatus(one, session, 'completed');
    await share(one, two);
    assert.deepEqual(await two.told(), ['case_state_changed PLANNING VERIFYING']);
    assert.equal((await two.send<Session>('GET', at)).status, 'completed');
    assert.deepEqual(await everything(one), await everything(two));
  });

  it('start a session of their own beside one that another machine left in the queue', async (t) => {
    const [one, two] = await twoMachines(t);
    const item = await newItem(one, 'Worked on by both');
    await one.send('POST', `/api/worktrees/${item.id}/lock`);
    const waiting = await one.send<Session>('POST', `/cases/${item.id}/sessions`, {
      type: 'implementing',
    });
    assert.equal(waiting.status, 'queued');
    await share(one, two);
    await eventually(() => two.send('GET', `/cases/${item.id}/sessions/${waiting.id}`));
    const own = await planFor(two, item);
    assert.equal('elsewhere' in own, false);
    await two.send('POST', `/api/cases/${item.id}/session/abort`);
    await untilStatus(two, own, 'aborted');
    assert.equal(
      (await two.send<Session>('GET', `/cases/${item.id}/sessions/${waiting.id}`)).status,
      'queued',
    );
  });
});

const textOf = ({ details }: { details: object }): string => JSON.stringify(details);

/** The whole way of a Work item, by API and by hand. */
const live = async (machine: Machine, item: Case): Promise<void> => {
  const { send } = machine;
  const at = `/cases/${item.id}`;
  await send('POST', `${at}/proof/checklist`, {
    description: 'The log',
    type: 'test-log',
    required: true,
  });
  edit(machine, item, /^title: .*$/m, `title: ${item.title}, renamed by hand`);
  await machine.call('PUT', `${at}/memory/notes.md`, '# Notes\n');
  const proof = await send<{ id: string }>('POST', `${at}/proof`, {
    type: 'test-log',
    content: 'ok',
  });
  await workOn(machine, item);
  await send('PUT', `${at}/proof/${proof.id}/verify`);
  await eventually(async () => {
    assert.equal((await send<Case>('GET', at)).state, 'RESOLVED');
  });
};
