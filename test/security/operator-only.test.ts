/** The API is the operator's: what anybody may call says so itself, and all else refuses whoever is not the operator. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { openApi } from '../../lib/http/openapi.ts';
import { sections } from '../../routes/index.ts';
import { treeOf } from '../helpers/adversary.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { CALL_ALL, type Call, everyCall } from '../helpers/every-route.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const OPEN = [
  'GET /health',
  'GET /version',
  'POST /api/codehost/webhook',
  'POST /api/daemon/challenge',
];
const OTHER = 65_533;
const routes = sections.flatMap((section) => section.routes);

describe('a route', () => {
  it('is the operator’s alone unless it opts out, as four do', () => {
    const open = routes.filter(({ anyone }) => anyone === true);
    assert.deepEqual(open.map(({ method, path }) => `${method} ${path}`).toSorted(), OPEN);
  });

  it('declares not_operator unless it opts out', () => {
    const document = openApi(sections, [], '1.0.0') as {
      paths: Record<string, Record<string, { responses: Record<string, { $ref?: string }> }>>;
    };
    const undeclared = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods)
        .filter(([, { responses }]) => !responses['403']?.$ref?.includes('not_operator'))
        .map(([method]) => `${method.toUpperCase()} ${path}`),
    );
    assert.deepEqual(undeclared.toSorted(), OPEN);
  });
});

interface Made {
  id: string;
}

/** A daemon with something at every path, whose one session without a sandbox makes every call once it is told to. */
const scene = async (t: TestContext) => {
  const { root } = makeRepository(t);
  const [workspace, home, at] = [
    temporaryDirectory(t),
    temporaryDirectory(t),
    temporaryDirectory(t),
  ];
  chmodSync(at, 0o777);
  writeFiles(at, { 'call-all.mjs': CALL_ALL });
  writeFiles(workspace, { 'workspace.md': '---\nsandbox: off\n---\n' });
  const args = ['--workspace', workspace, '--repo', root, '--dev'];
  const { url } = await startDaemon(t, args, { HOME: home });
  const call = async (method: string, path: string, body?: unknown) => {
    const json = typeof body !== 'string';
    const answer = await fetch(`${url}${path}`, {
      method,
      headers: { 'content-type': json ? 'application/json' : 'text/markdown' },
      ...(body !== undefined && { body: json ? JSON.stringify(body) : body }),
    });
    const text = await answer.text();
    assert.ok(answer.ok, `${method} ${path}: ${text}`);
    return (text.startsWith('{') ? JSON.parse(text) : {}) as Made;
  };
  const script = `${process.execPath} ${at}/call-all.mjs ${url} ${at}/calls.json`;
  const wait = (name: string): string => `until [ -e ${at}/${name} ]; do sleep 0.1; done`;
  const description = `\`\`\`sh\n: > ${at}/up\n${wait('go')}\n${script} ${at}/agent.json\n${wait('end')}\n\`\`\`\n`;
  const item = await call('POST', '/cases', { title: 'Mine', type: 'chore', description });
  const known = await fill(call, `/cases/${item.id}`, item.id);
  const session = await call('POST', `/cases/${item.id}/sessions`, { type: 'implementing' });
  const calls = everyCall({ ...known, sid: session.id });
  writeFileSync(join(at, 'calls.json'), JSON.stringify(calls));
  const approve = `/cases/${item.id}/sessions/${session.id}/approve`;
  await eventually(() => call('POST', approve));
  await eventually(() => assert.ok(existsSync(join(at, 'up'))));
  // Deliveries are tried again all the while.
  const picture = () =>
    [workspace, root, home].flatMap((dir) => treeOf(dir, /^(?!\.dossier\/deliveries\/)/));
  return { at, calls, picture, script, call };
};

type Send = (method: string, path: string, body?: unknown) => Promise<Made>;

/** Something at every path: what a refusal is of could have been done. */
const fill = async (call: Send, at: string, case_id: string): Promise<Record<string, string>> => {
  const proof = await call('POST', `${at}/proof`, { type: 'log', content: 'it ran' });
  const asked = { description: 'It runs', type: 'log', required: false };
  const listed = await call('POST', `${at}/proof/checklist`, asked);
  const receiver = { url: 'https://example.org/hook' };
  const [one, all] = [
    await call('POST', `${at}/webhooks`, receiver),
    await call('POST', '/webhooks', receiver),
  ];
  await call('PUT', `${at}/memory/notes.md`, '# Notes\n');
  await call('POST', '/api/global-memory/write', { content: 'Known\n', mode: 'append' });
  const kept = await call('POST', '/api/global-memory/snapshot');
  await call('POST', '/api/worktrees', { case_id });
  return {
    ...{ id: case_id, case_id, pid: proof.id, item_id: listed.id, webhook_id: one.id },
    ...{ '/webhooks/': all.id, '/api/global-memory/snapshots/': kept.id },
    ...{ filename: 'notes.md', '/api/global-memory/': 'memory.md', language: 'typescript' },
    ...{ '/trusted/': 'sandbox', '/projects/': 'default', '/providers/': 'runbook', number: '1' },
    ...{ delivery_id: NONE, recovery_id: NONE, request_id: NONE, review_id: NONE, update_id: NONE },
    ...{ question_id: NONE, topic: 'sessions', agent: 'claude-code' },
  };
};

const NONE = '11111111-1111-4111-8111-111111111111';

const refusedAll = (calls: readonly Call[], file: string): void => {
  const answers = JSON.parse(readFileSync(file, 'utf8')) as string[];
  assert.equal(answers.length, calls.length);
  const passed = calls.flatMap(({ method, path, open }, nth) => {
    const refused = answers[nth] === (method === 'HEAD' ? '403' : '403 not_operator');
    return refused === open ? [`${method} ${path}: ${answers[nth]}`] : [];
  });
  assert.deepEqual(passed, []);
};

const without = (lines: string[], others: string[]): string[] => {
  const known = new Set(others);
  return lines.filter((line) => !known.has(line));
};

// What came before is told for a moment still: of a time in which nothing happens, two pictures are one.
const still = (picture: () => string[]): Promise<string[]> =>
  eventually(async () => {
    const before = picture();
    await setTimeout(1000);
    assert.deepEqual(picture(), before);
    return before;
  });

describe('every operation', { skip: process.platform !== 'linux' && 'tells who calls' }, () => {
  it('refuses an agent and another user, and changes nothing', async (t) => {
    const { at, calls, picture, script, call } = await scene(t);
    const before = await still(picture);
    writeFileSync(join(at, 'go'), '');
    await eventually(() => assert.ok(existsSync(join(at, 'agent.json'))));
    refusedAll(calls, join(at, 'agent.json'));
    if (process.getuid?.() === 0) {
      const [program = '', ...args] = [...script.split(' '), join(at, 'other.json')];
      execFileSync(program, args, { uid: OTHER, gid: OTHER, cwd: '/' });
      refusedAll(calls, join(at, 'other.json'));
    }
    const after = picture();
    assert.deepEqual([without(before, after), without(after, before)], [[], []]);
    writeFileSync(join(at, 'end'), '');
    // The operator's calls go through all the while; a picture that is always the same would prove nothing.
    await call('POST', '/cases', { title: 'Another', type: 'chore' });
    assert.notDeepEqual(without(picture(), before), []);
  });
});
