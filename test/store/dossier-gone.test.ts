/** Somebody removes `.dossier/`, or a part of it, while the daemon runs. */

import assert from 'node:assert/strict';
import { existsSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import { until } from '../helpers/eventually.ts';
import { openReceiver } from '../helpers/receiver.ts';
import { withCase as withSession } from '../helpers/sessions.ts';
import { assertProblem, told, withCase } from '../helpers/work-item.ts';
import { openRoot } from '../helpers/workspace.ts';

describe('a workspace whose .dossier/ is removed', () => {
  for (const part of ['', 'tmp', 'trash', 'undo', 'journal', 'baselines'])
    it(`writes on, and tells each change once, over a restart too (${part || 'all of it'})`, async (t) => {
      const { call, at, running, events } = await withCase(t);
      await call('PUT', at, { title: 'first' });
      rmSync(join(running.workspace, '.dossier', part), { recursive: true });
      assert.equal((await call('PUT', at, { title: 'second' })).status, 200);
      const proof = await call('POST', `${at}/proof`, { type: 'log', content: 'x' });
      assert.equal(proof.status, 201);
      await running.restart();
      assert.equal((await call<Case>('GET', at)).body.title, 'second');
      assert.deepEqual(told(events), ['case_updated', 'case_updated', 'proof_created']);
      assert.equal((await call('DELETE', at)).status, 204);
    });

  it('takes each write to a session, and the session lock', async (t) => {
    const test = await withSession(t, '```sh\ntrue\n```\n', { settings: 'sandbox: off' });
    const { id } = await test.planned();
    const at = `${test.at}/sessions/${id}`;
    const calls = [
      ['PUT', `${at}/comments`, 'Why?\n'],
      ['PUT', `${at}/plan`, '```sh\ntrue # as edited\n```\n'],
      ['POST', `${at}/approve`],
      ['POST', `/api/worktrees/${test.item.id}/lock`, { name: 'Ann' }],
    ] as const;
    for (const [method, path, body] of calls) {
      rmSync(join(test.workspace, '.dossier/tmp'), { recursive: true });
      const { status, text } = await test.call(method, path, body);
      assert.ok(status < 300, `${method} ${path} ${text}`);
      if (path.endsWith('approve')) await test.until(id, 'completed');
    }
  });

  it('delivers what was not delivered, when its journal is removed', async (t) => {
    const { call, at, running } = await withCase(t);
    const receiver = await openReceiver(t);
    await call('POST', '/webhooks', { url: receiver.url });
    rmSync(join(running.workspace, '.dossier/journal'), { recursive: true });
    await call('PUT', at, { title: 'second' });
    await running.restart();
    await until(() => receiver.received.length > 0);
  });

  it('is held by its daemon again, and by no other', async (t) => {
    const { call, at, running } = await withCase(t);
    const { workspace } = running;
    rmSync(join(workspace, '.dossier'), { recursive: true });
    await until(() => existsSync(join(workspace, '.dossier/owner.json')));
    await until(async () => (await call('PUT', at, { title: 'mine' })).status === 200);
    await assert.rejects(openRoot(workspace), { name: 'WorkspaceHeldError' });
    await until(() => existsSync(join(workspace, '.dossier/machine')));
  });

  it('is not made anew where it is gone as a whole', async (t) => {
    const { call, running } = await withCase(t);
    const { workspace } = running;
    renameSync(workspace, `${workspace}-moved`);
    const made = await call('POST', '/cases', { title: 'new', type: 'bug' });
    assertProblem(made, 503, 'read_only');
    assert.ok(!existsSync(workspace));
    renameSync(`${workspace}-moved`, workspace);
    assert.equal((await call('POST', '/cases', { title: 'new', type: 'bug' })).status, 201);
  });
});

describe('a workspace that is away, as when its disk is unmounted', () => {
  it('is told, instead of 404 for what is in it', async (t) => {
    const test = await withSession(t, '```sh\ntrue\n```\n', { settings: 'sandbox: off' });
    const { id } = await test.planned();
    const at = `${test.at}/sessions/${id}`;
    const away = `${test.workspace}-away`;
    renameSync(test.workspace, away);
    const missed = await test.call('GET', at);
    renameSync(away, test.workspace);
    const { detail } = assertProblem(missed, 503, 'unavailable');
    assert.match(detail, /workspace directory .* does not exist\. Put it back/);
    assert.equal((await test.call('GET', at)).status, 200);
    assertProblem(await test.call('GET', `${test.at}/sessions/${test.item.id}`), 404, 'not_found');
  });
});
