/** The status in the record of a session that does not run is edited by hand. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../../../../lib/sandbox/sandbox.ts';
import type { Case } from '../../../../../store/records/case.ts';
import { eventually } from '../../../../helpers/eventually.ts';
import { newestSession } from '../../../../helpers/service.ts';
import { type SessionTest, withCase } from '../../../../helpers/sessions.ts';

const { kind, reason } = createSandbox('auto', { PATH: process.env.PATH ?? '' });
const skip = kind === 'none' && (reason ?? 'no sandbox');

// Without a sandbox the change waits until the operator confirms it.
describe('a status that is edited by hand while nothing runs', { skip }, () => {
  const planned = async (t: TestContext) => {
    const test = await withCase(t, '```sh\ntrue\n```\n', {
      watch: true,
      settings: 'sandbox: auto',
    });
    const { id } = await test.planned();
    const file = join(newestSession(test, test.item), 'session.md');
    const edit = (from: string, to: string): void =>
      writeFileSync(file, readFileSync(file, 'utf8').replace(`status: ${from}`, `status: ${to}`));
    return { test, id, edit };
  };

  const assertLocked = (test: SessionTest, wanted: boolean): Promise<void> =>
    eventually(async () => {
      const { body } = await test.call<{ locked: boolean }>(
        'GET',
        `/api/worktrees/${test.item.id}/lock`,
      );
      assert.equal(body.locked, wanted);
    });

  for (const [status, state] of [
    ['aborted', 'OPEN'],
    ['completed', 'VERIFYING'],
    ['failed', 'BLOCKED'],
  ])
    it(`ends the session, gives its lock back and moves its Work item: ${status}`, async (t) => {
      const { test, id, edit } = await planned(t);
      await assertLocked(test, true);
      edit('plan_ready', `${status}`);
      await assertLocked(test, false);
      await test.untilEvent(id, 'complete');
      const { body } = await test.call<Case>('GET', test.at);
      assert.equal(body.state, state);
    });

  it('lets the next session plan', async (t) => {
    const { test, id, edit } = await planned(t);
    const next = await test.start();
    assert.equal((await test.until(next.id, 'queued')).status, 'queued');
    edit('plan_ready', 'aborted');
    await test.until(next.id, 'plan_ready');
    await test.until(id, 'aborted');
  });

  for (const status of ['planning', 'working'])
    it(`runs nothing, and pauses the session: ${status}`, async (t) => {
      const { test, id, edit } = await planned(t);
      edit('plan_ready', status);
      const { error } = await test.until(id, 'paused');
      assert.match(error ?? '', /no run of it exists/);
      assert.equal(test.service.engine.live.size, 0);
      assert.ok(!(await test.eventsOf(id)).some(({ event }) => event === 'tool_call'));
    });
});
