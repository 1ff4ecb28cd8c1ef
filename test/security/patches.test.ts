/** A patch of a session is what this machine wrote, or is said not to be: git brings other files, and an editor writes them. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import { dossier } from '../helpers/command.ts';
import { eventually } from '../helpers/eventually.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withCase } from '../helpers/sessions.ts';
import { withPlan } from '../helpers/with-plan.ts';

const FOREIGN = `diff --git a/hello.txt b/hello.txt
new file mode 100644
--- /dev/null
+++ b/hello.txt
@@ -0,0 +1 @@
+as somebody else says
`;

const worked = async (t: TestContext) => {
  const it = await withCase(t);
  const { id } = await it.worked();
  const dir = newestSession(it.running, it.item);
  const patch = join(dir, 'diff.patch');
  const record = join(it.running.workspace, '.dossier/patches', `${id}.json`);
  return { it, patch, record, mine: readFileSync(patch) };
};

const CHANGED = ['patch_changed diff.patch'];

const problems = async ({ running, item }: SessionTest): Promise<string[]> => {
  const at = `/api/diagnostics?path=${encodeURIComponent(item.path)}`;
  const { body } = await running.call<{ code: string; file: string }[]>('GET', at);
  return body.map(({ code, file }) => `${code} ${file.split('/').at(-1)}`);
};

describe('diff.patch of a session that has ended', () => {
  for (const [how, change, severity, code] of [
    ['edited', (file: string) => writeFileSync(file, FOREIGN), 'error', 'patch_changed'],
    ['deleted', (file: string) => rmSync(file), 'warning', 'patch_missing'],
  ] as const)
    it(`${how}: is said, after a restart and in a check too, until it is restored`, async (t) => {
      const { it, patch, mine } = await worked(t);
      const { layout } = it.running.service.store;
      const checked = async () =>
        (await checkWorkspace(layout, async () => [])).findings
          .filter(({ file }) => file.endsWith('diff.patch'))
          .map(({ severity, code }) => `${severity} ${code}`);
      assert.deepEqual([await problems(it), await checked()], [[], []]);
      change(patch);
      const told = [[`${code} diff.patch`], [`${severity} ${code}`]];
      assert.deepEqual([await problems(it), await checked()], told);
      await it.running.restart();
      await eventually(async () => assert.deepEqual(await problems(it), told[0]));
      const { body } = await it.running.call<AttentionItem[]>('GET', '/attention');
      const isInInbox = body.some(({ file }) => file?.endsWith('/diff.patch'));
      assert.equal(isInInbox, code === 'patch_changed');
      writeFileSync(patch, mine);
      assert.deepEqual([await problems(it), await checked()], [[], []]);
    });

  it('is said on its page and beside what `dossier diff` prints', async (t) => {
    const { workspace, dossier: api, at, until, fileOf, url } = await withPlan(t);
    const said = () => dossier(t, 'diff', 'make', '--workspace', workspace);
    const page = async () => (await fetch(url.replace(/plan$/, 'diff'))).text();
    const { plan_sha256 } = await api.call('GET /cases/{id}/sessions/{sid}', at);
    const body = { plan_sha256: plan_sha256 ?? '' };
    await api.call('POST /cases/{id}/sessions/{sid}/approve', { ...at, body });
    await until('complete');
    assert.doesNotMatch((await said()).stderr + (await page()), NOT_OURS);
    writeFileSync(await fileOf('diff.patch'), FOREIGN);
    const { stdout, stderr } = await said();
    assert.match(stdout, /as somebody else says/);
    assert.match(stderr, NOT_OURS);
    assert.match(await page(), NOT_OURS);
    rmSync(await fileOf('diff.patch'));
    assert.match((await said()).stderr, /it was deleted\. Restore it/);
  });

  it('is known beside another that the session never wrote', async (t) => {
    const { it, patch } = await worked(t);
    const since = patch.replace('diff.patch', 'since-approval.patch');
    writeFileSync(since, FOREIGN);
    assert.deepEqual(await problems(it), ['patch_changed since-approval.patch']);
    rmSync(since);
    assert.deepEqual(await problems(it), []);
  });

  it('is written where its hash cannot be noted', async (t) => {
    const it = await withCase(
      t,
      '```sh\nuntil [ -e go ]; do sleep 0.05; done\necho 1 > one\n```\n',
    );
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    await it.untilEvent(id, 'tool_call');
    mkdirSync(join(it.running.workspace, '.dossier/patches', `${id}.json`, 'in-the-way'), {
      recursive: true,
    });
    const { body } = await it.running.call<{ path: string }>(
      'GET',
      `/api/cases/${it.item.id}/worktree`,
    );
    writeFileSync(join(body.path, 'go'), '');
    await it.until(id, 'completed');
    assert.deepEqual(await problems(it), []);
  });

  it('is shown as before where this machine knows no hash of it', async (t) => {
    const { it, patch, record } = await worked(t);
    const sealed = readFileSync(record, 'utf8');
    writeFileSync(record, sealed.replace(/[0-9a-f]{64}/, '0'.repeat(64)));
    assert.deepEqual(await problems(it), []);
    rmSync(record);
    writeFileSync(patch, FOREIGN);
    assert.deepEqual(await problems(it), []);
    writeFileSync(record, sealed);
    assert.deepEqual(await problems(it), CHANGED);
  });
});

const NOT_OURS = /This patch is not the one that this machine wrote/;

describe('the patches of a session that is paused', () => {
  it('are said to be changed until the session writes them again', async (t) => {
    const it = await withCase(t, '```sh\ntouch began\nuntil [ -e go ]; do sleep 0.05; done\n```\n');
    const { id } = await it.planned();
    const { path = '' } = (
      await it.running.call<{ path: string }>('GET', `/api/cases/${it.item.id}/worktree`)
    ).body;
    writeFileSync(join(path, 'before.txt'), 'mine\n');
    await it.post(`/sessions/${id}/approve`);
    await it.untilEvent(id, 'tool_call');
    await it.control('pause');
    const dir = newestSession(it.running, it.item);
    assert.ok(readdirSync(dir).includes('since-approval.patch'));
    assert.deepEqual(await problems(it), []);
    for (const name of ['diff.patch', 'since-approval.patch'])
      writeFileSync(join(dir, name), FOREIGN);
    assert.deepEqual(await problems(it), [...CHANGED, 'patch_changed since-approval.patch']);
    writeFileSync(join(path, 'go'), '');
    await it.control('resume');
    await it.until(id, 'completed');
    assert.deepEqual(await problems(it), []);
  });
});
