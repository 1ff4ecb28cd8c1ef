import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it, type TestContext } from 'node:test';
import { Compile } from 'typebox/compile';
import { createKey, listKeys } from '../../lib/guard/api-keys/keys.ts';
import type { Route } from '../../lib/http/route.ts';
import { sections } from '../../routes/index.ts';
import type { Case } from '../../store/records/case.ts';
import type { Conflict } from '../../store/records/conflict.ts';
import type { ImportJob } from '../../store/records/import-job.ts';
import type { Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import type { NewWebhook } from '../../store/records/webhook.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { type CodeHost, startCodeHost } from '../helpers/codehost/code-host.ts';
import { webhookDelivery } from '../helpers/codehost/webhook.ts';
import { eventually } from '../helpers/eventually.ts';
import { readExport } from '../helpers/exported.ts';
import { linkTo } from '../helpers/linked-issue.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { scriptedServer } from '../helpers/scripted-language-server.ts';
import { type Answered, type Running, startForTest } from '../helpers/service.ts';
import { pullScene } from '../lib/host/pull-requests/fixture.ts';
import { commit } from '../lib/work/conflicts/fixture.ts';

/** A row of the interface document: method and path in its notation, and what it says the call does. */
interface Row {
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  path: string;
  does: string;
  /** Makes the call the row is about. */
  call: () => Promise<Answered<unknown>>;
  status: number;
  /** That it did what the row says. */
  check?: (answer: Answered<never>) => void | Promise<void>;
}

let running: Running;
let host: CodeHost;
const endings: (() => unknown)[] = [];
const file = { after: (end: () => unknown) => endings.push(end) } as unknown as TestContext;
before(async () => {
  host = await startCodeHost(file);
  running = await startForTest(file, {
    settings: `codehost: { host: github.com, repository: acme/app }\n${scriptedServer(file).setting}`,
    env: { GITHUB_API_URL: host.url, GH_TOKEN: host.token },
  });
});
after(async () => {
  for (const end of endings) await end();
});

const HOOK = 'http://127.0.0.1:9/hook';

const call = <T = unknown>(method: string, path: string, body?: unknown, headers = {}) =>
  running.call<T>(method, path, body, headers);

const made = async <T>(path: string, body: object): Promise<T> => {
  const answer = await call<T>('POST', path, body);
  assert.equal(answer.status, 201, answer.text);
  return answer.body;
};

const newCase = (): Promise<Case> =>
  made('/cases', {
    title: 'A row',
    type: 'bug',
    description: '```sh\necho done > done.txt\n```\n',
  });

const get = async <T>(path: string): Promise<T> => (await call<T>('GET', path)).body;

/** Made once, when a row first wants it. */
const once = <T>(make: () => Promise<T>): (() => Promise<T>) => {
  let value: Promise<T> | undefined;
  return () => {
    value ??= make();
    return value;
  };
};

const item = once(newCase);
const at = async (): Promise<string> => `/cases/${(await item()).id}`;

/** A session whose plan waits for the operator. */
const session = once(async () => {
  const { id } = await newCase();
  const { id: sid } = await made<Session>(`/cases/${id}/sessions`, { type: 'implementing' });
  const path = `/cases/${id}/sessions/${sid}`;
  await eventually(async () => assert.equal((await get<Session>(path)).status, 'plan_ready'));
  return { id, sid, path };
});

const worktree = once(async () => {
  const { id } = await newCase();
  return made<Worktree>('/api/worktrees', { case_id: id });
});
/** A rebase that stopped at a conflict, which is resolved but not applied yet. */
const stopped = async () => {
  const { id } = await newCase();
  const { path } = await made<Worktree>('/api/worktrees', { case_id: id });
  const name = `${id}.txt`;
  commit(running.repository.git, running.repository.root, { [name]: 'base\n' });
  commit(gitIn(path), path, { [name]: 'branch\n' });
  const answer = await call('POST', `/api/cases/${id}/pr/rebase`);
  writeFiles(path, { [name]: 'both\n' });
  return { name, answer, conflicts: `/api/cases/${id}/conflicts` };
};
const proof = once(async () =>
  made<Proof>(`${await at()}/proof`, { type: 'test-log', content: 'ok' }),
);
const webhook = once(() =>
  made<NewWebhook>('/webhooks', { url: HOOK, events: ['*'], secret: 's' }),
);
const caseWebhook = once(async () => made<NewWebhook>(`${await at()}/webhooks`, { url: HOOK }));

const WORK_ITEMS: Row[] = [
  {
    method: 'GET',
    path: '/cases',
    does: 'lists Work items, by state and outcome',
    call: async () => {
      await item();
      return call('GET', '/cases?state=OPEN');
    },
    status: 200,
    check: async ({ body }: Answered<Case[]>) => {
      const { id } = await item();
      assert.ok(body.some((each) => each.id === id));
      assert.deepEqual(await get('/cases?state=OPEN&outcome=resolved'), []);
    },
  },
  {
    method: 'POST',
    path: '/cases',
    does: 'creates a Work item',
    call: () => call('POST', '/cases', { title: 'Made', type: 'bug' }),
    status: 201,
    check: async ({ body }: Answered<Case>) =>
      assert.deepEqual(await get(`/cases/${body.id}`), body),
  },
  {
    method: 'GET',
    path: '/cases/:id',
    does: 'returns the Work item',
    call: async () => call('GET', await at()),
    status: 200,
    check: async ({ body }: Answered<Case>) => assert.equal(body.id, (await item()).id),
  },
  {
    method: 'PUT',
    path: '/cases/:id',
    does: 'updates title or description',
    call: async () => call('PUT', await at(), { title: 'Another title' }),
    status: 200,
    check: ({ body }: Answered<Case>) => assert.equal(body.title, 'Another title'),
  },
  {
    method: 'DELETE',
    path: '/cases/:id',
    does: 'deletes the Work item',
    call: async () =>
      call('DELETE', `/cases/${(await made<Case>('/cases', { title: 'Goes', type: 'bug' })).id}`),
    status: 204,
    check: async () =>
      assert.ok(!(await get<Case[]>('/cases')).some(({ title }) => title === 'Goes')),
  },
  {
    method: 'PUT',
    path: '/cases/:id/state',
    does: 'sets the state directly',
    call: async () => call('PUT', `${await at()}/state`, { state: 'VERIFYING' }),
    status: 200,
    check: ({ body }: Answered<Case>) => assert.equal(body.state, 'VERIFYING'),
  },
];

const SESSIONS: Row[] = [
  {
    method: 'GET',
    path: '/cases/:id/sessions',
    does: 'lists the sessions of the Work item',
    call: async () => call('GET', `/cases/${(await session()).id}/sessions`),
    status: 200,
    check: async ({ body }: Answered<Session[]>) =>
      assert.deepEqual(
        body.map(({ id }) => id),
        [(await session()).sid],
      ),
  },
  {
    method: 'POST',
    path: '/cases/:id/sessions',
    does: 'creates a session, in Plan mode',
    call: async () =>
      call('POST', `/cases/${(await newCase()).id}/sessions`, { type: 'implementing' }),
    status: 201,
    check: ({ body }: Answered<Session>) =>
      assert.deepEqual([body.type, body.mode], ['implementing', 'plan']),
  },
  {
    method: 'GET',
    path: '/cases/:id/sessions/:sid',
    does: 'returns one session',
    call: async () => call('GET', (await session()).path),
    status: 200,
    check: async ({ body }: Answered<Session>) => {
      assert.deepEqual([body.id, body.status], [(await session()).sid, 'plan_ready']);
    },
  },
  {
    method: 'POST',
    path: '/cases/:id/sessions/:sid/approve',
    does: 'approves the plan and moves the session to Work mode',
    call: async () => call('POST', `${(await session()).path}/approve`),
    status: 200,
    check: async ({ body }: Answered<Session>) => {
      assert.equal(body.mode, 'work');
      assert.equal((await call('POST', `${(await session()).path}/approve`)).status, 409);
    },
  },
  {
    method: 'GET',
    path: '/cases/:id/sessions/:sid/stream',
    does: 'streams the execution events until complete',
    call: async () => call('GET', `${(await session()).path}/stream`),
    status: 200,
    check: async ({ text }: Answered<string>) => {
      const told = [...text.matchAll(/^event: (.*)$/gm)].map(([, name]) => name);
      assert.ok(told.includes('plan_ready') && told.includes('diff'), told.join());
      assert.equal(told.at(-1), 'complete');
      const numbers = [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
      assert.deepEqual(
        numbers,
        numbers.toSorted((a, b) => a - b),
      );
      const path = `${(await session()).path}/stream`;
      const polled = await call<object[]>('GET', path, undefined, { accept: 'application/json' });
      assert.equal(polled.body.length, told.length);
    },
  },
];

const SESSION_CONTROL: Row[] = [
  {
    method: 'GET',
    path: '/api/sessions/queue',
    does: 'lists the queued sessions across all Work items',
    call: async () => {
      const { id: case_id } = await newCase();
      for (const provider of ['manual', 'manual'])
        await made('/api/sessions/queue', { case_id, provider });
      return call('GET', '/api/sessions/queue');
    },
    status: 200,
    check: ({ body }: Answered<Session[]>) =>
      assert.ok(body.length > 0 && body.every(({ status }) => status === 'queued')),
  },
  {
    method: 'POST',
    path: '/api/sessions/queue',
    does: 'enqueues a session',
    call: async () => call('POST', '/api/sessions/queue', { case_id: (await newCase()).id }),
    status: 201,
    check: ({ body }: Answered<Session>) => assert.equal(body.mode, 'plan'),
  },
  {
    method: 'GET',
    path: '/api/sessions/active',
    does: 'lists the active sessions',
    call: async () => {
      const { id } = await newCase();
      await made(`/cases/${id}/sessions`, { type: 'active', provider: 'manual' });
      return call('GET', '/api/sessions/active');
    },
    status: 200,
    check: ({ body }: Answered<Session[]>) =>
      assert.ok(body.some(({ type, status }) => type === 'active' && status === 'planning')),
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/lock',
    does: 'tells the lock state',
    call: async () => call('GET', `/api/worktrees/${(await newCase()).id}/lock`),
    status: 200,
    check: ({ body }: Answered<{ locked: boolean }>) => assert.equal(body.locked, false),
  },
  {
    method: 'POST',
    path: '/api/worktrees/:case_id/lock',
    does: 'acquires the lock; error if held',
    call: async () => {
      const path = `/api/worktrees/${(await newCase()).id}/lock`;
      const taken = await call('POST', path);
      assert.equal((await call('POST', path)).status, 409);
      return taken;
    },
    status: 201,
    check: ({ body }: Answered<{ locked: boolean }>) => assert.equal(body.locked, true),
  },
  {
    method: 'DELETE',
    path: '/api/worktrees/:case_id/lock',
    does: 'releases the lock',
    call: async () => {
      const path = `/api/worktrees/${(await newCase()).id}/lock`;
      await made(path, {});
      return call('DELETE', path);
    },
    status: 204,
  },
  ...(['pause', 'resume', 'abort'] as const).map(
    (what): Row => ({
      method: 'POST',
      path: `/api/cases/:id/session/${what}`,
      does: `${what}s the session`,
      call: async () => {
        const { id } = await newCase();
        await made(`/cases/${id}/sessions`, { type: 'implementing', provider: 'manual' });
        const at = `/api/cases/${id}/session`;
        if (what === 'resume') assert.equal((await call('POST', `${at}/pause`)).status, 200);
        return call('POST', `${at}/${what}`);
      },
      status: 200,
      check: ({ body }: Answered<Session>) =>
        assert.equal(body.status, { pause: 'paused', resume: 'planning', abort: 'aborted' }[what]),
    }),
  ),
];

const MEMORY: Row[] = [
  {
    method: 'GET',
    path: '/cases/:id/memory/:filename',
    does: 'returns raw Markdown text',
    call: async () => {
      await call('PUT', `${await at()}/memory/notes.md`, '# Notes\n');
      return call('GET', `${await at()}/memory/notes.md`);
    },
    status: 200,
    check: ({ text, headers }: Answered<string>) => {
      assert.deepEqual(
        [text, headers['content-type']],
        ['# Notes\n', 'text/markdown; charset=utf-8'],
      );
    },
  },
  {
    method: 'PUT',
    path: '/cases/:id/memory/:filename',
    does: 'takes raw Markdown text',
    call: async () => call('PUT', `${await at()}/memory/other.md`, '# Other\n'),
    status: 200,
    check: async () =>
      assert.equal((await call('GET', `${await at()}/memory/other.md`)).text, '# Other\n'),
  },
  {
    method: 'POST',
    path: '/api/global-memory/write',
    does: 'writes global memory; guarded by the session lock',
    call: async () =>
      call('POST', '/api/global-memory/write', {
        content: '# Of all\n',
        mode: 'replace',
        case_id: (await newCase()).id,
      }),
    status: 200,
    check: async () => {
      assert.equal((await call('GET', '/api/global-memory/global.md')).text, '# Of all\n');
      const { id: case_id } = await newCase();
      await made(`/cases/${case_id}/sessions`, { type: 'implementing' });
      const held = { content: 'x', mode: 'append', case_id };
      assert.equal((await call('POST', '/api/global-memory/write', held)).status, 409);
    },
  },
  {
    method: 'POST',
    path: '/api/global-memory/snapshot',
    does: 'snapshots the global memory',
    call: async () => call('POST', '/api/global-memory/snapshot'),
    status: 201,
    check: async ({ body, headers }: Answered<{ id: string }>) =>
      assert.deepEqual(await get(String(headers.location)), body),
  },
];

const PROOF: Row[] = [
  {
    method: 'GET',
    path: '/cases/:id/proof',
    does: 'lists the proofs',
    call: async () => {
      await proof();
      return call('GET', `${await at()}/proof`);
    },
    status: 200,
    check: async ({ body }: Answered<Proof[]>) => assert.deepEqual(body, [await proof()]),
  },
  {
    method: 'POST',
    path: '/cases/:id/proof',
    does: 'attaches a proof and emits proof_created',
    call: async () => call('POST', `${await at()}/proof`, { type: 'log', content: 'seen' }),
    status: 201,
    check: ({ body }: Answered<Proof>) => {
      const last = running.events.at(-1);
      assert.equal(last?.event_type, 'proof_created');
      assert.deepEqual(last?.payload, {
        case_id: body.case_id,
        proof_id: body.id,
        proof_type: 'log',
      });
    },
  },
  {
    method: 'PUT',
    path: '/cases/:id/proof/:pid/verify',
    does: 'marks the proof verified',
    call: async () => call('PUT', `${await at()}/proof/${(await proof()).id}/verify`),
    status: 200,
    check: ({ body }: Answered<Proof>) => assert.equal(body.verified, true),
  },
  {
    method: 'POST',
    path: '/cases/:id/proof/checklist',
    does: 'adds to the checklist',
    call: async () =>
      call('POST', `${await at()}/proof/checklist`, {
        description: 'A log',
        type: 'log',
        required: true,
      }),
    status: 201,
    check: async ({ body }: Answered<object>) =>
      assert.deepEqual(await get(`${await at()}/proof/checklist`), [body]),
  },
];

const PROVIDERS: Row[] = [
  {
    method: 'GET',
    path: '/providers',
    does: 'lists the providers and their availability',
    call: () => call('GET', '/providers'),
    status: 200,
    check: ({ body }: Answered<{ id: string; available: boolean }[]>) =>
      assert.equal(body.find(({ id }) => id === 'runbook')?.available, true),
  },
  {
    method: 'POST',
    path: '/providers/:id/run',
    does: 'runs a prompt',
    call: () => call('POST', '/providers/runbook/run', { prompt: '```sh\ntouch x\n```' }),
    status: 200,
    check: ({ body }: Answered<{ output: string }>) => assert.match(body.output, /touch x/),
  },
];

const WORKTREES: Row[] = [
  {
    method: 'POST',
    path: '/api/worktrees',
    does: 'creates a worktree for a Work item',
    call: async () => call('POST', '/api/worktrees', { case_id: (await newCase()).id }),
    status: 201,
    check: ({ body }: Answered<Worktree>) =>
      assert.match(running.repository.git('worktree', 'list'), new RegExp(body.path)),
  },
  {
    method: 'DELETE',
    path: '/api/cases/:id/worktree',
    does: 'detaches and deletes the worktree',
    call: async () => {
      const { id } = await newCase();
      await made('/api/worktrees', { case_id: id });
      const answer = await call('DELETE', `/api/cases/${id}/worktree`);
      assert.deepEqual(await get(`/api/worktrees/${id}/health`), { exists: false });
      return answer;
    },
    status: 204,
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/health',
    does: 'tells git status and lock state',
    call: async () => call('GET', `/api/worktrees/${(await worktree()).case_id}/health`),
    status: 200,
    check: ({ body }: Answered<{ exists: boolean; dirty: boolean; lock: { locked: boolean } }>) =>
      assert.deepEqual([body.exists, body.dirty, body.lock.locked], [true, false, false]),
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/status',
    does: 'tells the current status',
    call: async () => call('GET', `/api/worktrees/${(await worktree()).case_id}/status`),
    status: 200,
    check: async ({ body }: Answered<Worktree & { files: object[] }>) =>
      assert.deepEqual([body.path, body.files], [(await worktree()).path, []]),
  },
  {
    method: 'POST',
    path: '/api/worktrees/:case_id/attach',
    does: 'attaches an existing directory as the worktree',
    call: async () => {
      const path = join(temporaryDirectory(file), 'own');
      running.repository.git('worktree', 'add', '--quiet', path);
      return call('POST', `/api/worktrees/${(await newCase()).id}/attach`, { path });
    },
    status: 201,
    check: ({ body }: Answered<Worktree>) => assert.equal(body.attached, true),
  },
  {
    method: 'POST',
    path: '/api/worktrees/:case_id/verify-isolation',
    does: 'checks isolation from the main branch',
    call: async () => call('POST', `/api/worktrees/${(await worktree()).case_id}/verify-isolation`),
    status: 200,
    check: ({ body }: Answered<{ isolated: boolean }>) => assert.equal(body.isolated, true),
  },
  {
    method: 'GET',
    path: '/api/worktrees/stale',
    does: 'lists stale worktrees (no active session, past the time-to-live)',
    call: async () => {
      await worktree();
      return call('GET', '/api/worktrees/stale');
    },
    status: 200,
    check: ({ body }: Answered<object[]>) => assert.deepEqual(body, []),
  },
  {
    method: 'POST',
    path: '/api/worktrees/cleanup',
    does: 'cleans stale worktrees; operator-triggered only',
    call: async () => {
      await worktree();
      return call('POST', '/api/worktrees/cleanup');
    },
    status: 200,
    check: ({ body }: Answered<object>) =>
      assert.deepEqual(body, { dry_run: false, removed: [], skipped: [] }),
  },
  {
    method: 'GET',
    path: '/api/worktrees/config',
    does: 'returns the worktree configuration',
    call: () => call('GET', '/api/worktrees/config'),
    status: 200,
    check: ({ body }: Answered<{ ttl_hours: number }>) => assert.equal(body.ttl_hours, 168),
  },
  {
    method: 'PUT',
    path: '/api/worktrees/config',
    does: 'updates the configuration',
    call: () => call('PUT', '/api/worktrees/config', { ttl_hours: 24 }),
    status: 200,
    check: async ({ body }: Answered<object>) => {
      assert.deepEqual(await get('/api/worktrees/config'), body);
      await call('PUT', '/api/worktrees/config', { ttl_hours: null });
    },
  },
  {
    method: 'POST',
    path: '/api/worktrees/branch-name',
    does: 'generates a branch name for a Work item',
    call: async () => call('POST', '/api/worktrees/branch-name', { case_id: (await newCase()).id }),
    status: 200,
    check: ({ body }: Answered<{ branch: string }>) => assert.match(body.branch, /^work\/a-row-/),
  },
  {
    method: 'GET',
    path: '/api/worktrees/:case_id/memory-root',
    does: 'tells the memory root path of the worktree',
    call: async () => call('GET', `/api/worktrees/${(await worktree()).case_id}/memory-root`),
    status: 200,
    check: async ({ body }: Answered<{ path: string }>) => {
      const { path } = await get<Case>(`/cases/${(await worktree()).case_id}`);
      assert.equal(body.path, `${running.workspace}/${path}/memory`);
    },
  },
];

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

/** A Work item with a worktree whose project is a clone of one on the host, and the answer that made its pull request. */
const proposed = once(async () => {
  const scene = await pullScene(file);
  scene.work();
  const answer = await scene.post('create');
  await scene.prove();
  return { ...scene, answer };
});

const ofPull = (
  method: 'GET' | 'POST',
  path: string,
  does: string,
  check: NonNullable<Row['check']>,
): Row => ({
  method,
  path: `/api/cases/:id/pr${path}`,
  does,
  call: async () => {
    const { item, running: there } = await proposed();
    return there.call(method, `/api/cases/${item.id}/pr${path}`);
  },
  status: 200,
  check,
});

const PULL_REQUESTS: Row[] = [
  {
    method: 'POST',
    path: '/api/cases/:id/pr/create',
    does: 'creates the pull request on the host',
    call: async () => (await proposed()).answer,
    status: 201,
    check: async ({ body }: Answered<{ number: number; title: string }>) => {
      const there = await (await proposed()).host.pulls.read(body.number);
      assert.deepEqual([there.title, there.draft], [body.title, true]);
    },
  },
  ofPull('GET', '', 'tells its record', ({ body }: Answered<{ state: string }>) =>
    assert.equal(body.state, 'draft'),
  ),
  {
    method: 'PATCH',
    path: '/api/cases/:id/pr',
    does: 'updates its record',
    call: async () => {
      const { item, running: there } = await proposed();
      return there.call('PATCH', `/api/cases/${item.id}/pr`, { title: 'Another' });
    },
    status: 200,
    check: async ({ body }: Answered<{ number: number; title: string }>) => {
      const there = await (await proposed()).host.pulls.read(body.number);
      assert.deepEqual([body.title, there.title], ['Another', 'Another']);
    },
  },
  ofPull('GET', '/draft', 'tells title, body and labels', ({ body }: Answered<object>) =>
    assert.ok(['title', 'body', 'labels'].every((name) => name in body)),
  ),
  ofPull('GET', '/ready-check', 'says whether it is ready', ({ body }: Answered<object>) =>
    assert.equal((body as { ready: boolean }).ready, true),
  ),
  ofPull('POST', '/mark-ready', 'marks it ready and shows the proof', async () => {
    const { host: there, answer } = await proposed();
    assert.equal((await there.pulls.read(answer.body.number)).draft, false);
    assert.equal((await there.pulls.comments(answer.body.number)).length, 1);
  }),
  ofPull('GET', '/status', 'tells how it is now', ({ body }: Answered<{ state: string }>) =>
    assert.equal(body.state, 'open'),
  ),
  ofPull('GET', '/state-timeline', 'tells its states in order', ({ body }: Answered<unknown[]>) =>
    assert.equal(body.length, 2),
  ),
  ofPull('POST', '/sync-state', 'syncs its state', ({ body }: Answered<{ state: string }>) =>
    assert.equal(body.state, 'open'),
  ),
  ofPull('POST', '/comment-proof', 'shows the proof', ({ body }: Answered<{ updated: boolean }>) =>
    assert.equal(body.updated, true),
  ),
];

/** A Work item that was imported from an issue of its own. */
const imported = once(async () => {
  const { number } = await host.issues.add({ title: 'Imported' });
  const item = await made<Case>('/api/codehost/issues/import-case', { number });
  return { number, api: `/api/cases/${item.id}/github` };
});
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

const LINKS: Row[] = [
  {
    method: 'GET',
    path: '/api/cases/:id/github',
    does: 'returns the link record, issue and PR',
    call: async () => call('GET', (await imported()).api),
    status: 200,
    check: async ({ body }: Answered<{ issue: { number: number }; pr: null }>) =>
      assert.deepEqual([body.issue.number, body.pr], [(await imported()).number, null]),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/github/sync',
    does: 'syncs with the linked issue',
    call: async () => {
      const { api, number } = await imported();
      await host.issues.edit(number, { title: 'Renamed there' });
      return call('POST', `${api}/sync`);
    },
    status: 200,
    check: ({ body }: Answered<{ outcome: string }>) => assert.equal(body.outcome, 'updated'),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/github/sync-log',
    does: 'returns the full sync log',
    call: async () => call('GET', `${(await imported()).api}/sync-log`),
    status: 200,
    check: ({ body }: Answered<{ outcome: string }[]>) =>
      assert.deepEqual(
        body.map(({ outcome }) => outcome),
        ['updated'],
      ),
  },
];

/** A thread on the pull request, which blocks it. */
const thread = once(async () => {
  const { host: there, answer } = await proposed();
  const { threads } = await there.pulls.review(answer.body.number, {
    by: 'reviewer',
    comments: [{ path: 'a.txt', line: 1, body: 'Why?' }],
  });
  return `thread:${threads[0]}`;
});

const onThread = (what: string, does: string, check: NonNullable<Row['check']>): Row => ({
  method: 'POST',
  path: `/api/cases/:id/pr/reviews/:review_id/${what}`,
  does,
  call: async () => {
    const { item, running: there } = await proposed();
    return there.call('POST', `/api/cases/${item.id}/pr/reviews/${await thread()}/${what}`);
  },
  status: 200,
  check,
});

const listsThread = async ({ body }: Answered<{ id: string }[]>): Promise<void> =>
  assert.deepEqual(
    body.map(({ id }) => id),
    [await thread()],
  );

const REVIEWS: Row[] = [
  {
    method: 'GET',
    path: '/api/cases/:id/pr/reviews',
    does: 'lists all reviews',
    call: async () => {
      await thread();
      const { item, running: there } = await proposed();
      return there.call('GET', `/api/cases/${item.id}/pr/reviews`);
    },
    status: 200,
    check: async ({ body }: Answered<{ id: string }[]>) =>
      assert.ok(body.some((each) => each.id.startsWith('thread:'))),
  },
  ofPull('GET', '/reviews/unresolved', 'lists those that block', listsThread),
  onThread('add-to-feedback', 'queues one', ({ body }: Answered<{ feedback: string }>) =>
    assert.equal(body.feedback, 'queued'),
  ),
  {
    ...ofPull('POST', '/address-feedback', 'starts a session', ({ body }: Answered<Session>) =>
      assert.equal(body.type, 'feedback'),
    ),
    status: 202,
  },
  onThread('resolve', 'resolves one', async ({ body }: Answered<{ state: string }>) => {
    const { host: there } = await proposed();
    assert.ok(there.pulls.isResolved((await thread()).slice('thread:'.length)));
    assert.equal(body.state, 'resolved');
  }),
];

const ofBody = async <T>(method: string, path: string, body?: object): Promise<Answered<T>> => {
  const { item, running: there } = await proposed();
  return there.call<T>(method, `/api/cases/${item.id}/pr-body/${path}`, body);
};

const update = once(() =>
  ofBody<{ id: string; diff: string }>('POST', 'suggest-update', { body: 'New.' }),
);

const PULL_BODY: Row[] = [
  {
    method: 'POST',
    path: '/api/cases/:id/pr-body/compose',
    does: 'composes the body',
    call: () => ofBody('POST', 'compose'),
    status: 200,
    check: ({ body }: Answered<{ body: string }>) => assert.match(body.body, /How it was proved/),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/pr-body/draft',
    does: 'tells the draft',
    call: () => ofBody('GET', 'draft'),
    status: 200,
    check: ({ body }: Answered<{ body: string }>) => assert.match(body.body, /How it was proved/),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/pr-body/suggest-update',
    does: 'queues an update, and publishes nothing',
    call: update,
    status: 201,
    check: async ({ body }: Answered<{ diff: string }>) => {
      const { host: there, answer } = await proposed();
      assert.match(body.diff, /^\+New\.$/m);
      assert.notEqual((await there.pulls.read(answer.body.number)).body, 'New.');
    },
  },
  {
    method: 'POST',
    path: '/api/cases/:id/pr-body/updates/:update_id/approve',
    does: 'publishes it',
    call: async () => ofBody('POST', `updates/${(await update()).body.id}/approve`),
    status: 200,
    check: async () => {
      const { host: there, answer } = await proposed();
      assert.equal((await there.pulls.read(answer.body.number)).body, 'New.');
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

const CONFLICTS: Row[] = [
  {
    method: 'POST',
    path: '/api/cases/:id/pr/rebase',
    does: 'starts a rebase and returns the conflicting file list',
    call: async () => (await stopped()).answer,
    status: 200,
    check: ({ body }: Answered<{ files: { kind: string }[] }>) =>
      assert.deepEqual(
        body.files.map(({ kind }) => kind),
        ['both_added'],
      ),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/conflicts/preview',
    does: 'returns the raw conflict diff of all conflicting files',
    call: async () => call('GET', `${(await stopped()).conflicts}/preview`),
    status: 200,
    check: ({ body }: Answered<{ diff: string }>) => assert.match(body.diff, /^diff --cc /),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/resolve-with-agent',
    does: 'has an agent propose a resolution',
    call: async () => call('POST', `${(await stopped()).conflicts}/resolve-with-agent`),
    status: 202,
    check: ({ body }: Answered<Session>) => assert.equal(body.type, 'conflict'),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/apply',
    does: 'stages resolved files and completes the rebase',
    call: async () => call('POST', `${(await stopped()).conflicts}/apply`),
    status: 200,
    check: ({ body }: Answered<{ status: string }>) => assert.equal(body.status, 'clean'),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/push-rebased',
    does: 'pushes the rebased branch with a lease',
    call: async () => {
      const { root } = makeRepository(file, { bare: true });
      running.repository.git('remote', 'add', 'origin', root);
      const { conflicts } = await stopped();
      await call('POST', `${conflicts}/apply`);
      return call('POST', `${conflicts}/push-rebased`);
    },
    status: 200,
    check: ({ body }: Answered<{ head: string; ref: string }>) =>
      assert.match(
        running.repository.git('ls-remote', 'origin'),
        new RegExp(`${body.head}\t${body.ref}`),
      ),
  },
  {
    method: 'POST',
    path: '/api/cases/:id/conflicts/abort',
    does: 'aborts the rebase',
    call: async () => call('POST', `${(await stopped()).conflicts}/abort`),
    status: 200,
    check: ({ body }: Answered<{ left: string[] }>) => assert.deepEqual(body.left, []),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/conflicts/history',
    does: 'lists timestamp, file count and outcome',
    call: async () => call('GET', `${(await stopped()).conflicts}/history`),
    status: 200,
    check: ({ body: [first] }: Answered<Conflict[]>) =>
      assert.deepEqual(
        [typeof first?.timestamp, first?.file_count, first?.outcome],
        ['string', 1, null],
      ),
  },
  {
    method: 'GET',
    path: '/api/cases/:id/conflicts/metrics',
    does: 'aggregates conflict frequency and resolution time',
    call: async () => call('GET', `${(await stopped()).conflicts}/metrics`),
    status: 200,
    check: ({ body }: Answered<{ frequency: number; seconds_to_resolution: object }>) =>
      assert.deepEqual(
        [body.frequency, body.seconds_to_resolution],
        [1, { median: null, p95: null }],
      ),
  },
];

const EXPORT: Row[] = [
  {
    method: 'GET',
    path: '/api/export',
    does: 'returns a zip archive of all Work items, sessions and memory files with a manifest',
    call: () => call('GET', '/api/export'),
    status: 200,
    check: async ({ bytes }: Answered) => {
      const { manifest } = await readExport(bytes);
      assert.equal(manifest.counts.cases, (await get<Case[]>('/cases')).length);
    },
  },
];

const API_KEYS: Row[] = [
  {
    method: 'DELETE',
    path: '/api-keys/:id',
    does: 'revokes a key',
    call: async () => {
      const { key } = await createKey(running.service, 'for a row');
      return call('DELETE', `/api-keys/${key.id}`);
    },
    status: 204,
    check: () => assert.deepEqual(listKeys(running.service.store), []),
  },
];

/** A call about files in the worktree, and what is there afterwards. */
const edits = (
  row: Pick<Row, 'method' | 'does' | 'status'> & { path: string; query?: string; body?: object },
  there: string[],
  gone: string[] = [],
): Row => ({
  ...row,
  path: `/cases/:id/editor/${row.path}`,
  call: async () => {
    const { case_id, path } = await worktree();
    writeFiles(path, { 'edited/here.txt': 'x' });
    return call(row.method, `/cases/${case_id}/editor/${row.path}${row.query ?? ''}`, row.body);
  },
  check: async () => {
    const { path } = await worktree();
    for (const name of there) assert.ok(existsSync(join(path, name)), name);
    for (const name of gone) assert.ok(!existsSync(join(path, name)), name);
  },
});

const EDITOR: Row[] = [
  {
    method: 'POST',
    path: '/projects/:id/files',
    does: 'creates or reads a file in project scope',
    call: async () => {
      await made('/projects/default/files', { path: 'project.txt', content: 'a row\n' });
      return call('POST', '/projects/default/files', { path: 'project.txt' });
    },
    status: 200,
    check: ({ body }: Answered<{ content: string }>) => assert.equal(body.content, 'a row\n'),
  },
  edits(
    {
      method: 'POST',
      path: 'files',
      does: 'creates a file in the worktree',
      status: 201,
      body: { path: 'edited/new.txt', content: 'new' },
    },
    ['edited/new.txt'],
  ),
  edits(
    {
      method: 'DELETE',
      path: 'files',
      does: 'deletes a file from the worktree',
      status: 204,
      query: '?path=edited/here.txt',
    },
    ['edited'],
    ['edited/here.txt'],
  ),
  edits(
    {
      method: 'POST',
      path: 'rename',
      does: 'renames a file in the worktree',
      status: 200,
      body: { from: 'edited/here.txt', to: 'edited/there.txt' },
    },
    ['edited/there.txt'],
    ['edited/here.txt'],
  ),
  edits(
    {
      method: 'POST',
      path: 'directories',
      does: 'creates a directory in the worktree',
      status: 201,
      body: { path: 'edited/folder' },
    },
    ['edited/folder'],
  ),
];

const WEBHOOKS: Row[] = [
  {
    method: 'POST',
    path: '/webhooks',
    does: 'registers a global webhook',
    call: () => call('POST', '/webhooks', { url: HOOK, events: ['proof_created'], secret: 'mine' }),
    status: 201,
    check: ({ body }: Answered<NewWebhook>) =>
      assert.deepEqual([body.url, body.events, body.secret], [HOOK, ['proof_created'], 'mine']),
  },
  {
    method: 'GET',
    path: '/webhooks',
    does: 'lists global webhooks, without their secrets',
    call: async () => {
      await webhook();
      return call('GET', '/webhooks');
    },
    status: 200,
    check: async ({ body, text }: Answered<{ id: string }[]>) => {
      const { id } = await webhook();
      assert.ok(body.some((each) => each.id === id));
      assert.doesNotMatch(text, /secret/);
    },
  },
  {
    method: 'DELETE',
    path: '/webhooks/:id',
    does: 'removes a global webhook',
    call: async () => call('DELETE', `/webhooks/${(await webhook()).id}`),
    status: 204,
    check: async () =>
      assert.equal((await call('GET', `/webhooks/${(await webhook()).id}`)).status, 404),
  },
  {
    method: 'POST',
    path: '/cases/:id/webhooks',
    does: 'registers a webhook of one Work item, by its url alone',
    call: async () => call('POST', `${await at()}/webhooks`, { url: HOOK }),
    status: 201,
    check: ({ body }: Answered<NewWebhook>) => assert.equal(body.url, HOOK),
  },
  {
    method: 'GET',
    path: '/cases/:id/webhooks',
    does: 'lists the webhooks of the Work item',
    call: async () => {
      await caseWebhook();
      return call('GET', `${await at()}/webhooks`);
    },
    status: 200,
    check: async ({ body }: Answered<{ id: string }[]>) => {
      const { id } = await caseWebhook();
      assert.ok(body.some((each) => each.id === id));
    },
  },
  {
    method: 'DELETE',
    path: '/cases/:id/webhooks/:webhook_id',
    does: 'removes a webhook of the Work item',
    call: async () => call('DELETE', `${await at()}/webhooks/${(await caseWebhook()).id}`),
    status: 204,
    check: async () => {
      const path = `${await at()}/webhooks/${(await caseWebhook()).id}`;
      assert.equal((await call('GET', path)).status, 404);
    },
  },
];

const SYSTEM: Row[] = [
  {
    method: 'GET',
    path: '/health',
    does: 'returns status ok',
    call: () => call('GET', '/health'),
    status: 200,
    check: ({ body }: Answered<object>) => assert.deepEqual(body, { status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/version',
    does: 'returns version and build info',
    call: () => call('GET', '/version'),
    status: 200,
    check: ({ body }: Answered<{ version: string }>) =>
      assert.match(body.version, /^\d+\.\d+\.\d+/),
  },
];

const inWorktree = async (path: string, body: object): Promise<Answered<unknown>> => {
  const { case_id } = await worktree();
  return call('POST', path, { case_id, ...body });
};

const LANGUAGE_SERVERS: Row[] = [
  {
    method: 'POST',
    path: '/editor/complete',
    does: 'suggests what could stand at the cursor',
    call: () =>
      inWorktree('/editor/complete', {
        ...{ language: 'rust', path: 'src/main.rs', content: 'fn unsaved' },
        position: { line: 0, character: 3 },
      }),
    status: 200,
    check: ({ body }: Answered<{ items: object[] }>) =>
      assert.deepEqual(body.items, [{ label: 'fn unsaved' }]),
  },
  {
    method: 'GET',
    path: '/lsp/:language/ws',
    does: 'is a WebSocket, and says so to whoever asks without an upgrade',
    call: async () => call('GET', `/lsp/rust/ws?case_id=${(await worktree()).case_id}`),
    status: 426,
  },
  {
    method: 'POST',
    path: '/lsp/:language/message',
    does: "returns the server's response to one message",
    call: async () =>
      call('POST', `/lsp/rust/message?case_id=${(await worktree()).case_id}`, {
        ...{ jsonrpc: '2.0', id: 7, method: 'x/echo', params: [1] },
      }),
    status: 200,
    check: ({ body }: Answered<object>) =>
      assert.deepEqual(body, { jsonrpc: '2.0', id: 7, result: [1] }),
  },
];

/** A Work item that is linked to an issue, with all three planning files. */
const planned = once(async () => {
  const { id, path } = await newCase();
  const write = (name: string, content: string) =>
    writeFiles(join(running.workspace, path), { [name]: content });
  linkTo({ write }, '### Expected\n\nA row.\n');
  const stages: Record<string, Answered<unknown>> = {};
  for (const stage of ['from-issue', 'hypotheses-file', 'generate-tasks'])
    stages[stage] = await call('POST', `/api/cases/${id}/planning/${stage}`);
  return { id, stages };
});

const ofPlanning = (
  row: Pick<Row, 'method' | 'path' | 'does'> & { body?: string },
  check: NonNullable<Row['check']>,
): Row => ({
  ...row,
  path: `/api/cases/:id/${row.path}`,
  call: async () => {
    const path = `/api/cases/${(await planned()).id}/${row.path.replace(':filename', 'tasks.md')}`;
    return call(row.method, path, row.body, row.body ? { 'content-type': 'text/markdown' } : {});
  },
  status: 200,
  check,
});

const stageRow = (stage: string, filename: string, does: string): Row => ({
  method: 'POST',
  path: `/api/cases/:id/planning/${stage}`,
  does,
  call: async () => (await planned()).stages[stage] as Answered<unknown>,
  status: 200,
  check: ({ body }: Answered<{ filename: string; generated_by: string }>) =>
    assert.deepEqual([body.filename, body.generated_by], [filename, 'extraction']),
});

const gateIs =
  (wanted: string): NonNullable<Row['check']> =>
  ({ body }: Answered<{ status: string }>) =>
    assert.equal(body.status, wanted);

const PLANNING: Row[] = [
  stageRow('from-issue', 'problem-definition.md', 'derives a draft from the linked issue'),
  stageRow('hypotheses-file', 'hypotheses.md', 'writes hypotheses.md'),
  stageRow('generate-tasks', 'tasks.md', 'generates tasks from hypotheses'),
  ofPlanning({ method: 'GET', path: 'planning/gate', does: 'tells the gate' }, gateIs('pending')),
  ofPlanning(
    { method: 'POST', path: 'planning/approve', does: 'approves the files' },
    gateIs('approved'),
  ),
  ofPlanning(
    { method: 'GET', path: 'planning/readiness', does: 'tells whether it is ready to execute' },
    ({ body }: Answered<{ checks: { name: string; ok: boolean }[] }>) =>
      assert.ok(body.checks.some(({ name, ok }) => name === 'planning_gate' && ok)),
  ),
  ofPlanning(
    { method: 'GET', path: 'planning-artifacts', does: 'lists the files' },
    ({ body }: Answered<object[]>) => assert.equal(body.length, 3),
  ),
  ofPlanning(
    {
      method: 'PUT',
      path: 'planning-artifacts/:filename',
      does: 'writes one, and the approval is stale',
      body: '# Mine\n',
    },
    async () => {
      const gate = await get<{ status: string }>(
        `/api/cases/${(await planned()).id}/planning/gate`,
      );
      assert.equal(gate.status, 'stale');
    },
  ),
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

const TABLE: Record<string, Row[]> = {
  'Work items': WORK_ITEMS,
  Sessions: SESSIONS,
  'Session control and locks': SESSION_CONTROL,
  Memory: MEMORY,
  Proof: PROOF,
  Planning: PLANNING,
  Worktrees: WORKTREES,
  'Code-hosting integration': [...CODE_HOST, ...ISSUES, ...CODEHOST_WEBHOOK, ...TRACEABILITY],
  'Link of a Work item': LINKS,
  'PR of a Work item': PULL_REQUESTS,
  Reviews: REVIEWS,
  'PR body': PULL_BODY,
  'Conflicts and rebase': CONFLICTS,
  Export: EXPORT,
  'API keys': API_KEYS,
  'AI providers': PROVIDERS,
  Editor: EDITOR,
  'Language server bridge': LANGUAGE_SERVERS,
  'Webhook registration': WEBHOOKS,
  System: SYSTEM,
};

const inBraces = (path: string): string => path.replaceAll(/:([a-z_]+)/g, '{$1}');

const declared = ({ method, path }: Row): Route | undefined =>
  sections
    .flatMap(({ routes }) => routes)
    .find((route) => route.method === method && route.path === inBraces(path));

interface Operation {
  summary?: string;
  parameters?: { name?: string; in?: string }[];
  responses: Record<string, { $ref?: string; content?: Record<string, object> }>;
}
interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: {
    responses: Record<string, { content: Record<string, { schema: object }> }>;
    schemas: Record<string, unknown>;
  };
}

const document = once(() => get<Document>('/openapi.json'));

const assertShape = (row: Row, { response, produces }: Route, answer: Answered<unknown>): void => {
  if (row.status === 204) assert.equal(answer.text, '');
  if (response === undefined) return;
  const type = produces ?? 'application/json';
  assert.ok(
    String(answer.headers['content-type']).startsWith(type),
    answer.headers['content-type'] as string,
  );
  if (type !== 'application/json') return;
  const schema = Compile(response);
  assert.ok(
    schema.Check(answer.body),
    `${answer.text}\n${JSON.stringify(schema.Errors(answer.body))}`,
  );
};

/** How many the interface document has. */
const ENDPOINTS = 124;

describe('this table', () => {
  it('has each row of the interface', () => {
    const rows = Object.values(TABLE).flat();
    assert.equal(new Set(rows.map(({ method, path }) => `${method} ${path}`)).size, ENDPOINTS);
  });
});

for (const [section, rows] of Object.entries(TABLE))
  describe(`the interface, ${section}`, () => {
    for (const row of rows)
      it(`${row.method} ${row.path} ${row.does}`, async () => {
        const route = declared(row);
        assert.ok(route, 'it is declared');
        const operation = (await document()).paths[inBraces(row.path)]?.[row.method.toLowerCase()];
        assert.ok(operation, 'it is in the OpenAPI document');
        assert.ok(operation.responses[String(row.status)], 'with this status');
        const answer = await row.call();
        assert.equal(answer.status, row.status, answer.text);
        assertShape(row, route, answer);
        if (row.status === 201) assert.match(String(answer.headers.location), /^\//);
        await row.check?.(answer as Answered<never>);
      });
  });

describe('GET /openapi.json', () => {
  const operations = async (): Promise<[string, Operation][]> =>
    Object.entries((await document()).paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, Operation] => [
        `${method} ${path}`,
        operation,
      ]),
    );

  it('gives every operation a summary, a success, and the problems it can answer', async () => {
    const { components } = await document();
    for (const [name, { summary, responses }] of await operations()) {
      assert.match(summary ?? '', /^[A-Z].{8,}[^.]$/, name);
      const statuses = Object.keys(responses);
      assert.ok(
        statuses.some((status) => status.startsWith('2') || status === '101'),
        name,
      );
      for (const status of ['400', '401', '403', '500'])
        assert.ok(statuses.includes(status), `${name} ${status}`);
      for (const status of statuses.filter((each) => each >= '400')) {
        const reference = responses[status]?.$ref?.split('/').at(-1) ?? '';
        const content = components.responses[reference]?.content['application/problem+json'];
        assert.match(
          JSON.stringify(content),
          /#\/components\/schemas\/Problem/,
          `${name} ${status}`,
        );
      }
    }
    assert.ok(components.schemas.Problem);
  });

  it('describes every parameter of a path', async () => {
    for (const [name, { parameters = [] }] of await operations()) {
      const wanted = [...name.matchAll(/\{([a-z_]+)\}/g)].map(([, each]) => each);
      const found = parameters.filter((each) => each.in === 'path').map((each) => each.name);
      assert.deepEqual(found.toSorted(), wanted.toSorted(), name);
    }
  });

  it('leads nowhere that is not in it', async () => {
    const text = JSON.stringify(await document());
    const whole = JSON.parse(text) as Record<string, unknown>;
    for (const [, path = ''] of text.matchAll(/"\$ref":"#\/([^"]+)"/g)) {
      const found = path
        .split('/')
        .reduce<unknown>(
          (part, step) => (part as Record<string, unknown> | undefined)?.[step],
          whole,
        );
      assert.ok(found, path);
    }
  });
});
