import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Review } from '../../store/records/review.ts';
import type { Session } from '../../store/records/session.ts';
import type { NewCheck } from '../codehost/host-repositories.ts';
import { type Kept, startLogStore } from '../codehost/log-store.ts';
import { eventually } from '../helpers/eventually.ts';
import { withPull } from '../helpers/with-pull.ts';
import { assertProblem } from '../helpers/work-item.ts';

const time = (second: number): string => `2026-01-01T10:00:${second}.0000000Z`;

// What a stranger's test prints: an end to every fence that stands around it, and a block that a runbook would run.
const LOG = [
  `${time(11)} \u001b[36;1mnot ok 1\u001b[0m - \u202Eadds`,
  `${time(12)} \`\`\`\`\`\`\``,
  `${time(12)} \`\`\`sh`,
  `${time(12)} touch stolen.txt`,
  `${time(12)} \`\`\``,
  `${time(13)} password is ***`,
  `${time(20)} ##[error]Process completed with exit code 1.`,
].join('\n');

const END = [
  'not ok 1 - ⟦U+202E⟧adds',
  '```````',
  '```sh',
  'touch stolen.txt',
  '```',
  'password is ***',
  '##[error]Process completed with exit code 1.',
].join('\n');

const STEPS = [
  {
    ...{ name: 'Run npm test\u202E', conclusion: 'failure' },
    ...{ started_at: '2026-01-01T10:00:10Z', completed_at: '2026-01-01T10:00:20Z' },
  },
];

const withChecks = async (t: TestContext, options: Parameters<typeof withPull>[1] = {}) => {
  const scene = await withPull(t, options);
  const { host, api } = scene;
  const logs = await startLogStore(t);
  const check = (name: string, conclusion: string, more: NewCheck = {}): Promise<number> =>
    host.repositories.check('work/one', name, conclusion, more);
  const list = async (path = 'pr/reviews'): Promise<Review[]> => {
    const { status, body, text } = await api<Review[]>('GET', path);
    assert.equal(status, 200, text);
    return body as unknown as Review[];
  };
  return {
    ...{ ...scene, logs, check, list },
    fails: (log: Kept = LOG, name = 'unit') =>
      check(name, 'failure', { job: { steps: STEPS, log: logs.keep(log) } }),
    blocking: async () => (await list('pr/reviews/unresolved')).map(({ id }) => id),
  };
};

