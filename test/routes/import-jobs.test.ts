import assert from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import type { Case } from '../../store/records/case.ts';
import type { ImportJob } from '../../store/records/import-job.ts';
import { eventually } from '../helpers/eventually.ts';
import { type WithHost, withHost } from '../helpers/linked.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { startForTest } from '../helpers/service.ts';
import { forgetAnswer } from '../helpers/unanswered.ts';
import { assertProblem } from '../helpers/work-item.ts';

const JOBS = '/api/codehost/import/jobs';
const JSON_TYPE = { 'content-type': 'application/json' };

const begin = async ({ call }: WithHost, wish: object): Promise<ImportJob> => {
  const made = await call<ImportJob>('POST', JOBS, wish);
  assert.equal(made.status, 202, made.text);
  assert.equal(made.headers.location, `${JOBS}/${made.body.id}`);
  return made.body;
};

const read = async ({ call }: WithHost, { id }: ImportJob): Promise<ImportJob> =>
  (await call<ImportJob>('GET', `${JOBS}/${id}`)).body;

const until = (scene: WithHost, job: ImportJob, status: string): Promise<ImportJob> =>
  eventually(async () => {
    const now = await read(scene, job);
    assert.equal(now.status, status, JSON.stringify(now.error));
    return now;
  });

const rested = (scene: WithHost, job: ImportJob): Promise<ImportJob> =>
  eventually(async () => {
    const now = await read(scene, job);
    assert.notEqual(now.status, 'running');
    return now;
  });

const set = ({ call }: WithHost, { id }: ImportJob, status: string, headers = {}) =>
  call<ImportJob>('PATCH', `${JOBS}/${id}`, { status }, headers);

const cases = async ({ call }: WithHost): Promise<Case[]> =>
  (await call<Case[]>('GET', '/cases')).body;

const outcomes = ({ results }: ImportJob): [number, string][] =>
  results.map(({ number, outcome }) => [number, outcome]);

