/** A real process, killed while it imports issues. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ImportJob } from '../../store/records/import-job.ts';
import { startCodeHost } from '../codehost/code-host.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const JOBS = '/api/codehost/import/jobs';
const ISSUES = 12;

const send = async <T>(method: string, url: string, body?: object): Promise<T> => {
  const answer = await fetch(url, {
    method,
    ...(body && { body: JSON.stringify(body), headers: { 'content-type': 'application/json' } }),
  });
  const text = await answer.text();
  assert.ok(answer.ok, text);
  return JSON.parse(text) as T;
};

describe('a daemon that is killed while it imports', () => {
  it('waits for the operator when it is started again, and makes one Work item of each issue', async (t) => {
    const host = await startCodeHost(t);
    const numbers = await host.issues.addMany(ISSUES);
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, 'workspace.md'), '---\ncodehost: {repository: acme/app}\n---\n');
    const { root } = host.repositories.clone();
    const args = ['--workspace', workspace, '--repo', root];
    const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token };

    let daemon = await startDaemon(t, args, env);
    const { id } = await send<ImportJob>('POST', `${daemon.url}${JOBS}`, { numbers });
    const read = (): Promise<ImportJob> => send('GET', `${daemon.url}${JOBS}/${id}`);
    for (const least of [2, 5, 9]) {
      await eventually(async () => assert.ok((await read()).done >= least));
      const before = await read();
      await daemon.end('SIGKILL');
      daemon = await startDaemon(t, args, env);
      const after = await read();
      assert.ok(after.done >= before.done);
      if (after.status === 'completed') break;
      assert.equal(after.status, 'pending');
      await send('PATCH', `${daemon.url}${JOBS}/${id}`, { status: 'running' });
    }
    const done = await eventually(async () => {
      const now = await read();
      assert.equal(now.status, 'completed');
      return now;
    });
    assert.deepEqual(
      done.results.map(({ number, outcome }) => [number, outcome]),
      numbers.map((number) => [number, 'imported']),
    );
    const items = await send<{ id: string; title: string }[]>('GET', `${daemon.url}/cases`);
    assert.deepEqual(
      items.map(({ title }) => title).toSorted(),
      numbers.map((_, at) => `Issue ${at + 1}`).toSorted(),
    );
    assert.deepEqual(
      new Set(done.results.map(({ case_id }) => case_id)),
      new Set(items.map((one) => one.id)),
    );
    assert.deepEqual(await send('GET', `${daemon.url}/api/diagnostics`), []);
    await daemon.end('SIGTERM');
  });
});
