/** From an issue to a pull request that a human merged: the daemon as it ships, real git, and the code host of the tests. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { type CodeHost, startCodeHost } from '../codehost/code-host.ts';
import type { NewReview } from '../codehost/host-pulls.ts';
import { webhookDelivery } from '../codehost/webhook.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/repository.ts';

const ISSUE = `### What happened

Half a cent is rounded down.

### Expected

Half a cent is rounded up.

### Steps to reproduce

1. Put 0.125 into the cart
2. See 0.12

### Acceptance criteria

- [ ] 0.125 becomes 0.13
`;

const FILES = { 'tax.ts': 'export const round = (n) => Math.floor(n);\n', 'other.ts': '1\n' };

type Body = Record<string, unknown>;

interface Life {
  host: CodeHost;
  workspace: string;
  /** A call that has to be answered with this status. */
  call: <T = Body>(
    wanted: number,
    method: string,
    path: string,
    body?: object | string,
  ) => Promise<T>;
  deliver: (delivery: { body: string; headers: Record<string, string> }) => Promise<Body>;
}

const begin = async (t: TestContext): Promise<Life> => {
  const host = await startCodeHost(t, { files: FILES });
  const workspace = temporaryDirectory(t);
  const { root } = host.repositories.clone();
  const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token, GITHUB_TOKEN: '' };
  const { url } = await startDaemon(t, ['--workspace', workspace, '--repo', root], env);
  const send = async (method: string, path: string, init: RequestInit = {}) => {
    const answer = await fetch(`${url}${path}`, { method, ...init });
    return { status: answer.status, text: await answer.text() };
  };
  return {
    host,
    workspace,
    call: async <T>(wanted: number, method: string, path: string, body?: object | string) => {
      const { status, text } = await send(method, path, body === undefined ? {} : told(body));
      assert.equal(status, wanted, `${method} ${path}: ${text}`);
      return (text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : text) as T;
    },
    deliver: async ({ body, headers }) => {
      const { status, text } = await send('POST', '/api/codehost/webhook', { body, headers });
      assert.ok(status < 300, text);
      return JSON.parse(text) as Body;
    },
  };
};

const told = (body: object | string): RequestInit =>
  typeof body === 'string'
    ? { headers: { 'content-type': 'text/markdown' }, body }
    : { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };

/** Brings a session from its start to its end, with this plan. */
const work = async ({ call }: Life, id: string, sid: unknown, plan: string): Promise<void> => {
  const at = `/cases/${id}/sessions/${sid}`;
  const reach = (status: string): Promise<void> =>
    eventually(async () => {
      const session = await call(200, 'GET', at);
      assert.equal(session.status, status, String(session.error));
    });
  await reach('plan_ready');
  await call(200, 'PUT', `${at}/plan`, plan);
  await call(200, 'POST', `${at}/approve`);
  await reach('completed');
};