describe('POST /api/codehost/import/jobs', () => {
  it('imports one issue after another, and tells what became of each', async (t) => {
    const scene = await withHost(t);
    const { host } = scene;
    const numbers = await host.issues.addMany(3, { labels: ['bug'] });
    const known = await scene.imported(numbers[1]);
    await host.repositories.push({ branch: 'work/one' });
    const pull = await host.pulls.open('work/one');
    const wanted = [...numbers, numbers[0], pull.number, 99];
    const started = await begin(scene, { numbers: wanted, type: 'chore' });
    assert.deepEqual([started.status, started.total, started.done], ['running', 5, 0]);
    const job = await until(scene, started, 'completed');
    assert.deepEqual(outcomes(job), [
      [numbers[0], 'imported'],
      [numbers[1], 'exists'],
      [numbers[2], 'imported'],
      [pull.number, 'failed'],
      [99, 'failed'],
    ]);
    assert.equal(job.results[1]?.case_id, known.item.id);
    assert.match(job.results[3]?.detail ?? '', /^invalid_state: .* is a pull request/);
    assert.deepEqual([job.done, job.total, job.error], [5, 5, null]);
    assert.deepEqual(
      (await cases(scene)).map(({ type }) => type),
      ['bug', 'chore', 'chore'],
    );
    const { body: list } = await scene.call<ImportJob[]>('GET', JOBS);
    assert.deepEqual(list, [job]);
    assert.deepEqual(host.writes(), []);
  });

  it('imports what a filter finds, pull requests left out', async (t) => {
    const scene = await withHost(t);
    await scene.host.issues.addMany(3, { labels: ['bug'] });
    await scene.host.issues.addMany(2);
    const job = await until(
      scene,
      await begin(scene, { filter: { labels: ['bug'] } }),
      'completed',
    );
    assert.deepEqual([job.done, job.total, job.filter], [3, 3, { labels: ['bug'] }]);
    const few = await until(scene, await begin(scene, { filter: { limit: 2 } }), 'completed');
    assert.equal(few.total, 2);
    const none = await begin(scene, { filter: { labels: ['no such label'] } });
    assert.deepEqual((await until(scene, none, 'completed')).results, []);
  });

  it('tells of an issue whose answer cannot be used, and goes on with the others', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(3);
    const strange = { status: 200, headers: JSON_TYPE, body: { labels: 'notalist' } };
    scene.host.fail(strange, { path: `/issues/${numbers[0]}` });
    const victim = {
      ...{ number: numbers[1], node_id: 'I_1', title: 'A', body: '', state: 'open', labels: [] },
      ...{ html_url: `https://github.com/victim/other/issues/${numbers[1]}`, comments: 0 },
      ...{ repository_url: `${scene.host.url}/repos/acme/app`, closed_at: null, user: null },
      ...{ created_at: '2026-01-01T00:00:00Z', updated_at: '2026-01-01T00:00:00Z' },
    };
    scene.host.fail({ ...strange, body: victim }, { path: `/issues/${numbers[1]}` });
    const job = await until(scene, await begin(scene, { numbers }), 'completed');
    assert.deepEqual(
      job.results.map(({ outcome }) => outcome),
      ['failed', 'failed', 'imported'],
    );
    assert.match(
      job.results[0]?.detail ?? '',
      /^codehost_upstream: The response of github\.com for/,
    );
    assert.match(
      job.results[1]?.detail ?? '',
      /with the page https:\/\/github\.com\/victim\/other/,
    );
    assert.equal((await cases(scene)).length, 1);
  });

  it('lists an issue of another form with the others, and tells of it alone', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(2);
    const listed = numbers.map((number) => ({ number, labels: 'notalist' }));
    scene.host.fail({ status: 200, headers: JSON_TYPE, body: listed }, { path: /\/issues$/ });
    const strange = { status: 200, headers: JSON_TYPE, body: { labels: 'notalist' } };
    scene.host.fail(strange, { path: `/issues/${numbers[0]}` });
    const job = await until(scene, await begin(scene, { filter: {} }), 'completed');
    assert.deepEqual(
      job.results.map(({ outcome }) => outcome),
      ['failed', 'imported'],
    );
  });

  it('stops at the rate limit with what is done and when to go on, and goes on when it is resumed', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(3);
    const path = new RegExp(`/issues/${numbers[1]}$`);
    scene.host.fail('rate limit', { path, times: 3 });
    const job = await until(scene, await begin(scene, { numbers }), 'pending');
    assert.deepEqual(outcomes(job), [[numbers[0], 'imported']]);
    assert.equal(job.error?.code, 'codehost_rate_limited');
    assert.ok(Date.parse(job.resume_at ?? '') > Date.now());
    let done = job;
    // The client may have asked more than once, or not: what is left of the limit is met again.
    for (let tries = 0; tries < 3 && done.status === 'pending'; tries += 1) {
      assert.equal((await set(scene, job, 'running')).status, 200);
      done = await rested(scene, job);
    }
    assert.deepEqual([done.done, done.error, done.resume_at], [3, null, null]);
    assert.equal((await cases(scene)).length, 3);
  });

  it('fails when the host is out of reach, and can be resumed', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(2);
    scene.host.fail('bad credentials', { path: new RegExp(`/issues/${numbers[1]}$`), times: 6 });
    const job = await until(scene, await begin(scene, { numbers }), 'failed');
    assert.deepEqual([job.done, job.error?.code], [1, 'codehost_auth_invalid']);
    assert.ok(job.ended_at !== null);
  });

  it('makes one Work item of each issue when two jobs want the same', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(4);
    const jobs = await Promise.all([
      begin(scene, { numbers }),
      begin(scene, { numbers: numbers.toReversed() }),
    ]);
    const done = await Promise.all(jobs.map((job) => until(scene, job, 'completed')));
    assert.equal((await cases(scene)).length, 4);
    const all = done.flatMap(outcomes).map(([, outcome]) => outcome);
    assert.deepEqual(all.toSorted(), [...Array(4).fill('exists'), ...Array(4).fill('imported')]);
  });

  it('wants either numbers or a filter, a project that is known, and a repository', async (t) => {
    const scene = await withHost(t);
    const wrong = [
      {},
      { numbers: [1], filter: {} },
      { numbers: [] },
      { numbers: [0] },
      { numbers: [1], project: 'no' },
      { filter: { limit: 1001 } },
    ];
    for (const wish of wrong)
      assertProblem(await scene.call('POST', JOBS, wish), 400, 'bad_request');
    assert.deepEqual((await scene.call('GET', JOBS)).body, []);
    const { call } = await startForTest(t);
    const nowhere = await call('POST', JOBS, { numbers: [1] });
    assertProblem(nowhere, 422, 'codehost_repo_not_detected');
  });
});

describe('POST /api/codehost/import/jobs with an Idempotency-Key', () => {
  it('makes one job, also when the daemon died before it had answered', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(1);
    const send = () =>
      scene.call<ImportJob>('POST', JOBS, { numbers }, { ...JSON_TYPE, 'idempotency-key': 'k' });
    const first = await send();
    await until(scene, first.body, 'completed');
    forgetAnswer(scene.running.workspace, 'k');
    const again = await send();
    assert.deepEqual([again.status, again.body.id], [202, first.body.id], again.text);
    assert.equal((await scene.call<ImportJob[]>('GET', JOBS)).body.length, 1);
  });
});

