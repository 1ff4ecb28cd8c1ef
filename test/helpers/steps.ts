import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { sha256 } from '../../store/base/sha256.ts';
import type { Case } from '../../store/records/case.ts';
import type { Proof } from '../../store/records/proof.ts';
import type { Session } from '../../store/records/session.ts';
import type { Snapshot, SnapshotEntry } from '../../store/records/snapshot.ts';
import type { Webhook } from '../../store/records/webhook.ts';
import { eventually } from './eventually.ts';
import { type killStartOnce, type Place, type Send, type Step, step } from './kill-points.ts';
import type { Running } from './service.ts';
import { fingerprint } from './work-item.ts';

const must = async <T>(answer: ReturnType<Send>): Promise<T> => {
  const { status, body } = (await answer) ?? {};
  assert.ok(status !== undefined && status < 300, JSON.stringify(body));
  return body as T;
};

const newCase = (send: Send, more: object = {}): Promise<Case> =>
  must(send('POST', '/cases', { title: 'Before', type: 'bug', ...more }));

const get = async <T>(life: Running, path: string): Promise<T> => {
  const answer = await life.call<T>('GET', path);
  assert.equal(answer.status, 200, `${path} ${answer.text}`);
  return answer.body;
};

const oneOf = <T>(value: T, before: T, after: T): boolean => {
  assert.ok(value === before || value === after, `${value} is neither ${before} nor ${after}`);
  return value === after;
};

const createCase = step({
  name: 'POST /cases',
  prepare: async () => undefined,
  request: (send) => send('POST', '/cases', { title: 'New', type: 'bug', description: 'x' }),
  judge: async (life) => {
    const cases = await get<Case[]>(life, '/cases');
    for (const item of cases)
      assert.deepEqual([item.title, item.description, item.state], ['New', 'x', 'OPEN']);
    const months = readdirSync(join(life.workspace, 'cases'));
    const dirs = months.flatMap((month) => readdirSync(join(life.workspace, 'cases', month)));
    assert.equal(dirs.length, cases.length, 'no directory without a Work item');
    const done = oneOf(cases.length, 0, 1);
    return { done, told: done ? ['case_created'] : [] };
  },
});

const KEYED = [
  { title: 'New', type: 'bug', description: 'x' },
  { 'content-type': 'application/json', 'idempotency-key': 'the same' },
] as const;

const createCaseOnce = step({
  name: 'POST /cases, with an Idempotency-Key',
  prepare: async () => undefined,
  request: (send) => send('POST', '/cases', ...KEYED),
  judge: async (life) => {
    const [first, again] = [
      await life.call<Case>('POST', '/cases', ...KEYED),
      await life.call<Case>('POST', '/cases', ...KEYED),
    ];
    assert.deepEqual([first.status, again.status], [201, 201], first.text);
    const cases = await get<Case[]>(life, '/cases');
    assert.deepEqual(cases, [first.body], 'it is made once, whatever died when');
    assert.deepEqual(again.body, first.body);
    return { done: true, told: ['case_created'] };
  },
});

const SAME = { 'content-type': 'application/json', 'idempotency-key': 'the same' };

const attachProofOnce = step({
  name: 'POST /cases/:id/proof, with an Idempotency-Key',
  prepare: (send) => newCase(send),
  request: (send, { id }) =>
    send('POST', `/cases/${id}/proof`, { type: 'log', content: 'seen' }, SAME),
  judge: async (life, { id }) => {
    const attach = () =>
      life.call<Proof>('POST', `/cases/${id}/proof`, { type: 'log', content: 'seen' }, SAME);
    const [first, again] = [await attach(), await attach()];
    assert.deepEqual([first.status, again.status], [201, 201], first.text);
    assert.deepEqual(again.body, first.body);
    assert.deepEqual(await get<Proof[]>(life, `/cases/${id}/proof`), [first.body]);
    return { done: true, told: ['proof_created'] };
  },
});

const changeCase = step({
  name: 'PUT /cases/:id',
  prepare: (send) => newCase(send),
  request: (send, { id }) => send('PUT', `/cases/${id}`, { title: 'After' }),
  judge: async (life, { id }) => {
    const done = oneOf((await get<Case>(life, `/cases/${id}`)).title, 'Before', 'After');
    return { done, told: done ? ['case_updated'] : [] };
  },
});

