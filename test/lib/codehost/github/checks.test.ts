import assert from 'node:assert/strict';
import type { ServerResponse } from 'node:http';
import { describe, it, type TestContext } from 'node:test';
import { isTrustedDownloadUrl } from '../../../../lib/codehost/github/address.ts';
import type { CodeHostSettings } from '../../../../store/records/settings.ts';
import type { NewCheck } from '../../../codehost/host-repositories.ts';
import { type Kept, startLogStore } from '../../../codehost/log-store.ts';
import { refusal, startAsking } from './fixture.ts';

const LOG = [
  '2026-01-01T10:00:01.0000000Z Set up',
  '2026-01-01T10:00:12.0000000Z not ok 1 - adds',
  '2026-01-01T10:00:20.0000000Z ##[error]Process completed with exit code 1.',
  '2026-01-01T10:00:30.0000000Z Complete job',
].join('\n');

const STEPS = ['Set up job', 'npm test'].map((name, n) => ({
  ...{ name, conclusion: n === 0 ? 'success' : 'failure' },
  started_at: `2026-01-01T10:00:${n}0Z`,
  completed_at: `2026-01-01T10:00:${n + 1}0Z`,
}));

const withCommit = async (t: TestContext, settings: CodeHostSettings = {}) => {
  const scene = await startAsking(t, { settings });
  const { host } = scene;
  const logs = await startLogStore(t);
  const sha = await host.repositories.push({ branch: 'work/one' });
  const fails = (name: string, more?: NewCheck, conclusion = 'failure') =>
    host.repositories.check('work/one', name, conclusion, more);
  const job = (log: Kept | { status: number }) => {
    const at = typeof log === 'object' && 'status' in log ? log.status : logs.keep(log);
    return fails('unit', { job: { steps: STEPS, log: at } });
  };
  return { ...scene, logs, sha, fails, job };
};

describe('failingChecks', () => {
  it('tells what fails of a commit, who checks it, and what that says', async (t) => {
    const { hosted, host, sha, fails, job } = await withCommit(t);
    const unit = await job(LOG);
    const lint = await fails('lint', {
      app: 'Linter',
      output: { title: 'One fault', summary: 'It is *bad*.' },
      annotations: [{ path: 'src/a.ts', start_line: 3, message: 'no such name', title: 'E1' }],
    });
    await fails('slow', {}, 'timed_out');
    await fails('skipped', {}, 'skipped');
    await fails('fine', {}, 'success');
    await host.repositories.check('work/one', 'running', null);
    await host.repositories.status('work/one', 'jenkins', 'failure');
    await host.repositories.status('work/one', 'done', 'success');
    const { checks, unread } = await hosted.failingChecks(sha);
    assert.deepEqual(unread, []);
    assert.deepEqual(
      checks.map(({ id, name, conclusion, app, job: of }) => [id, name, conclusion, app, of]),
      [
        [String(unit), 'unit', 'failure', 'GitHub Actions', unit],
        [String(lint), 'lint', 'failure', 'Linter', null],
        [String(lint + 1), 'slow', 'timed_out', 'Some CI', null],
        ['status-1', 'jenkins', 'failure', null, null],
      ],
    );
    assert.equal(checks[1]?.said, 'One fault\n\nIt is *bad*.\n\nsrc/a.ts:3: E1: no such name');
    assert.equal(checks[1]?.url, 'https://ci.example/1');
  });

  it('counts the newest run of each check alone', async (t) => {
    const { hosted, sha, fails } = await withCommit(t);
    await fails('unit');
    const again = await fails('unit');
    await fails('lint');
    await fails('lint', {}, 'success');
    const { checks } = await hosted.failingChecks(sha);
    assert.deepEqual(
      checks.map(({ id }) => id),
      [String(again)],
    );
  });

  it('reads the jobs of Actions where the token may read no checks, under the same numbers', async (t) => {
    const { hosted, host, sha, fails, job } = await withCommit(t);
    const unit = await job(LOG);
    await fails('lint', { app: 'Linter' });
    host.fail('forbidden', { path: /\/check-runs$/ });
    const { checks, unread } = await hosted.failingChecks(sha);
    assert.deepEqual(
      checks.map(({ id, name, job: of }) => [id, name, of]),
      [[String(unit), 'unit', unit]],
    );
    assert.match(unread.join(), /refused access to acme\/app/);
  });

  it('says what it could not read at all, and fails as any read where the host fails', async (t) => {
    const { hosted, host, sha, job } = await withCommit(t);
    await job(LOG);
    host.fail('forbidden', { path: /\/(check-runs|status|runs)$/, times: 3 });
    const { checks, unread } = await hosted.failingChecks(sha);
    assert.deepEqual([checks, unread.length], [[], 3]);
    host.fail('bad gateway', { path: /\/check-runs$/, times: 9 });
    assert.equal((await refusal(hosted.failingChecks(sha))).code, 'codehost_upstream');
    assert.deepEqual(host.writes(), []);
  });
});