describe('PATCH /api/codehost/import/jobs/{id}', () => {
  it('cancels at once, and nothing more is made', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(3);
    const path = new RegExp(`/issues/${numbers[1]}$`);
    const quiet = scene.host.fail('silence', { path });
    const job = await begin(scene, { numbers });
    await quiet.met;
    const cancelled = await set(scene, job, 'cancelled');
    assert.deepEqual([cancelled.status, cancelled.body.status], [200, 'cancelled']);
    quiet.release();
    assert.deepEqual((await set(scene, job, 'cancelled')).body, cancelled.body);
    for (const status of ['running', 'completed'])
      assertProblem(await set(scene, job, status), 422, 'invalid_state');
    await scene.running.restart();
    assert.deepEqual(await read(scene, job), cancelled.body);
    assert.equal((await cases(scene)).length, 1);
  });

  it('completes a job as it is, and honours If-Match', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(2);
    const quiet = scene.host.fail('silence', { path: new RegExp(`/issues/${numbers[0]}$`) });
    const job = await begin(scene, { numbers });
    await quiet.met;
    const stale = { 'if-match': '"00000000000000000000000000000000"' };
    assertProblem(await set(scene, job, 'completed', stale), 412, 'precondition_failed');
    const { headers } = await scene.call('GET', `${JOBS}/${job.id}`);
    const known = { 'if-match': String(headers.etag) };
    const [one, other] = await Promise.all([
      set(scene, job, 'completed', known),
      set(scene, job, 'cancelled', known),
    ]);
    assert.deepEqual([one.status, other.status].toSorted(), [200, 412]);
    assert.equal((await read(scene, job)).total, 2);
  });

  it('answers 404 for no job, 400 for no status, 409 for a file that cannot be read', async (t) => {
    const scene = await withHost(t);
    const nobody = { id: NOBODY } as ImportJob;
    assertProblem(await set(scene, nobody, 'running'), 404, 'not_found');
    assertProblem(await scene.call('GET', `${JOBS}/${NOBODY}`), 404, 'not_found');
    const [number] = await scene.host.issues.addMany(1);
    const job = await until(scene, await begin(scene, { numbers: [number] }), 'completed');
    assertProblem(await set(scene, job, 'pending'), 400, 'bad_request');
    const file = join(scene.running.workspace, 'imports', `${job.id}.md`);
    const text = readFileSync(file, 'utf8');
    const broken = [
      [text.replace('completed', 'done'), 'not_a_record'],
      [text.replace(job.id, NOBODY), 'wrong_id'],
    ] as const;
    for (const [content, code] of broken) {
      writeFileSync(file, content);
      assertProblem(await set(scene, job, 'running'), 409, 'unreadable_record');
      assertProblem(await scene.call('GET', `${JOBS}/${job.id}`), 409, 'unreadable_record');
      assert.deepEqual((await scene.call('GET', JOBS)).body, []);
      const problems = await scene.call<{ file: string; code: string }[]>(
        'GET',
        '/api/diagnostics',
      );
      assert.deepEqual(
        problems.body.map((each) => [each.file, each.code]),
        [[`imports/${job.id}.md`, code]],
      );
      const { findings } = await checkWorkspace(scene.running.service.store.layout, async () => []);
      assert.ok(findings.some((each) => each.code === code));
      assert.equal(readFileSync(file, 'utf8'), content);
    }
  });
});

describe('an import job', () => {
  it('waits after a restart with what is done, and resumed it makes nothing twice', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(3);
    const quiet = scene.host.fail('silence', { path: new RegExp(`/issues/${numbers[1]}$`) });
    const job = await begin(scene, { numbers });
    await quiet.met;
    await scene.running.restart();
    quiet.release();
    const waiting = await read(scene, job);
    assert.deepEqual([waiting.status, waiting.done], ['pending', 1]);
    // As a kill between the Work item and its line leaves it.
    const file = join(scene.running.workspace, 'imports', `${job.id}.md`);
    writeFileSync(file, readFileSync(file, 'utf8').replace(/^- #.*\n/m, ''));
    assert.equal((await set(scene, job, 'running')).status, 200);
    const done = await until(scene, job, 'completed');
    assert.deepEqual(
      outcomes(done),
      numbers.map((number) => [number, 'imported']),
    );
    assert.equal((await cases(scene)).length, 3);
  });

  it('keeps what an operator writes into its record, and ends when that is taken away', async (t) => {
    const scene = await withHost(t);
    const numbers = await scene.host.issues.addMany(3);
    const quiet = scene.host.fail('silence', { path: new RegExp(`/issues/${numbers[1]}$`) });
    const job = await begin(scene, { numbers });
    await quiet.met;
    const folder = join(scene.running.workspace, 'imports');
    const file = join(folder, `${job.id}.md`);
    writeFileSync(
      file,
      `${readFileSync(file, 'utf8').replace('status:', 'why: mine\nstatus:')}Mine.\n`,
    );
    quiet.release();
    await until(scene, job, 'completed');
    assert.match(
      readFileSync(file, 'utf8'),
      /^why: mine\n[\s\S]*\nMine\.\n[\s\S]*\n- #3 imported/m,
    );
    const again = scene.host.fail('silence', { path: /issues\/98$/ });
    const other = await begin(scene, { numbers: [98, 97] });
    await again.met;
    rmSync(join(folder, `${other.id}.md`));
    again.release();
    await eventually(() => assert.equal(scene.running.service.links.imports.size, 0));
    assert.deepEqual(readdirSync(folder), [`${job.id}.md`]);
  });
});