const setState = step({
  name: 'PUT /cases/:id/state',
  prepare: (send) => newCase(send),
  request: (send, { id }) => send('PUT', `/cases/${id}/state`, { state: 'BLOCKED' }),
  judge: async (life, { id }) => {
    const done = oneOf<string>((await get<Case>(life, `/cases/${id}`)).state, 'OPEN', 'BLOCKED');
    return { done, told: done ? ['case_state_changed OPEN BLOCKED'] : [] };
  },
});

const attachProof = step({
  name: 'POST /cases/:id/proof',
  prepare: (send) => newCase(send),
  request: (send, { id }) => send('POST', `/cases/${id}/proof`, { type: 'log', content: 'seen' }),
  judge: async (life, { id }) => {
    const proofs = await get<Proof[]>(life, `/cases/${id}/proof`);
    for (const { content } of proofs) assert.equal(content, 'seen');
    const done = oneOf(proofs.length, 0, 1);
    return { done, told: done ? ['proof_created'] : [] };
  },
});

const verifyProof = step({
  name: 'PUT /cases/:id/proof/:pid/verify',
  prepare: async (send) => {
    const { id } = await newCase(send);
    await must(send('PUT', `/cases/${id}/state`, { state: 'VERIFYING' }));
    const body = { type: 'log', content: 'seen' };
    const proof = await must<Proof>(send('POST', `/cases/${id}/proof`, body));
    return { id, pid: proof.id };
  },
  request: (send, { id, pid }) => send('PUT', `/cases/${id}/proof/${pid}/verify`),
  judge: async (life, { id, pid }) => {
    const { verified } = await get<Proof>(life, `/cases/${id}/proof/${pid}`);
    const { state } = await get<Case>(life, `/cases/${id}`);
    assert.equal(state, verified ? 'RESOLVED' : 'VERIFYING', 'what follows is done, too');
    const told = ['proof_updated true', 'case_state_changed VERIFYING RESOLVED'];
    return { done: verified, told: verified ? told : [] };
  },
});

const BEFORE = 'before\n'.repeat(1000);
const AFTER = 'after\n'.repeat(2000);

const writeMemory = step({
  name: 'PUT /cases/:id/memory/:filename',
  prepare: async (send) => {
    const item = await newCase(send);
    await must(send('PUT', `/cases/${item.id}/memory/notes.md`, BEFORE));
    return item;
  },
  request: (send, { id }) => send('PUT', `/cases/${id}/memory/notes.md`, AFTER),
  judge: async (life, { path }) => {
    const text = readFileSync(join(life.workspace, path, 'memory/notes.md'), 'utf8');
    return { done: oneOf(text, BEFORE, AFTER), told: [] };
  },
});

const removeCase = step({
  name: 'DELETE /cases/:id',
  prepare: async (send, { workspace }) => {
    const { id, path } = await newCase(send);
    await must(send('PUT', `/cases/${id}/memory/notes.md`, BEFORE));
    await must(send('POST', `/cases/${id}/proof`, { type: 'log', content: 'seen' }));
    return { id, dir: path, files: fingerprint(join(workspace, path)) };
  },
  request: (send, { id }) => send('DELETE', `/cases/${id}`),
  calm: (_given, place) => assert.deepEqual(trashOf(place), []),
  judge: async (life, { id, dir, files }) => {
    const done = (await life.call('GET', `/cases/${id}`)).status === 404;
    assert.equal(existsSync(join(life.workspace, dir)), !done, 'all of it or nothing');
    if (!done) assert.deepEqual(fingerprint(join(life.workspace, dir)), files);
    return { done, told: done ? ['case_deleted'] : [] };
  },
});

const trashOf = ({ workspace }: Place): string[] => readdirSync(join(workspace, '.dossier/trash'));

const NOWHERE = 'http://127.0.0.1:9/hook';

const secretsOf = ({ workspace }: Running): string[] =>
  readdirSync(join(workspace, '.dossier/secrets')).toSorted();

const webhooksOf = async (life: Running): Promise<string[]> => {
  const ids = (await get<Webhook[]>(life, '/webhooks')).map(({ id }) => id).toSorted();
  assert.deepEqual(secretsOf(life), ids, 'each has its secret, and no secret is of nobody');
  return ids;
};

const registerWebhook = step({
  name: 'POST /webhooks',
  prepare: async () => undefined,
  request: (send) => send('POST', '/webhooks', { url: NOWHERE }),
  judge: async (life) => ({ done: oneOf((await webhooksOf(life)).length, 1, 2), told: [] }),
});

