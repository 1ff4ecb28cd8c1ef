/** A session that needs a setting which waits is kept from going on at every step, and goes on once it is trusted. */
import assert from 'node:assert/strict';
import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Session } from '../../store/records/session.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import type { Running } from '../helpers/service.ts';
import { withCase } from '../helpers/sessions.ts';
import { assertProblem } from '../helpers/work-item.ts';

/** Saves other settings, and lets the daemon see them. */
const write = async ({ workspace, call }: Running, yaml: string): Promise<void> => {
  writeFileSync(join(workspace, 'workspace.md'), `---\n${yaml}\n---\n`);
  assert.equal((await call('GET', '/trust')).status, 200);
};

const DISTRUSTFUL = { trust: false, watch: true };

describe('a session', () => {
  it('that waits its turn waits for the word too, says so in its stream, and begins with it', async (t) => {
    const test = await withCase(t, undefined, DISTRUSTFUL);
    const first = await test.start();
    await test.until(first.id, 'plan_ready');
    const second = await test.start();
    assert.equal(second.status, 'queued');
    await write(test.running, 'sandbox: off');
    assert.equal((await test.control('abort')).status, 200);
    const { data } = await test.untilEvent(second.id, 'status');
    assert.equal(data.waits_for, 'trust');
    assert.match(String(data.message), /sandbox \(workspace\.md:2\).*dossier trust/);
    const queue = await test.call<Session[]>('GET', '/api/sessions/queue');
    assert.deepEqual(
      queue.body.map(({ id }) => id),
      [second.id],
    );
    assert.equal(
      test.logged.filter(({ message }) => /queued session cannot start/.test(message)).length,
      1,
    );
    await test.call('POST', '/trust', { all: true });
    await test.until(second.id, 'plan_ready');
  });

  it('is not based on a branch that a pull named, which set-up commands would run', async (t) => {
    const files = { 'setup.sh': 'true\n' };
    const test = await withCase(t, undefined, { ...DISTRUSTFUL, files });
    const { git, root } = test.repository;
    git('switch', '--quiet', '--create', 'theirs');
    writeFileSync(join(root, 'setup.sh'), 'echo theirs > ran.txt\n');
    git('commit', '--quiet', '--all', '--message', 'Not reviewed');
    git('switch', '--quiet', 'main');
    const setup = { setup: ['sh setup.sh'] };
    assert.equal((await test.call('PUT', '/api/worktrees/config', setup)).status, 200);
    await write(test.running, 'worktrees: { setup: [sh setup.sh], base_branch: theirs }');
    const refused = await test.post('/sessions', { type: 'implementing' });
    assertProblem(refused, 422, 'trust_needed');
    assert.match(refused.body.detail, /: worktrees\.base_branch \(workspace\.md:2\)\./);
    const at = `/api/worktrees/${test.item.id}`;
    const based = await test.call<{ notes: string[] }>('GET', `${at}/base`);
    assert.match(
      String(based.body.notes[0]),
      /^worktrees\.base_branch waits for dossier trust --workspace \S+\.$/,
    );
    git('worktree', 'add', '--quiet', '-b', 'mine', join(root, '../mine'), 'theirs');
    const attached = await test.call('POST', `${at}/attach`, { path: join(root, '../mine') });
    assertProblem(attached, 422, 'not_a_worktree');
    assert.match(
      String(attached.body.detail),
      /waits for trust\. Run dossier trust --workspace \S+, or name the base\./,
    );
    await write(test.running, 'worktrees: { setup: [sh setup.sh] }');
    await test.planned();
    const { body } = await test.call<Worktree>('GET', `/api/cases/${test.item.id}/worktree`);
    assert.deepEqual([body.base, existsSync(join(body.path, 'ran.txt'))], ['main', false]);
  });

  it('is not approved, sent back or resumed, and can be aborted', async (t) => {
    const test = await withCase(t, undefined, DISTRUSTFUL);
    const { id } = await test.planned();
    await write(test.running, 'network: host');
    const at = `${test.at}/sessions/${id}`;
    assertProblem(await test.call('POST', `${at}/approve`), 422, 'trust_needed');
    const comment = { comment: 'Again' };
    assertProblem(await test.call('POST', `${at}/revise`, comment), 422, 'trust_needed');
    assert.equal((await test.call<Session>('GET', at)).body.status, 'plan_ready');
    await write(test.running, 'network: proxy');
    await test.call('POST', `${at}/approve`);
    await test.until(id, 'completed');
    const next = await test.start();
    await test.until(next.id, 'plan_ready');
    await write(test.running, 'allow_local: ["127.0.0.1:5432"]');
    assert.equal((await test.control('abort')).status, 200);
  });

  it('that is paused is not resumed', async (t) => {
    const slow = 'Wait:\n\n```sh\nwhile [ ! -e go ]; do sleep 0.1; done\n```\n';
    const test = await withCase(t, slow, DISTRUSTFUL);
    const { id } = await test.planned();
    await test.call('POST', `${test.at}/sessions/${id}/approve`);
    await test.until(id, 'working');
    assert.equal((await test.control('pause')).status, 200);
    await write(test.running, 'permissions: { execute: allow }');
    assertProblem(await test.control('resume'), 422, 'trust_needed');
    await test.call('POST', '/trust', { all: true });
    assert.equal((await test.control('resume')).status, 200);
    assert.equal((await test.control('abort')).status, 200);
  });

  it('of planning, a conflict or a set-up is kept from it as well', async (t) => {
    const test = await withCase(t, undefined, DISTRUSTFUL);
    const made = await test.call('POST', '/api/worktrees', { case_id: test.item.id });
    assert.equal(made.status, 201, made.text);
    await write(
      test.running,
      'providers:\n  x: { kind: command, work: [cat] }\nworktrees: { setup: [make] }',
    );
    const planning = `/api/cases/${test.item.id}/planning/hypotheses-file`;
    assertProblem(await test.call('POST', planning, { provider: 'x' }), 422, 'trust_needed');
    const setup = `/api/worktrees/${test.item.id}/setup`;
    assertProblem(await test.call('POST', setup), 422, 'trust_needed');
    assertProblem(
      await test.call('POST', '/providers/x/run', { prompt: 'Go' }),
      422,
      'trust_needed',
    );
    // What it does not need keeps it from nothing: the worktree is there, and so is the provider.
    const { status } = await test.call('POST', `${test.at}/sessions`, { type: 'investigation' });
    assert.equal(status, 201);
  });
});
