/** An error of the disk is told as one: not as a file to mend, a worktree that was changed, or a lock that is held. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { inject } from '../helpers/faults.ts';
import { gitIn, temporaryDirectory } from '../helpers/repository.ts';
import { withCase as withSession } from '../helpers/sessions.ts';
import { assertProblem, withCase } from '../helpers/work-item.ts';

const during = async <T>(
  t: TestContext,
  fault: string,
  call: () => Promise<T>,
  whom: Parameters<typeof inject>[1] = process.pid,
): Promise<T | undefined> => {
  const faults = await inject(t, whom, fault);
  if (faults === undefined) return undefined;
  const answer = await call();
  await faults.end();
  return answer;
};

const CAUSES = [
  ['EIO', 'disk_failed'],
  ['EMFILE', 'unavailable'],
] as const;

describe('a disk that fails, or too many open files', () => {
  for (const [error, code] of CAUSES) {
    it(`at case.md is no file to mend (${error})`, async (t) => {
      const { call, at, dir } = await withCase(t, {}, { watch: true });
      const put = () => call('PUT', at, { title: 'New' });
      const answer = await during(t, `openat:error=${error}:-P${join(dir, 'case.md')}`, put);
      if (answer === undefined) return;
      const { detail } = assertProblem(answer, 503, code);
      assert.match(detail, /^Nothing was changed\./);
      assert.doesNotMatch(detail, /editor/);
      assert.equal((await put()).status, 200);
    });

    it(`at git's files is no worktree that was changed (${error})`, async (t) => {
      const { running, item } = await withSession(t);
      const { call } = running;
      const made = await call<{ path: string }>('POST', '/api/worktrees', { case_id: item.id });
      assert.equal(made.status, 201, made.text);
      const { path } = made.body;
      const gitDir = gitIn(path)('rev-parse', '--absolute-git-dir').trim();
      const remove = () => call('DELETE', `/api/cases/${item.id}/worktree`);
      for (const file of [join(path, '.git'), join(gitDir, 'commondir'), join(gitDir, 'gitdir')]) {
        const answer = await during(t, `openat:error=${error}:-P${file}`, remove);
        if (answer === undefined) return;
        assertProblem(answer, 503, code);
      }
      assert.equal((await remove()).status, 204);
    });

    it(`at a lock does not say that it is held (${error})`, async (t) => {
      const { running, item } = await withSession(t);
      const { call } = running;
      assert.equal((await call('POST', '/api/worktrees', { case_id: item.id })).status, 201);
      const lock = join(running.workspace, item.path, 'sessions/lock.md');
      const remove = () => call('DELETE', `/cases/${item.id}`);
      const answer = await during(t, `openat:error=${error}:-P${lock}`, remove);
      if (answer === undefined) return;
      assertProblem(answer, 503, code);
      assert.equal((await remove()).status, 204);
    });

    it(`while a registration is read back does not hide that it is made (${error})`, async (t) => {
      const workspace = temporaryDirectory(t);
      const folder = join(workspace, 'webhooks');
      mkdirSync(folder);
      const { call, running } = await withCase(t, {}, { watch: true, workspace });
      const body = { url: 'http://127.0.0.1:9/x' };
      const add = () => call<{ id: string }>('POST', '/webhooks', body);
      // It is listed before the write and synced with it.
      const fault = `openat:error=${error}:when=3+:-P${folder}`;
      const answer = await during(t, fault, add, { mainThread: process.pid });
      if (answer === undefined) return;
      assert.equal(answer.status, 201, answer.text);
      assert.match(running.logged.map(({ message }) => message).join(), /^webhooks: E/);
      const ids = (await call<{ id: string }[]>('GET', '/webhooks')).body.map(({ id }) => id);
      assert.deepEqual(
        readdirSync(join(running.workspace, '.dossier/secrets')).toSorted(),
        ids.toSorted(),
      );
      assert.ok(ids.includes(answer.body.id));
    });
  }

  it('leaves no secret without its registration, and no temporary file for good', async (t) => {
    const { call, at, running } = await withCase(t, {}, { watch: true });
    const below = (name: string) => readdirSync(join(running.workspace, '.dossier', name));
    const add = () => call('POST', '/webhooks', { url: 'http://127.0.0.1:9/x' });
    const refused = await during(t, 'link:error=ENOSPC:when=2+', add);
    if (refused === undefined) return;
    assert.match(assertProblem(refused, 507, 'disk_full').detail, /^Nothing was changed\./);
    assert.deepEqual(below('secrets'), []);
    const put = () => call('POST', `${at}/proof`, { type: 'log', content: 'seen' });
    assert.equal((await during(t, 'unlink:error=EIO', put))?.status, 201);
    assert.equal(below('tmp').length, 1);
    assert.equal((await put()).status, 201);
    assert.deepEqual(below('tmp'), []);
  });
});