const registerWebhookOnce = step({
  name: 'POST /webhooks, with an Idempotency-Key',
  prepare: async () => undefined,
  request: (send) => send('POST', '/webhooks', { url: NOWHERE }, SAME),
  judge: async (life) => {
    const register = () => life.call<Webhook>('POST', '/webhooks', { url: NOWHERE }, SAME);
    const [first, again] = [await register(), await register()];
    assert.deepEqual([first.status, again.status], [201, 201], first.text);
    assert.equal(again.text, first.text);
    assert.equal((await webhooksOf(life)).length, 2);
    return { done: true, told: [] };
  },
});

const removeWebhook = step({
  name: 'DELETE /webhooks/:id',
  prepare: (send) => must<Webhook>(send('POST', '/webhooks', { url: NOWHERE })),
  request: (send, { id }) => send('DELETE', `/webhooks/${id}`),
  judge: async (life, { id }) => ({ done: !(await webhooksOf(life)).includes(id), told: [] }),
});

const GLOBAL = '/api/global-memory';

const writeGlobal = step({
  name: 'POST /api/global-memory/write',
  prepare: (send) => must(send('POST', `${GLOBAL}/write`, { content: BEFORE, mode: 'replace' })),
  request: (send) => send('POST', `${GLOBAL}/write`, { content: AFTER, mode: 'append' }),
  judge: async (life) => {
    const { text } = await life.call('GET', `${GLOBAL}/global.md`);
    return { done: oneOf(text, BEFORE, BEFORE + AFTER), told: [] };
  },
});

const snapshot = step({
  name: 'POST /api/global-memory/snapshot',
  prepare: (send) => must(send('POST', `${GLOBAL}/write`, { content: BEFORE, mode: 'replace' })),
  request: (send) => send('POST', `${GLOBAL}/snapshot`),
  judge: async (life) => {
    const kept = await get<SnapshotEntry[]>(life, `${GLOBAL}/snapshots`);
    for (const { id } of kept) {
      const { files } = await get<Snapshot>(life, `${GLOBAL}/snapshots/${id}`);
      assert.deepEqual(
        files.map(({ content }) => content),
        [BEFORE],
      );
    }
    return { done: oneOf(kept.length, 0, 1), told: [] };
  },
});

const inWorktree = async (send: Send): Promise<{ id: string }> => {
  const { id } = await newCase(send);
  await must(send('POST', '/api/worktrees', { case_id: id }));
  await must(send('POST', `/cases/${id}/editor/files`, { path: 'src/one.txt', content: BEFORE }));
  return { id };
};

/** Reads a file of the worktree, and then does with it what a client may: 404 as undefined. */
const useFile = async (life: Running, id: string, path: string): Promise<string | undefined> => {
  const at = `/cases/${id}/editor`;
  const file = `${at}/files?path=${path}`;
  const read = await life.call<{ content: string }>('GET', file);
  assert.ok([200, 404].includes(read.status), read.text);
  const folder = path.slice(0, path.lastIndexOf('/'));
  const listed = await life.call('GET', `${at}/directories?path=${folder}`);
  assert.ok([200, 404].includes(listed.status), listed.text);
  assert.equal(listed.text.includes(`"path":"${path}"`), read.status === 200);
  if (read.status === 404) {
    const made = await life.call('POST', `${at}/files`, { path, content: AFTER });
    assert.equal(made.status, 201, made.text);
  }
  const written = await life.call('PUT', file, { content: BEFORE });
  assert.equal(written.status, 200, written.text);
  assert.equal((await life.call('DELETE', file)).status, 204);
  return read.status === 200 ? read.body.content : undefined;
};

const writeInWorktree = step({
  name: 'PUT /cases/:id/editor/files',
  needsRepository: true,
  prepare: inWorktree,
  request: (send, { id }) =>
    send('PUT', `/cases/${id}/editor/files?path=src/one.txt`, { content: AFTER }),
  judge: async (life, { id }) => {
    const text = await useFile(life, id, 'src/one.txt');
    return { done: oneOf(text, BEFORE, AFTER), told: [] };
  },
});

const makeInWorktree = step({
  name: 'POST /cases/:id/editor/files',
  needsRepository: true,
  prepare: inWorktree,
  request: (send, { id }) =>
    send('POST', `/cases/${id}/editor/files`, { path: 'src/a/b/new.txt', content: AFTER }),
  judge: async (life, { id }) => {
    const text = await useFile(life, id, 'src/a/b/new.txt');
    return { done: oneOf(text, undefined, AFTER), told: [] };
  },
});

const PLAN = '```sh\necho once >> done.txt\n```\n';