describe('jobLog', () => {
  it('reads the failed step and the end of its log from another server, without the token', async (t) => {
    const { hosted, host, logs, job } = await withCommit(t);
    assert.deepEqual(await hosted.jobLog(await job(LOG)), {
      step: { number: 2, name: 'npm test' },
      end: 'not ok 1 - adds\n##[error]Process completed with exit code 1.',
      why: null,
    });
    const [one, ...others] = logs.requests;
    assert.deepEqual(others, []);
    assert.deepEqual([one?.headers.authorization, one?.headers.cookie], [undefined, undefined]);
    assert.ok(!JSON.stringify(one).includes(host.token));
  });

  it('follows a few redirects there, and none that goes round', async (t) => {
    const { hosted, logs, job } = await withCommit(t);
    const there = logs.keep(LOG);
    const { end } = await hosted.jobLog(await job(new URL(logs.keep(new URL(there)))));
    assert.match(end ?? '', /not ok 1/);
    const round = new URL(logs.keep(404));
    const loop = new URL(round.href.replace(/\/\d+\?/, '/4?'));
    logs.requests.length = 0;
    const { why } = await hosted.jobLog(await job(loop));
    assert.match(why ?? '', /redirected to a URL that is not allowed/);
    assert.equal(logs.requests.length, 4);
  });

  it('goes nowhere that is not encrypted, and to this machine only where the host is', async (t) => {
    const { hosted, fails, logs } = await withCommit(t);
    const kept = logs.keep(new URL('http://logs.example/1'));
    for (const log of ['http://logs.example/1', 'ftp://127.0.0.1/1', 'file:///etc/passwd', kept]) {
      const id = await fails('unit', { job: { steps: STEPS, log } });
      const { step: failed, end, why } = await hosted.jobLog(id);
      assert.deepEqual([failed?.number, end], [2, null]);
      assert.match(
        why ?? '',
        /download URL that is not allowed|redirected to a URL that is not allowed/,
        log,
      );
      assert.ok(!why?.includes('sig='), why ?? '');
    }
    const API = 'https://api.github.com';
    assert.ok(isTrustedDownloadUrl('https://logs.example/a?sig=1', API));
    assert.ok(isTrustedDownloadUrl('http://127.0.0.1:1/a', 'http://127.0.0.1:2'));
    for (const address of [
      'http://127.0.0.1/a',
      'https://localhost/a',
      'https://[::1]/a',
      'https://bob:secret@logs.example/a',
      'http://logs.example/a',
      'nowhere',
    ])
      assert.ok(!isTrustedDownloadUrl(address, API), address);
  });

  const ANSWERS: Record<string, [Kept | { status: number }, RegExp]> = {
    'is gone from the host': [{ status: 410 }, /has expired/],
    'was never there': [{ status: 404 }, /has expired/],
    'may not be read': [{ status: 403 }, /could not be read.*refused access/],
    'is gone from where it was kept': [404, /has expired/],
    'is refused where it is kept': [403, /responded with 403/],
    'breaks off': [
      (response: ServerResponse) => void response.socket?.destroy(),
      /cannot be reached/,
    ],
    'breaks off in its middle': [
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': 9999 });
        response.write('half', () => response.destroy());
      },
      /cannot be reached/,
    ],
    'is a page to log in at': [
      (response: ServerResponse) =>
        void response.writeHead(200, { 'content-type': 'text/html' }).end('<html>'),
      /responded with a web page/,
    ],
  };
  for (const [name, [log, words]] of Object.entries(ANSWERS)) {
    it(`tells in words that a log ${name}`, async (t) => {
      const { hosted, job } = await withCommit(t);
      const { step: failed, end, why } = await hosted.jobLog(await job(log));
      assert.deepEqual([failed, end], [{ number: 2, name: 'npm test' }, null]);
      assert.match(why ?? '', words);
    });
  }

  it('tells in words that nobody answers in time, here or there', async (t) => {
    const { hosted, host, job } = await withCommit(t, { timeout_seconds: 0.5 });
    const silent = await hosted.jobLog(await job(() => undefined));
    assert.match(silent.why ?? '', /did not respond within 0\.5 s/);
    const id = await job(LOG);
    const quiet = host.fail('silence', { path: /\/logs$/ });
    assert.match((await hosted.jobLog(id)).why ?? '', /did not respond within 0\.5 s/);
    quiet.release();
    host.fail('not found', { path: /\/jobs\/\d+$/ });
    assert.deepEqual((await hosted.jobLog(id)).step, null);
  });

  it('has no step where none failed', async (t) => {
    const { hosted, fails } = await withCommit(t);
    const id = await fails('unit', { job: { steps: [], log: 404 } }, 'cancelled');
    assert.deepEqual(await hosted.jobLog(id), {
      ...{ step: null, end: null, why: 'No step of the job failed.' },
    });
  });

  it('keeps the end of fifty megabytes, and no more of them in memory', async (t) => {
    const { hosted, job } = await withCommit(t);
    const line = `2026-01-01T10:00:12.0000000Z ${'z'.repeat(1000)}\n`;
    const piece = Buffer.from(line.repeat(1000));
    let [most, left] = [0, 50];
    const before = process.memoryUsage().rss;
    const log = (response: ServerResponse): void => {
      const more = (): void => {
        most = Math.max(most, process.memoryUsage().rss - before);
        if (left === 0) response.end('2026-01-01T10:00:20.0000000Z ##[error]the very end\n');
        else {
          left -= 1;
          response.write(piece, more);
        }
      };
      more();
    };
    const { end } = await hosted.jobLog(await job(log));
    assert.match(end ?? '', /zzz\n##\[error\]the very end$/);
    assert.ok((end ?? '').length < 17_000);
    assert.ok(most < 200 * 1024 * 1024, `${most} bytes`);
  });

  it('stops at a log that never ends', async (t) => {
    const { hosted, job } = await withCommit(t, { timeout_seconds: 300 });
    const piece = Buffer.alloc(1024 * 1024, `${'x'.repeat(1000)}\n`);
    let sent = 0;
    const log = (response: ServerResponse): void => {
      const more = (error?: Error | null): void => {
        sent += 1;
        if (!error) response.write(piece, more);
      };
      more();
    };
    const { why } = await hosted.jobLog(await job(log));
    assert.match(why ?? '', /more than 128 MiB/);
    assert.ok(sent < 200, String(sent));
  });
});
