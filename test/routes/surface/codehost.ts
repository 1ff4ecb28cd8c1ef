import assert from 'node:assert/strict';
import type { Case } from '../../../store/records/case.ts';
import type { ImportJob } from '../../../store/records/import-job.ts';
import { webhookDelivery } from '../../codehost/webhook.ts';
import { eventually } from '../../helpers/eventually.ts';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, get, host, imported, once, planned, type Row } from './surface.ts';

/** An issue on the code host. */
const issue = once(async () => {
  const added = await host.issues.add({ title: 'Broken', labels: ['bug'], milestone: 'v1' });
  await host.issues.comment(added.number, 'Me too.');
  await host.repositories.push({ branch: 'work/row' });
  host.pulls.link((await host.pulls.open('work/row')).number, added.number);
  return added;
});

const hosted = (path: string, does: string, check: NonNullable<Row['check']>): Row => ({
  method: 'GET',
  path: `/api/codehost/${path}`,
  does,
  call: async () => {
    const { number } = await issue();
    return call('GET', `/api/codehost/${path.replace(':number', String(number))}`);
  },
  status: 200,
  check,
});

const CODE_HOST: Row[] = [
  hosted(
    'availability',
    'says whether the program is available and authenticated',
    ({ body }: Answered<{ authenticated: string }>) => assert.equal(body.authenticated, 'yes'),
  ),
  hosted('auth/status', 'says who is logged in', ({ body }: Answered<{ login: string }>) =>
    assert.equal(body.login, 'operator'),
  ),
  {
    method: 'POST',
    path: '/api/codehost/auth/refresh',
    does: 'reads the token again',
    call: () => call('POST', '/api/codehost/auth/refresh'),
    status: 200,
    check: ({ body }: Answered<{ changed: boolean }>) => assert.equal(body.changed, false),
  },
  hosted('repo/detect', 'detects the repository', ({ body }: Answered<{ name: string }>) =>
    assert.equal(body.name, 'app'),
  ),
  hosted('repo/validate', 'says that it is there', ({ body }: Answered<{ accessible: boolean }>) =>
    assert.equal(body.accessible, true),
  ),
  hosted('repo/permissions', 'says what is allowed', ({ body }: Answered<{ role: string }>) =>
    assert.equal(body.role, 'write'),
  ),
  hosted(
    'repo/meta',
    'tells name, default branch and visibility',
    ({ body }: Answered<{ name: string; default_branch: string; visibility: string }>) =>
      assert.deepEqual(
        [body.name, body.default_branch, body.visibility],
        ['app', 'main', 'public'],
      ),
  ),
  hosted('repo/labels', 'lists labels', ({ body }: Answered<{ name: string }[]>) =>
    assert.ok(body.some(({ name }) => name === 'bug')),
  ),
  hosted('repo/milestones', 'lists milestones', ({ body }: Answered<{ title: string }[]>) =>
    assert.ok(body.some(({ title }) => title === 'v1')),
  ),
  hosted('repo/assignees', 'lists assignees', ({ body }: Answered<{ login: string }[]>) =>
    assert.ok(body.some(({ login }) => login === 'operator')),
  ),
  hosted('settings', 'tells the settings', ({ body }: Answered<{ repository: string }>) =>
    assert.equal(body.repository, 'acme/app'),
  ),
  {
    method: 'PUT',
    path: '/api/codehost/settings',
    does: 'updates the settings',
    call: () => call('PUT', '/api/codehost/settings', { timeout_seconds: 60 }),
    status: 200,
    check: async () => {
      const { timeout_seconds } = await get<{ timeout_seconds: number }>('/api/codehost/settings');
      assert.equal(timeout_seconds, 60);
    },
  },
  hosted('me', 'tells the user', ({ body }: Answered<{ login: string }>) =>
    assert.equal(body.login, 'operator'),
  ),
  hosted('issues/count', 'counts open issues', ({ body }: Answered<{ open: number }>) =>
    assert.equal(body.open, 1),
  ),
  {
    method: 'POST',
    path: '/api/codehost/issues/fetch',
    does: 'fetches issues with filters',
    call: async () => {
      await issue();
      return call('POST', '/api/codehost/issues/fetch', { labels: ['bug'] });
    },
    status: 200,
    check: ({ body }: Answered<{ issues: { title: string }[] }>) =>
      assert.deepEqual(
        body.issues.map(({ title }) => title),
        ['Broken'],
      ),
  },
  hosted('issues/:number/detail', 'reads one issue', ({ body }: Answered<{ title: string }>) =>
    assert.equal(body.title, 'Broken'),
  ),
  hosted(
    'issues/:number/comments',
    'lists its comments',
    ({ body }: Answered<{ body: string }[]>) => assert.equal(body[0]?.body, 'Me too.'),
  ),
  hosted(
    'issues/:number/linked-prs',
    'lists its pull requests',
    ({ body }: Answered<{ relation: string }[]>) => assert.equal(body[0]?.relation, 'closes'),
  ),
];

