import assert from 'node:assert/strict';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { eventually } from '../../../../helpers/eventually.ts';
import { temporaryDirectory } from '../../../../helpers/repository.ts';
import { newestSession } from '../../../../helpers/service.ts';
import { type SessionTest, withCase } from '../../../../helpers/sessions.ts';
import { assertProblem } from '../../../../helpers/work-item.ts';

const TWO_STEPS = '```sh\necho one > one.txt\n```\n\n```sh\ntest -e go || sleep 300\n```\n';

/** The next life of a daemon finds that this part of .dossier/ is gone. */
const restartWithout = async ({ running }: SessionTest, part: string): Promise<void> => {
  await running.stop();
  rmSync(join(running.workspace, '.dossier', part), { recursive: true });
  await running.restart();
};

/** A Work item whose session has done its first step, and one that waits behind it. */
const atWork = async (t: TestContext, settings = '') => {
  const it = await withCase(t, TWO_STEPS, { settings: `sandbox: off\n${settings}` });
  const { id } = await it.start();
  const queued = await it.start();
  const { branch } = await it.until(id, 'plan_ready');
  await it.post(`/sessions/${id}/approve`);
  await eventually(async () => {
    const calls = (await it.eventsOf(id)).filter(({ event }) => event === 'tool_call');
    assert.ok(calls.some(({ data }) => data.status === 'completed'));
  });
  return { it, id, queued: queued.id, branch };
};

const recordOf = ({ running, item }: SessionTest): string =>
  readFileSync(join(newestSession(running, item), 'session.md'), 'utf8');

describe('a plan whose worktree is away', () => {
  it('is not approved, waits, and runs once the directory is back', async (t) => {
    const it = await withCase(t, '```sh\necho one > one.txt\n```\n');
    const { id } = await it.start();
    await it.until(id, 'plan_ready');
    const at = join(it.running.workspace, '.dossier/worktrees', basename(it.item.path));
    renameSync(at, `${at}-away`);
    assertProblem(await it.post(`/sessions/${id}/approve`), 409, 'worktree_missing');
    await it.until(id, 'plan_ready');
    renameSync(`${at}-away`, at);
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.until(id, 'completed');
  });
});

describe('a session whose lock stands where .dossier/ was removed', () => {
  it('is paused, says what is lost with its worktree, and leaves the rest to the operator', async (t) => {
    const { it, id, queued, branch } = await atWork(t);
    await restartWithout(it, '');
    const { error, ...session } = await it.until(id, 'paused');
    assert.equal('elsewhere' in session, false);
    assert.match(error ?? '', new RegExp(`Uncommitted changes are lost.* branch ${branch}\\.`));
    assert.ok(
      it.running.logged.some(({ message }) => /reclaiming a session by its lock/.test(message)),
    );
    assertProblem(await it.control('resume'), 409, 'worktree_missing');
    assert.equal((await it.until(id, 'paused')).error, error);
    assert.equal((await it.control('abort')).body.status, 'aborted');
    assert.equal((await it.until(queued, 'queued')).unconfirmed, 'started');
    await it.running.call('POST', '/trust', { all: true });
    await it.until(queued, 'plan_ready');
    assert.match(recordOf(it), new RegExp(`machine: ${it.running.service.store.machine}`));
  });

  it('goes on in its worktree, where that was elsewhere', async (t) => {
    const home = temporaryDirectory(t);
    const { it, id, branch } = await atWork(t, `worktrees: { root: ${home} }`);
    await restartWithout(it, '');
    assert.match((await it.until(id, 'paused')).error ?? '', /so far is in the worktree/);
    const worktree = join(home, branch?.replace('work/', '') ?? '');
    rmSync(join(worktree, 'one.txt'));
    writeFileSync(join(worktree, 'go'), '');
    assertProblem(await it.control('resume'), 409, 'approved_elsewhere');
    assert.equal((await it.post(`/sessions/${id}/approve`)).body.status, 'working');
    await it.until(id, 'completed');
    assert.ok(!existsSync(join(worktree, 'one.txt')), 'what was done is not done again');
  });

  it('is approved as it was planned, once the operator has confirmed it', async (t) => {
    const it = await withCase(t);
    const { id } = await it.planned();
    await restartWithout(it, '');
    assertProblem(await it.post(`/sessions/${id}/approve`), 409, 'approved_elsewhere');
    await it.running.call('POST', '/trust', { all: true });
    assert.equal((await it.post(`/sessions/${id}/approve`)).status, 200);
    await it.until(id, 'completed');
  });

  it('is paused where the journal alone is gone, and goes on', async (t) => {
    const { it, id, queued } = await atWork(t);
    await restartWithout(it, 'journal');
    await it.until(id, 'paused');
    assert.equal((await it.control('resume')).body.status, 'working');
    await it.control('abort');
    await it.until(queued, 'plan_ready');
  });
});
