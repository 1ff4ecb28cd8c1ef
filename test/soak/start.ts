/**
 * `npm run soak:start [-- <part of a path> [<errno>]]`: each file and directory that a start looks at fails for the whole of
 * it, one after the other. Then the daemon starts without the others' loss, or says in a sentence why it does not; and a
 * start without the fault finds what was there before.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { startUnder, written } from '../helpers/strace.ts';

const CALLS =
  'openat,read,pread64,statx,newfstatat,getdents64,readlink,fsync,fdatasync,write,pwrite64,rename,link,unlink,mkdir,rmdir';
const PLAN = 'Make a file:\n\n```sh\necho done > done.txt\n```\n';

const [wanted = '', errno = 'EIO'] = process.argv.slice(2);

const callAt = async <T>(url: string, method: string, path: string, body?: object): Promise<T> => {
  const headers = { 'content-type': 'application/json' };
  const sent = body === undefined ? {} : { headers, body: JSON.stringify(body) };
  return (await fetch(`${url}${path}`, { method, ...sent })).json() as Promise<T>;
};

/** Once the start is whole, for which the list of active sessions waits. */
const casesAt = async (url: string): Promise<string[]> => {
  await callAt(url, 'GET', '/api/sessions/active');
  const cases = await callAt<Case[]>(url, 'GET', '/cases');
  return cases.map(({ title, state }) => `${title} ${state}`);
};

/** The Work items, and what the operator is asked again: nothing, while the decisions of before count. */
const allAt = async (url: string): Promise<string[]> => {
  const cases = await casesAt(url);
  const waiting = await callAt<{ key: string }[]>(url, 'GET', '/trust');
  return [...cases, ...waiting.map(({ key }) => key)];
};

/** Completed work, a plan that waits, a proof and a receiver. */
const fill = async (url: string): Promise<void> => {
  await callAt(url, 'POST', '/webhooks', { url: 'http://127.0.0.1:9/' });
  for (const title of ['Completed', 'Planned']) {
    const body = { title, type: 'chore', description: PLAN };
    const { id } = await callAt<Case>(url, 'POST', '/cases', body);
    const sessions = `/cases/${id}/sessions`;
    const made = await callAt<Session>(url, 'POST', sessions, { type: 'implementing' });
    const reaches = (status: Session['status']): Promise<void> =>
      eventually(async () => {
        const now = await callAt<Session>(url, 'GET', `${sessions}/${made.id}`);
        assert.equal(now.status, status);
      });
    await reaches('plan_ready');
    if (title === 'Planned') continue;
    await callAt(url, 'POST', `${sessions}/${made.id}/approve`);
    await reaches('completed');
    await callAt(url, 'POST', `/cases/${id}/proof`, { type: 'log', content: 'ok' });
  }
};

/** Each system call about each path below these directories, once. */
const callsIn = (recording: string, roots: readonly string[]): string[][] => {
  const found = new Map<string, string[]>();
  for (const line of readFileSync(recording, 'utf8').split('\n')) {
    const [, call = '', args = ''] = /^\d+ +(\w+)\((.*)/.exec(line) ?? [];
    const path = [...args.matchAll(/["<](\/[^">]*)[">]/g)]
      .flatMap(([, each]) => each ?? [])
      .find((each) => roots.some((root) => `${each}/`.startsWith(`${root}/`)));
    // A name with an id of its own is another one at the next start.
    if (path === undefined || /ENOENT/.test(line) || /\.[0-9a-f-]{36}$|\.\d+$/.test(path)) continue;
    if (path.includes(wanted)) found.set(`${call} ${path}`, [call, path]);
  }
  return [...found.values()];
};

describe('a start of the daemon on a disk that fails', () => {
  it(`loses nothing, whatever cannot be read or written (${errno})`, async (t) => {
    const [workspace, state] = [temporaryDirectory(t), temporaryDirectory(t)];
    const { root } = makeRepository(t);
    const args = ['--workspace', workspace, '--state-dir', state, '--repo', root];
    const first = await startDaemon(t, args);
    await fill(first.url);
    const before = await casesAt(first.url);
    await first.end('SIGTERM');
    const recording = join(temporaryDirectory(t), 'calls');
    const recorded = await startUnder(t, args, written(recording, CALLS));
    await casesAt(`${recorded.url}`);
    await recorded.kill();
    let [starts, refusals] = [0, 0];
    for (const [call = '', path = ''] of callsIn(recording, [workspace, state])) {
      const fault = ['-f', '-qq', '--signal=none', '-o', '/dev/null', '-P', path];
      const broken = await startUnder(t, args, [...fault, `--inject=${call}:error=${errno}`]);
      // It may end once it has looked at everything.
      const seen = broken.url && (await casesAt(broken.url).catch(() => undefined));
      if (seen) {
        starts += 1;
        assert.deepEqual(seen, before, `${call} ${path}`);
      } else {
        refusals += 1;
        await eventually(() => assert.ok(!broken.alive(), `${call} ${path}`));
      }
      await broken.kill();
      const mended = await startDaemon(t, args);
      assert.deepEqual(await allAt(mended.url), before, `after ${call} ${path}`);
      await mended.end('SIGTERM');
    }
    t.diagnostic(`${starts} starts, ${refusals} refused`);
    assert.ok(starts + refusals > 0);
  });
});