describe('a failing check', () => {
  it('is listed with its step and the end of its log, blocks, and is kept as a file', async (t) => {
    const { fails, list, blocking, api, read, dir, running, host, logs } = await withChecks(t);
    const id = await fails();
    const [one, ...others] = await list();
    assert.deepEqual(others, []);
    assert.deepEqual(
      [one?.id, one?.kind, one?.state, one?.blocking, one?.author, one?.on_host],
      [`check:${id}`, 'check', 'failing', true, 'GitHub Actions', true],
    );
    assert.deepEqual(one?.check, {
      ...{ name: 'unit', conclusion: 'failure', log: END, log_missing: null },
      step: { number: 1, name: 'Run npm test⟦U+202E⟧' },
    });
    assert.equal(one?.commit, (await host.repositories.headOf('work/one')) ?? '');
    assert.deepEqual(readdirSync(join(dir, 'pr/reviews')), [`check-${id}.md`]);
    assert.match(
      read(`pr/reviews/check-${id}.md`),
      /## End of the log\n\n````````markdown\nnot ok/,
    );
    assert.deepEqual(await blocking(), [`check:${id}`]);
    const local = await list('pr/reviews?local=true');
    assert.deepEqual(local, [{ ...one, fetched_at: local[0]?.fetched_at }]);
    const { checks } = (
      await api<{ checks: { name: string; detail: string }[] }>('GET', 'pr/ready-check')
    ).body;
    assert.match(checks.find(({ name }) => name === 'checks')?.detail ?? '', /reviews\/unresolved/);
    const { findings } = await checkWorkspace(running.service.store.layout, async () => []);
    assert.deepEqual(findings, []);
    // Nothing more is said by a run that is over: its log is read once.
    assert.equal(logs.requests.length, 1);
    assert.ok(!JSON.stringify(logs.requests).includes(host.token));
    assert.deepEqual(host.writes(), []);
  });

  it('is superseded by another run, and by another head', async (t) => {
    const { fails, check, list, blocking, host, api } = await withChecks(t);
    const first = await fails();
    assert.deepEqual(await blocking(), [`check:${first}`]);
    const again = await fails();
    assert.deepEqual(await blocking(), [`check:${again}`]);
    await check('unit', 'success');
    assert.deepEqual(await blocking(), []);
    const states = (all: Review[]) => all.map(({ id, state, on_host }) => [id, state, on_host]);
    assert.deepEqual(states(await list()), [
      [`check:${first}`, 'superseded', false],
      [`check:${again}`, 'superseded', false],
    ]);
    const third = await fails();
    assert.deepEqual(await blocking(), [`check:${third}`]);
    await host.repositories.push({ branch: 'work/one', files: { 'src/a.ts': 'three\n' } });
    await api('GET', 'pr/status');
    assert.deepEqual(await list('pr/reviews/unresolved?local=true'), []);
    assert.deepEqual(await blocking(), []);
  });

  it('needs the operator, oldest first, until it is queued or marked as resolved', async (t) => {
    const { fails, check, list, api, call } = await withChecks(t);
    const unit = await fails();
    const lint = await check('lint', 'failure', {
      app: 'Linter',
      output: { title: 'No.', summary: 'Bad.' },
    });
    await list();
    const waits = async (): Promise<AttentionItem[]> =>
      (await call<AttentionItem[]>('GET', '/attention')).body;
    const both = await eventually(async () => {
      const found = (await waits()).filter(({ kind }) => kind === 'review');
      assert.equal(found.length, 2);
      return found;
    });
    assert.deepEqual(
      both.map(({ since }) => since),
      both.map(({ since }) => since).toSorted(),
    );
    const first = both.find(({ id }) => id.endsWith(`check:${unit}`));
    assert.match(
      first?.message ?? '',
      /^The check unit ended with failure in step 1: Run npm test/,
    );
    assert.equal((await call('POST', first?.answer.path ?? '')).status, 200);
    const done = await api<{ note: string; resolved_on_host: boolean }>(
      'POST',
      `pr/reviews/check:${lint}/resolve`,
    );
    assert.deepEqual([done.status, done.body.resolved_on_host], [200, false], done.text);
    assert.match(done.body.note, /until another run passes/);
    await eventually(async () => {
      assert.deepEqual(
        (await waits()).map(({ kind }) => kind),
        ['feedback'],
      );
    });
    assert.equal((await list()).find(({ id }) => id === `check:${lint}`)?.blocking, false);
  });

  it('is told to a feedback session in a fence that its log cannot end, and nothing of it is run', async (t) => {
    const { fails, api, call, at, id: item } = await withChecks(t);
    const id = await fails();
    assert.equal((await call<Session[]>('GET', `${at}/sessions`)).body.length, 0);
    assert.equal((await api('POST', `pr/reviews/check:${id}/add-to-feedback`)).status, 200);
    const { body: session } = await api<Session>('POST', 'pr/address-feedback');
    const until = (status: string): Promise<void> =>
      eventually(async () => {
        const { body } = await call<Session>('GET', `${at}/sessions/${session.id}`);
        assert.equal(body.status, status, body.error ?? undefined);
      });
    await until('plan_ready');
    const plan = (await call('GET', `${at}/sessions/${session.id}/plan`)).text;
    assert.match(plan, /Nothing would be run/);
    assert.match(
      plan,
      /Check 1:\n\n`{8,}text\nThe check unit ended with failure, in step 1: Run npm test/,
    );
    assert.ok(plan.includes(`The log ends with:\n${END}`), plan);
    await call('POST', `${at}/sessions/${session.id}/approve`);
    await until('completed');
    const { body } = await call<{ path: string }>('GET', `/api/worktrees/${item}/status`);
    assert.ok(!readdirSync(body.path).includes('stolen.txt'));
  });

  it('of another service tells what that says and where to look, everything in it to be seen', async (t) => {
    const { check, host, list } = await withChecks(t);
    await check('l\u202Eint\n## no', 'action_required', {
      app: 'Linter',
      output: { title: 'One fault', summary: 'It is \u200Bbad.' },
      annotations: [{ path: 'src/a.ts', start_line: 2, message: 'no such name' }],
    });
    await host.repositories.status('work/one', 'jenkins', 'error');
    const [lint, jenkins] = (await list()).toSorted((a, b) => a.id.localeCompare(b.id));
    assert.deepEqual(lint?.check, {
      ...{ name: 'l⟦U+202E⟧int ## no', conclusion: 'action_required' },
      ...{ step: null, log: null, log_missing: null },
    });
    assert.equal(lint?.body, 'One fault\n\nIt is ⟦U+200B⟧bad.\n\nsrc/a.ts:2: no such name');
    assert.equal(lint?.url, 'https://ci.example/1');
    assert.deepEqual([jenkins?.id, jenkins?.blocking], ['check:status-1', true]);
  });

  it('whose log cannot be read says why, the rest of it is there, and it is read later', async (t) => {
    const { check, list, logs } = await withChecks(t);
    const address = logs.keep(404);
    const job = { steps: STEPS, log: address };
    await check('unit', 'failure', { job });
    const [before] = await list();
    assert.match(before?.check?.log_missing ?? '', /has expired/);
    assert.deepEqual([before?.check?.log, before?.check?.step?.number], [null, 1]);
    job.log = logs.keep(LOG);
    const [after] = await list();
    assert.deepEqual([after?.check?.log, after?.check?.log_missing], [END, null]);
  });

  it('is listed though the host answers another form of its job, or of another check', async (t) => {
    const { fails, list, host, api } = await withChecks(t);
    const headers = { 'content-type': 'application/json' };
    const sent = (body: object) => ({ status: 200, headers, body });
    await fails();
    host.fail(sent({ steps: [null] }), { path: /\/actions\/jobs\/\d+$/ });
    const [one] = await list();
    assert.match(one?.check?.log_missing ?? '', /could not be read: .* has an unexpected form/);
    const failing = { context: 'ci', state: 'failure', description: '', updated_at: null };
    const statuses = [{ ...failing, id: 'five' }];
    host.fail(sent({ statuses }), { path: /\/status$/ });
    assert.deepEqual(
      (await list()).map(({ id }) => id),
      [one?.id],
    );
    const { notes } = (await api<{ notes: string[] }>('GET', 'pr/status')).body;
    assert.match(
      notes.join(),
      /Not every check could be read\. Left out: failing check 2 of 2 cannot be used/,
    );
    const many = { statuses: Array.from({ length: 8 }, () => ({ ...failing, id: 'five' })) };
    host.fail(sent(many), { path: /\/status$/ });
    await list();
    const after = (await api<{ notes: string[] }>('GET', 'pr/status')).body.notes;
    assert.ok(
      after.some((note) => /Left out: failing check 2 of 9 .*; and 3 more\.$/.test(note)),
      after.join(),
    );
  });

  it('stays where the token may not read it any more, which is told, and ends where it may', async (t) => {
    const { check, fails, list, host, api } = await withChecks(t);
    await fails();
    await check('lint', 'failure', { app: 'Linter' });
    await host.repositories.status('work/one', 'jenkins', 'error');
    const before = await list();
    const names = (all: Review[], state: string) =>
      all.filter((one) => one.state === state).map((one) => one.check?.name);
    assert.equal(before.length, 3);
    host.fail('forbidden', { path: /\/check-runs$/ });
    const body = { total_count: 0, workflow_runs: [] };
    const headers = { 'content-type': 'application/json' };
    host.fail({ status: 200, headers, body }, { path: /\/actions\/runs$/ });
    const after = await list();
    // The jobs of Actions were read all the same.
    assert.deepEqual(names(after, 'superseded'), ['unit']);
    assert.deepEqual(names(after, 'failing').toSorted(), ['jenkins', 'lint']);
    assert.ok(after.every(({ state, blocking }) => blocking === (state === 'failing')));
    host.fail('forbidden', { path: /\/(check-runs|status|runs)$/, times: 3 });
    assert.deepEqual(
      (await list()).map(({ state }) => state),
      after.map(({ state }) => state),
    );
    const { notes } = (await api<{ notes: string[] }>('GET', 'pr/status')).body;
    assert.match(notes.join(), /Not every check could be read\. github\.com refused access to/);
  });

  it('stays where the host answers another form of it', async (t) => {
    const { fails, list, host } = await withChecks(t);
    await fails();
    const [one] = await list();
    const run = { id: 'five', name: 'unit', conclusion: 'failure', app: null, output: null };
    const body = { total_count: 1, check_runs: [run] };
    const headers = { 'content-type': 'application/json' };
    host.fail({ status: 200, headers, body }, { path: /\/check-runs$/ });
    const [still, ...others] = await list();
    assert.deepEqual(
      [still?.id, still?.on_host, still?.blocking, others],
      [one?.id, true, true, []],
    );
  });

  it('is one of many: ten logs are read at once, and the others when it is asked again', async (t) => {
    const { fails, list, logs } = await withChecks(t);
    for (let n = 0; n < 12; n += 1) await fails(LOG, `unit ${n}`);
    const read = (all: Review[]) => all.filter(({ check }) => check?.log !== null).length;
    const first = await list();
    assert.deepEqual([first.length, read(first)], [12, 10]);
    assert.match(first.find(({ check }) => check?.log === null)?.check?.log_missing ?? '', /again/);
    assert.equal(read(await list()), 12);
    assert.equal(logs.requests.length, 12);
  });

  it('that the token may not see is told, and hides no review', async (t) => {
    const { check, list, host, api, number } = await withChecks(t);
    await check('lint', 'failure');
    await host.pulls.review(number, { state: 'CHANGES_REQUESTED', by: 'reviewer', body: 'No.' });
    host.fail('forbidden', { path: /\/(check-runs|status|runs)$/, times: 3 });
    assert.deepEqual(
      (await list()).map(({ kind }) => kind),
      ['review'],
    );
    const { body } = await api<{ notes: string[]; checks: string }>('GET', 'pr/status');
    assert.equal(body.checks, 'failure');
    assert.match(body.notes.join(), /Not every check could be read\. github\.com refused access/);
    assert.deepEqual((await list()).map(({ kind }) => kind).toSorted(), ['check', 'review']);
    assert.deepEqual(
      (await api<{ notes: string[] }>('GET', 'pr/status')).body.notes.filter((note) =>
        /could be read/.test(note),
      ),
      [],
    );
  });

  it('that the host fails to tell of is an error of the list', async (t) => {
    const { fails, host, api, list } = await withChecks(t);
    await fails();
    host.fail('bad gateway', { path: /\/check-runs$/, times: 9 });
    assertProblem(await api('GET', 'pr/reviews'), 502, 'codehost_upstream');
    assert.deepEqual(await list('pr/reviews?local=true'), []);
  });

  it('is asked for only where something fails', async (t) => {
    const { check, list, host } = await withChecks(t);
    await check('unit', 'success');
    host.requests.length = 0;
    assert.deepEqual(await list(), []);
    assert.ok(!host.requests.some(({ path }) => /check-runs|actions/.test(path)));
  });
});
