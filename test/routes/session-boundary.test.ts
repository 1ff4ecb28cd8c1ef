/** What shuts in what would run once a plan is approved. */
import assert from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Boundary } from '../../store/records/boundary.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { type Problem, type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

const boundaryOf = async (it: SessionTest, id: string) =>
  it.running.call<Boundary & Problem>('GET', `${it.at}/sessions/${id}/boundary`);

describe('GET /cases/{id}/sessions/{sid}/boundary', () => {
  it('says plainly that nothing shuts in what would run, and why', async (t) => {
    const it = await withCase(t, undefined, { settings: 'sandbox: off', dev: false });
    const { id } = await it.start();
    const { status, body } = await boundaryOf(it, id);
    assert.equal(status, 200);
    assert.deepEqual(body, {
      ...{ kind: 'runbook', sandbox: 'none', network: 'host', local: [], commits: true },
      reason: 'The sandbox is turned off in the settings.',
    });
  });

  it('has what an agent may do unasked, and its network, as the settings want it', async (t) => {
    const options = withAgent(t, 'plan', 'auto');
    const it = await withCase(t, undefined, {
      ...options,
      settings: `${options.settings}
    network: { allow: [example.com] }
    allow_local: ["localhost:5432"]
    env: { MODEL_URL: "http://127.0.0.1:11434/v1" }
permissions: { execute: [npm test], fetch: allow }`,
    });
    const { id } = await it.start();
    const { body } = await boundaryOf(it, id);
    assert.deepEqual(body.permissions, { execute: ['npm test'], fetch: 'allow', prefixes: [] });
    const isShut = it.running.service.sandbox().kind === 'bubblewrap';
    assert.deepEqual(
      [body.kind, body.sandbox, body.network, body.local],
      isShut
        ? ['acp', 'bubblewrap', { allow: ['example.com'] }, ['localhost:5432', '127.0.0.1:11434']]
        : ['acp', 'none', 'host', []],
    );
  });

  it('has what this session allowed by its beginning', async (t) => {
    const it = await withCase(t, undefined, withAgent(t, 'plan'));
    const { id } = await it.start();
    it.running.service.engine.prefixes.set(id, ['npm run']);
    assert.deepEqual((await boundaryOf(it, id)).body.permissions?.prefixes, ['npm run']);
  });

  it('tells what is missing, and of what the operator does alone nothing', async (t) => {
    const program = join(temporaryDirectory(t), 'agent');
    writeFileSync(program, '#!/bin/sh\n', { mode: 0o755 });
    const settings = `providers:\n  mine: { kind: command, work: [${program}] }`;
    const it = await withCase(t, 'Plan it.', { settings });
    const { id } = await it.start({ provider: 'manual' });
    assert.deepEqual((await boundaryOf(it, id)).body, { kind: 'manual', commits: true });
    const { id: other } = await it.start({ provider: 'mine' });
    assert.equal((await boundaryOf(it, other)).body.missing, undefined);
    rmSync(program);
    const { body } = await boundaryOf(it, other);
    assert.match(body.missing ?? '', /does not exist, or is not executable/);
    assert.deepEqual([body.kind, body.permissions], ['command', undefined]);
  });

  it('is 404 where its provider, or the session, is not there any more', async (t) => {
    const settings = 'providers:\n  mine: { kind: command, work: [echo] }';
    const it = await withCase(t, 'Plan it.', { settings, watch: true });
    const { id } = await it.start({ provider: 'mine' });
    const none = await boundaryOf(it, '00000000-0000-4000-8000-000000000000');
    assert.deepEqual([none.status, none.body.code], [404, 'not_found']);
    assert.equal((await boundaryOf(it, id)).status, 200);
    writeFileSync(join(it.running.workspace, 'workspace.md'), '---\nprovider: manual\n---\n');
    await eventually(async () => {
      const { status, body } = await boundaryOf(it, id);
      assert.deepEqual([status, body.code], [404, 'not_found']);
    });
  });
});