const JOBS = '/api/codehost/import/jobs';

const importJob = once(async () => {
  const { number } = await host.issues.add({ title: 'By a job' });
  const { body } = await call<ImportJob>('POST', JOBS, { numbers: [number] });
  return eventually(async () => {
    const job = await get<ImportJob>(`${JOBS}/${body.id}`);
    assert.equal(job.status, 'completed');
    return job;
  });
});

const ISSUES: Row[] = [
  {
    method: 'POST',
    path: '/api/codehost/issues/extract',
    does: 'extracts structured content from an issue body',
    call: () => call('POST', '/api/codehost/issues/extract', { body: '## Steps\n\n1. Start' }),
    status: 200,
    check: ({ body }: Answered<{ steps: string[] }>) => assert.deepEqual(body.steps, ['Start']),
  },
  {
    method: 'POST',
    path: '/api/codehost/issues/import-case',
    does: 'imports an issue as a Work item',
    call: async () => {
      const { number } = await host.issues.add({ title: 'To import' });
      return call('POST', '/api/codehost/issues/import-case', { number });
    },
    status: 201,
    check: async ({ body }: Answered<Case>) =>
      assert.equal((await get<Case>(`/cases/${body.id}`)).title, 'To import'),
  },
  {
    method: 'GET',
    path: JOBS,
    does: 'lists import jobs',
    call: async () => {
      await importJob();
      return call('GET', JOBS);
    },
    status: 200,
    check: async ({ body }: Answered<ImportJob[]>) =>
      assert.equal(body[0]?.id, (await importJob()).id),
  },
  {
    method: 'POST',
    path: JOBS,
    does: 'creates an import job',
    call: () => call('POST', JOBS, { filter: { labels: ['no such label'] } }),
    status: 202,
    check: ({ body }: Answered<ImportJob>) => assert.equal(body.done, 0),
  },
  {
    method: 'PATCH',
    path: `${JOBS}/:id`,
    does: 'marks an import job complete',
    call: async () => call('PATCH', `${JOBS}/${(await importJob()).id}`, { status: 'completed' }),
    status: 200,
    check: ({ body }: Answered<ImportJob>) => assert.equal(body.status, 'completed'),
  },
  {
    method: 'POST',
    path: '/api/codehost/sync-all',
    does: 'syncs all Work items with linked issues',
    call: async () => {
      await imported();
      return call('POST', '/api/codehost/sync-all');
    },
    status: 200,
    check: async ({ body }: Answered<{ outcomes: { number: number; outcome: string }[] }>) => {
      const { number } = await imported();
      const own = body.outcomes.find((each) => each.number === number);
      assert.equal(own?.outcome, 'unchanged');
    },
  },
];

const CODEHOST_WEBHOOK: Row[] = [
  {
    method: 'POST',
    path: '/api/codehost/webhook',
    does: 'receives an event',
    call: async () => {
      await call('PUT', '/api/codehost/settings', { webhook_secret: 'a-secret-of-tests' });
      const { body, headers } = webhookDelivery('a-secret-of-tests', { event: 'issues' });
      return call('POST', '/api/codehost/webhook', body, headers);
    },
    status: 200,
    check: ({ body }: Answered<{ duplicate: boolean }>) => assert.equal(body.duplicate, false),
  },
];

const TRACEABILITY: Row[] = [
  {
    method: 'GET',
    path: '/api/codehost/traceability',
    does: 'draws the graph of the workspace',
    call: async () => {
      await planned();
      return call('GET', '/api/codehost/traceability');
    },
    status: 200,
    check: async ({ body }: Answered<{ edges: { to: string; kind: string }[] }>) => {
      const { id } = await planned();
      const from = body.edges.filter(({ to }) => to.includes(id)).map(({ kind }) => kind);
      assert.deepEqual(from, ['issue-imported_as-case']);
    },
  },
];

describeRows('codehost', [...CODE_HOST, ...ISSUES, ...CODEHOST_WEBHOOK, ...TRACEABILITY]);