const sessionIn = async (send: Send): Promise<{ id: string; sid: string; path: string }> => {
  const { id, path } = await newCase(send, { description: PLAN });
  const session = must<Session>(send('POST', `/cases/${id}/sessions`, { type: 'implementing' }));
  const { id: sid } = await session;
  await eventually(async () => {
    const { status } = await must<Session>(send('GET', `/cases/${id}/sessions/${sid}`));
    assert.equal(status, 'plan_ready');
  });
  return { id, sid, path };
};

const approvePlan = step({
  name: 'POST /cases/:id/sessions/:sid/approve',
  needsRepository: true,
  prepare: (send) => sessionIn(send),
  request: (send, { id, sid }) => send('POST', `/cases/${id}/sessions/${sid}/approve`),
  calm: ({ path }, { workspace }) =>
    assert.match(sessionFile(workspace, path), /status: completed/),
  judge: async (life, { id, sid }) => {
    const { mode, status, approved_sha256 } = await get<Session>(
      life,
      `/cases/${id}/sessions/${sid}`,
    );
    const approved = await life.call('GET', `/cases/${id}/sessions/${sid}/plan?which=approved`);
    assert.equal(approved.status, mode === 'work' ? 200 : 404);
    if (mode === 'work') assert.equal(sha256(approved.bytes), approved_sha256);
    const { state } = await get<Case>(life, `/cases/${id}`);
    const worktree = join(life.workspace, '.dossier/worktrees');
    const [name = ''] = readdirSync(worktree).filter((each) => !each.endsWith('.json'));
    const file = join(worktree, name, 'done.txt');
    const work = existsSync(file) ? readFileSync(file, 'utf8') : '';
    assert.ok(work === '' || work === 'once\n', 'the plan was not carried out twice');
    const found = `${mode} ${status} ${state}`;
    const told = WAYS[found];
    assert.ok(told !== undefined, `no session is ${found}`);
    if (mode === 'plan') assert.equal(work, '', 'nothing runs unapproved');
    return { done: mode === 'work', told };
  },
});

const sessionFile = (workspace: string, path: string): string => {
  const folder = join(workspace, path, 'sessions');
  const [name = ''] = readdirSync(folder).filter((each) => /^\d{4}-/.test(each));
  return readFileSync(join(folder, name, 'session.md'), 'utf8');
};

const STARTED = ['case_state_changed PLANNING IMPLEMENTING', 'session_started'];
const WAYS: Record<string, string[]> = {
  'plan plan_ready INVESTIGATING': [],
  'work paused IMPLEMENTING': [...STARTED, 'agent_completed'],
  'work completed VERIFYING': [
    ...STARTED,
    'case_state_changed IMPLEMENTING VERIFYING',
    'agent_completed',
    'session_completed',
  ],
};

/** The requests that write, each of another kind. */
export const STEPS: readonly Step[] = [
  createCase,
  createCaseOnce,
  attachProofOnce,
  registerWebhookOnce,
  changeCase,
  setState,
  attachProof,
  verifyProof,
  writeMemory,
  removeCase,
  registerWebhook,
  removeWebhook,
  writeGlobal,
  snapshot,
  writeInWorktree,
  makeInWorktree,
  approvePlan,
];

/** A start that has something to mend: an edit by hand, a Work item half removed, one made by hand. */
export const START: Parameters<typeof killStartOnce>[1] = {
  name: 'a start',
  prepare: async (send) => {
    const { path } = await newCase(send);
    return { path, gone: (await newCase(send)).path };
  },
  work: ({ workspace }, given) => {
    const { path, gone } = given as { path: string; gone: string };
    const file = join(workspace, path, 'case.md');
    writeFileSync(file, readFileSync(file, 'utf8').replace('state: OPEN', 'state: BLOCKED'));
    renameSync(join(workspace, gone), join(workspace, '.dossier/trash/gone'));
    mkdirSync(join(workspace, 'cases/by-hand'));
    writeFileSync(join(workspace, 'cases/by-hand/case.md'), '---\ntitle: By hand\n---\n');
    writeFileSync(join(workspace, '.dossier/tmp/half'), 'a half-written fi');
  },
  judge: async (life) => {
    const cases = await get<Case[]>(life, '/cases');
    assert.deepEqual(cases.map(({ title, state }) => `${title} ${state}`).toSorted(), [
      'Before BLOCKED',
      'By hand OPEN',
    ]);
    const told = ['case_created', 'case_state_changed OPEN BLOCKED', 'case_deleted'];
    return { done: true, told };
  },
};