const sh = (...lines: string[]): string => `# Plan\n\n\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;

const REVIEW: NewReview = {
  state: 'CHANGES_REQUESTED',
  body: 'Not yet.',
  comments: [{ path: 'tax.ts', line: 1, body: 'What of negative numbers?' }],
};

describe('from an issue to a pull request that a human merged', () => {
  it('loses nothing, asks the operator at every gate, and merges nothing', async (t) => {
    const life = await begin(t);
    const { host, call, workspace } = life;
    // The issue becomes a Work item.
    const { number: issue } = await host.issues.add({
      title: 'Tax is off by one',
      body: ISSUE,
      labels: ['bug'],
    });
    const item = await call(201, 'POST', '/api/codehost/issues/import-case', { number: issue });
    const id = String(item.id);
    const at = `/api/cases/${id}`;
    assert.deepEqual([item.title, item.type], ['Tax is off by one', 'bug']);
    await call(409, 'POST', '/api/codehost/issues/import-case', { number: issue });

    // Three planning files, and the gate before any work.
    await call(200, 'POST', `${at}/planning/from-issue`);
    await call(200, 'POST', `${at}/planning/hypotheses-file`);
    const tasks = await call(200, 'POST', `${at}/planning/generate-tasks`);
    assert.match(String(tasks.content), /0\.125 becomes 0\.13/);
    const session = await call(201, 'POST', `/cases/${id}/sessions`, { type: 'implementing' });
    const sessionAt = `/cases/${id}/sessions/${session.id}`;
    const shut = await eventually(async () => {
      const { status } = await call(200, 'GET', sessionAt);
      assert.equal(status, 'plan_ready');
      return call(422, 'POST', `${sessionAt}/approve`);
    });
    assert.equal(shut.code, 'planning_gate_closed');
    const gate = await call(200, 'POST', `${at}/planning/approve`);
    assert.equal(gate.status, 'approved');
    await work(
      life,
      id,
      session.id,
      sh("printf 'export const round = (n) => Math.round(n);\\n' > tax.ts"),
    );

    // The pull request: pushed, a draft, and it closes the issue.
    const draft = await call(200, 'GET', `${at}/pr/draft`);
    assert.match(String(draft.body), new RegExp(`Closes acme/app#${issue}\\.`));
    const pull = await call(201, 'POST', `${at}/pr/create`);
    const number = Number(pull.number);
    assert.deepEqual([pull.state, pull.base_ref], ['draft', 'main']);
    assert.equal((await call(422, 'POST', `${at}/pr/mark-ready`)).code, 'proof_gate_blocked');

    // A review comes by webhook, is read, and is addressed by a session of its own.
    const secret = 'a secret between the two';
    await call(200, 'PUT', '/api/codehost/settings', { webhook_secret: secret });
    await host.pulls.review(number, REVIEW);
    const about = { 'repository.full_name': 'acme/app', 'pull_request.number': number };
    const delivery = webhookDelivery(secret, { event: 'pull_request_review', set: about });
    assert.notEqual((await life.deliver(delivery)).duplicate, true);
    assert.equal((await life.deliver(delivery)).duplicate, true);
    const unresolved = await call<Body[]>(200, 'GET', `${at}/pr/reviews/unresolved`);
    assert.deepEqual(unresolved.map(({ id: review }) => String(review).split(':')[0]).toSorted(), [
      'review',
      'thread',
    ]);
    for (const review of unresolved)
      await call(200, 'POST', `${at}/pr/reviews/${review.id}/add-to-feedback`);
    const feedback = await call(202, 'POST', `${at}/pr/address-feedback`);
    assert.equal(feedback.type, 'feedback');
    await work(life, id, feedback.id, sh("printf '// away from zero\\n' >> tax.ts"));
    await call(200, 'POST', `${at}/pr/push`);

    // The base moves on: a rebase, and a push over nobody's work.
    const base = await host.repositories.push({
      branch: 'main',
      files: { 'other.ts': '2\n' },
    });
    const rebased = await call(200, 'POST', `${at}/pr/rebase`, { onto: 'origin/main' });
    assert.equal(rebased.status, 'clean');
    const pushed = await call(200, 'POST', `${at}/conflicts/push-rebased`);
    assert.equal((await host.pulls.read(number)).head.sha, pushed.head);

    // Proof, verified by the operator; the published body changes by approval alone.
    const proof = await call(201, 'POST', `/cases/${id}/proof`, {
      type: 'test-log',
      content: 'all 12 tests pass',
    });
    await call(200, 'PUT', `/cases/${id}/proof/${proof.id}/verify`);
    assert.equal((await call(200, 'GET', `/cases/${id}`)).state, 'RESOLVED');
    await call(200, 'POST', `${at}/pr-body/compose`);
    const update = await call(201, 'POST', `${at}/pr-body/suggest-update`);
    assert.doesNotMatch((await host.pulls.read(number)).body ?? '', /test-log/);
    await call(200, 'POST', `${at}/pr-body/updates/${update.id}/approve`);
    assert.match((await host.pulls.read(number)).body ?? '', /test-log/);

    // Ready: behind the open reviews, and then with the proof in a comment.
    const early = await call(422, 'POST', `${at}/pr/mark-ready`);
    assert.match(String(early.detail), /requested changes/);
    for (const review of unresolved)
      await call(200, 'POST', `${at}/pr/reviews/${review.id}/resolve`);
    const ready = await call(200, 'POST', `${at}/pr/mark-ready`);
    assert.deepEqual([ready.state, ready.changed], ['open', true]);
    const [comment] = await host.pulls.comments(number);
    assert.match(comment?.body ?? '', /all 12 tests pass/);

    // A human merges, there. Here it is recorded, once the operator asks.
    assert.equal(await host.repositories.headOf('main'), base);
    host.assertNeverMerged();
    await host.pulls.merge(number);
    assert.equal((await call(200, 'GET', `${at}/pr`)).state, 'open');
    assert.equal((await call(200, 'POST', `${at}/pr/sync-state`)).state, 'merged');
    const timeline = await call<Body[]>(200, 'GET', `${at}/pr/state-timeline`);
    assert.deepEqual(
      timeline.filter(({ from, to }) => from !== to).map(({ to }) => to),
      ['draft', 'open', 'merged'],
    );
    await host.issues.edit(issue, { state: 'closed' });
    await call(200, 'POST', `${at}/github/sync`);
    const link = await call<{ issue: Body; pr: Body }>(200, 'GET', `${at}/github`);
    assert.deepEqual([link.issue.state, link.pr.state], ['closed', 'merged']);

    // All of it hangs together, and can be read without the daemon.
    const graph = await call<{ edges: Body[]; dangling: Body[] }>(
      200,
      'GET',
      '/api/codehost/traceability',
    );
    const kinds = new Set(graph.edges.map(({ kind }) => kind));
    assert.deepEqual(
      KINDS.filter((kind) => !kinds.has(kind)),
      [],
    );
    assert.deepEqual(graph.dangling, []);
    const dir = join(workspace, String(item.path));
    assert.deepEqual(
      FILES_KEPT.filter((file) => !existsSync(join(dir, file))),
      [],
    );
  });
});

const KINDS = [
  'issue-imported_as-case',
  'case-has-session',
  'case-has-pr',
  'pr-closes-issue',
  'case-has-proof',
];

const FILES_KEPT = [
  'case.md',
  'link.md',
  'issue.md',
  'planning.md',
  'memory/tasks.md',
  'pr/pr.md',
  'pr/timeline.ndjson',
];
