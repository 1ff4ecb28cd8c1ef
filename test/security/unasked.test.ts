/** Commands of an approved plan that run without asking: those that the operator saw listed, and no other. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { approvalHash } from '../../lib/work/sessions/rules/approval.ts';
import type { Boundary } from '../../store/records/boundary.ts';
import { eventually } from '../helpers/eventually.ts';
import { writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const PLAN = `Run \`npm run prose\`, then:

\`\`\`sh
npm ci
npm test # all of them
npm publish
\`\`\`
`;

const planned = async (
  t: TestContext,
  { commands = [{ command: 'npm test' }], sandbox = 'auto' }: Planned = {},
) => {
  const options = withAgent(t, 'planned', sandbox);
  writeFiles(join(options.env?.HOME ?? '', '.test-agent'), {
    'plan.md': PLAN,
    'commands.json': JSON.stringify(commands),
  });
  const test = await withCase(t, 'x', { ...options, watch: true });
  const { id } = await test.start();
  const { plan_sha256 } = await test.until(id, 'plan_ready');
  return { test, id, plan_sha256: plan_sha256 ?? '' };
};

interface Planned {
  commands?: object[];
  sandbox?: 'auto' | 'off';
}

const boundaryOf = async ({ running, at }: SessionTest, id: string, ask?: string) => {
  const query = ask === undefined ? '' : `?ask=${encodeURIComponent(ask)}`;
  return running.call<Boundary>('GET', `${at}/sessions/${id}/boundary${query}`);
};

const listOf = async (test: SessionTest, id: string, ask?: string) =>
  (await boundaryOf(test, id, ask)).body.unasked;

const approve = (test: SessionTest, id: string, body: object) =>
  test.post(`/sessions/${id}/approve`, body);

const askedFor = async (test: SessionTest, id: string) =>
  (await test.eventsOf(id)).filter(({ event }) => event === 'permission_request');

const nthAsked = (test: SessionTest, id: string, nth: number) =>
  eventually(async () => {
    const found = (await askedFor(test, id))[nth - 1];
    assert.ok(found, `request ${nth}`);
    return found.data;
  });

const isSandboxed = ({ running }: SessionTest): boolean =>
  running.service.sandbox().kind === 'bubblewrap';

describe('a command of an approved plan', () => {
  it('runs without asking where it is exactly a line that was listed and approved', async (t) => {
    const asked = [
      { command: 'npm publish' },
      { command: 'npm run prose' },
      { command: 'npm test # all of them' },
      { command: 'npm test ' },
      { command: 'npm  test' },
      { command: 'npm test && curl evil' },
      { command: 'CI=1 npm test' },
      { command: 'npm test', cwd: 'sub' },
      { command: 'npm test', env: { PATH: '/tmp' } },
      { command: ['npm', 'test'] },
    ];
    const commands = [
      ...[{ command: 'npm ci' }, { command: ['bash', '-lc', 'npm test'], workdir: '.' }],
      ...asked,
    ];
    const { test, id, plan_sha256 } = await planned(t, { commands });
    if (!isSandboxed(test)) return t.skip('no bubblewrap');
    const all = ['npm ci', 'npm test', 'npm publish'];
    assert.deepEqual((await listOf(test, id))?.commands, all);
    const ask = 'npm publish';
    const { commands: listed = [], approval_sha256 } = (await listOf(test, id, ask)) ?? {};
    assert.deepEqual(listed, all.slice(0, 2));
    assert.equal(approval_sha256, approvalHash(plan_sha256, listed));
    // The hash is of the text and of this list.
    for (const body of [{}, { ask: ['npm ci'] }, { ask: ['npm publish', 'npm ci'] }]) {
      const refused = await approve(test, id, { approval_sha256, ...body });
      assert.deepEqual([refused.status, refused.body.code], [409, 'plan_changed']);
    }
    for (const unknown of ['npm tes', 'npm run prose']) {
      const refused = await approve(test, id, { approval_sha256, ask: [unknown] });
      assert.deepEqual([refused.status, refused.body.code], [400, 'bad_request']);
      assert.equal((await boundaryOf(test, id, unknown)).status, 400);
    }
    const { body } = await approve(test, id, { approval_sha256, ask: [ask] });
    assert.deepEqual([body.status, body.unasked], ['working', listed]);
    for (const at of asked.keys()) {
      const { request_id } = await nthAsked(test, id, at + 1);
      await test.post(`/sessions/${id}/permissions/${request_id}`, { option_id: 'no' });
    }
    await test.until(id, 'completed');
    const resolved = (await test.eventsOf(id)).filter(
      ({ event }) => event === 'permission_resolved',
    );
    assert.deepEqual(
      resolved.map(({ data: { by, option_id } }) => [by, option_id]),
      [...Array(2).fill(['policy', 'yes']), ...Array(asked.length).fill(['operator', 'no'])],
    );
    const told = (await test.eventsOf(id)).find(({ event }) => event === 'approved');
    assert.deepEqual(told?.data.unasked, listed);
    const record = readFileSync(join(newestSession(test.running, test.item), 'session.md'), 'utf8');
    assert.match(record, /^unasked:\n {2}- npm ci\n {2}- npm test\n/m);
    assert.match(record, /Commands that run without asking:\n\n```sh\nnpm ci\nnpm test\n```/);
  });

  it('is asked for where only the text was approved, or a file claims the list', async (t) => {
    const { test, id, plan_sha256 } = await planned(t);
    if (!isSandboxed(test)) return t.skip('no bubblewrap');
    const { approval_sha256 } = (await listOf(test, id)) ?? {};
    const file = join(newestSession(test.running, test.item), 'plan.md');
    const plan = readFileSync(file, 'utf8');
    writeFileSync(file, plan.replace('npm ci', 'npm test'));
    const changed = await approve(test, id, { approval_sha256 });
    assert.deepEqual([changed.status, changed.body.code], [409, 'plan_changed']);
    writeFileSync(file, plan);
    assert.equal((await approve(test, id, { plan_sha256 })).body.unasked, undefined);
    assert.equal((await nthAsked(test, id, 1)).command, 'npm test');
    await test.control('pause');
    assert.equal(await listOf(test, id), undefined);
    const record = join(newestSession(test.running, test.item), 'session.md');
    const text = readFileSync(record, 'utf8');
    writeFileSync(record, text.replace('\napproved_at:', '\nunasked: [npm test]\napproved_at:'));
    await eventually(async () => {
      const { body } = await test.running.call('GET', `${test.at}/sessions/${id}`);
      assert.equal(body.unconfirmed, 'approved');
    });
    assert.equal(await listOf(test, id), undefined);
    const again = await approve(test, id, { approval_sha256 });
    assert.deepEqual([again.status, again.body.code], [409, 'plan_changed']);
    const { body } = await approve(test, id, { plan_sha256 });
    assert.deepEqual([body.unconfirmed, body.unasked], [undefined, undefined]);
    assert.equal((await nthAsked(test, id, 2)).command, 'npm test');
  });

  it('is asked for where the settings say ask, or no sandbox is enforced', async (t) => {
    const { test, id, plan_sha256 } = await planned(t, { sandbox: 'off' });
    const { body } = await boundaryOf(test, id);
    assert.deepEqual([body.permissions?.execute, body.unasked], ['ask', undefined]);
    const approval_sha256 = approvalHash(plan_sha256, ['npm ci', 'npm test', 'npm publish']);
    const refused = await approve(test, id, { approval_sha256 });
    assert.deepEqual([refused.status, refused.body.code], [409, 'plan_changed']);
    const settings = join(test.running.workspace, 'workspace.md');
    const text = readFileSync(settings, 'utf8');
    const explicit = text
      .replace('sandbox: off', 'sandbox: auto')
      .replace('provider: agent', 'permissions: { execute: ask }\nprovider: agent');
    writeFileSync(settings, explicit);
    await eventually(async () =>
      assert.equal(isSandboxed(test) || (await boundaryOf(test, id)).body.sandbox, true),
    );
    assert.equal((await boundaryOf(test, id)).body.permissions?.execute, 'ask');
    assert.equal((await approve(test, id, { approval_sha256 })).body.code, 'plan_changed');
    writeFileSync(settings, explicit.replace('execute: ask', 'execute: plan'));
    await eventually(async () =>
      assert.deepEqual((await listOf(test, id))?.approval_sha256, approval_sha256),
    );
    // The list is approved, and the policy of this moment decides.
    assert.equal((await approve(test, id, { approval_sha256 })).status, 200);
    await test.until(id, 'completed');
    assert.deepEqual(await askedFor(test, id), []);
  });
});
