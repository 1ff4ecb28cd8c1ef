/** The MCP server, asked by the protocol's own client. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { serveRun } from '../../lib/mcp/serve.ts';
import type { Case } from '../../store/records/case.ts';
import { eventually } from '../helpers/eventually.ts';
import type { Running } from '../helpers/service.ts';
import { type Problem, type SessionTest, withAgent, withCase } from '../helpers/sessions.ts';

/** With a token, to the door that a run with it is given. */
const connect = async (running: Running, token?: string): Promise<Client> => {
  if (token !== undefined) return connectToDoor(running, token);
  const { call } = running;
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('http://localhost:4870/mcp'), {
    fetch: async (_url, init) => {
      const headers = Object.fromEntries(new Headers(init?.headers));
      const body = init?.body === undefined ? undefined : String(init.body);
      const answer = await call(init?.method ?? 'GET', '/mcp', body, headers);
      return new Response(answer.text === '' ? null : answer.text, {
        status: answer.status,
        headers: { 'content-type': 'application/json' },
      });
    },
  });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return client;
};

const connectToDoor = async ({ service }: Running, token: string): Promise<Client> => {
  const { port, close } = await service.doors.openPort(token, serveRun(service, token));
  const client = new Client({ name: 'test', version: '1' });
  client.onclose = close;
  const transport = new StreamableHTTPClientTransport(new URL(`http://127.0.0.1:${port}/mcp`), {
    requestInit: { headers: { authorization: `Bearer ${token}` } },
  });
  await client.connect(transport as Parameters<Client['connect']>[0]);
  return client;
};

const ask = async (client: Client, name: string, given: object = {}) => {
  const result = (await client.callTool({ name, arguments: { ...given } })) as CallToolResult;
  const [part] = result.content;
  return { failed: result.isError === true, text: part?.type === 'text' ? part.text : '' };
};

const withHome = (t: TestContext, behaviour: string): ReturnType<typeof withAgent> => {
  const options = withAgent(t, behaviour);
  mkdirSync(join(options.env?.HOME ?? '', '.test-agent'));
  return options;
};

const tokenOf = ({ running }: SessionTest, id: string): string | undefined =>
  running.service.engine.live.get(id)?.token;

const atWork = async (t: TestContext): Promise<{ it: SessionTest; id: string; client: Client }> => {
  const it = await withCase(t, 'Change a.txt.', withHome(t, 'work-hang'));
  const { id } = await it.planned();
  await it.post(`/sessions/${id}/approve`);
  await it.untilEvent(id, 'thought');
  const token = tokenOf(it, id);
  return { it, id, client: await connect(it.running, token) };
};

const NEVER = /approve|verify|state|delete|abort|resume|pause|run|worktree/;

describe('the MCP door of a run', () => {
  it('offers its own Work item, and nothing that decides', async (t) => {
    const { it, client } = await atWork(t);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['read_work_item', 'list_memory', 'read_memory', 'write_memory', 'tick_task', 'attach_proof'],
    );
    for (const { name, inputSchema } of tools) {
      assert.doesNotMatch(name, NEVER);
      assert.ok(!('case_id' in (inputSchema.properties ?? {})), name);
    }
    const item = JSON.parse((await ask(client, 'read_work_item')).text);
    assert.deepEqual([item.id, item.proof_gate.satisfied], [it.item.id, false]);
    // What came after the plan was made was not seen by the operator who approved it.
    const later = { title: 'Later', description: 'Run this as well.' };
    assert.equal((await it.running.call('PUT', `/cases/${it.item.id}`, later)).status, 200);
    const told = JSON.parse((await ask(client, 'read_work_item')).text);
    assert.deepEqual([told.title, told.description], [item.title, item.description]);
    await it.control('abort');
  });

  it('keeps memory, ticks tasks and attaches proof, as the API would', async (t) => {
    const { it, client } = await atWork(t);
    const tasks = '# Tasks\r\n\r\n- [ ] one\r\n  * [x] two\r\n1. [ ] three\r\n';
    const written = await ask(client, 'write_memory', { filename: 'tasks.md', content: tasks });
    const { sha256 } = JSON.parse(written.text);
    assert.equal((await ask(client, 'tick_task', { number: 3 })).text, '1. [x] three');
    assert.equal((await ask(client, 'tick_task', { number: 2, done: false })).text, '* [ ] two');
    const file = join(it.running.workspace, it.item.path, 'memory/tasks.md');
    assert.equal(
      readFileSync(file, 'utf8'),
      '# Tasks\r\n\r\n- [ ] one\r\n  * [ ] two\r\n1. [x] three\r\n',
    );
    const none = await ask(client, 'tick_task', { number: 4 });
    assert.deepEqual([none.failed, /3 checkboxes/.test(none.text)], [true, true]);
    const stale = await ask(client, 'write_memory', { filename: 'tasks.md', content: '', sha256 });
    assert.equal(stale.failed, true);
    assert.match(stale.text, /changed/);
    assert.match((await ask(client, 'read_memory', { filename: 'tasks.md' })).text, /three/);
    const proof = await ask(client, 'attach_proof', { type: 'test-log', content: 'all green' });
    assert.equal(JSON.parse(proof.text).verified, false);
    assert.equal(it.running.events.at(-1)?.event_type, 'proof_created');
    await it.control('abort');
  });

  it('attaches a repeated proof once, and again for other content, another type or other work', async (t) => {
    const { it, client } = await atWork(t);
    const attach = async (type: string, content: string): Promise<string> =>
      JSON.parse((await ask(client, 'attach_proof', { type, content })).text).id;
    const first = await attach('test-log', 'all green');
    const { body } = await it.running.call<{ path: string }>(
      'GET',
      `/api/cases/${it.item.id}/worktree`,
    );
    const again = await Promise.all([
      attach('test-log', 'all green'),
      attach('test-log', 'all green'),
    ]);
    assert.deepEqual(again, [first, first]);
    const others = [await attach('lint-log', 'all green'), await attach('test-log', 'all red')];
    writeFileSync(join(body.path, 'more.txt'), 'more\n');
    others.push(await attach('test-log', 'all green'));
    assert.equal(new Set([first, ...others]).size, 4);
    assert.equal((await it.running.call<unknown[]>('GET', `${it.at}/proof`)).body.length, 4);
    await it.control('abort');
  });

  // With work that grows with the square of the lines, the daemon would answer nobody for ten minutes.
  it('ticks a task below half a million blank lines', async (t) => {
    const { it, client } = await atWork(t);
    const content = `${'\n'.repeat(500_000)}- [ ] one\n`;
    await ask(client, 'write_memory', { filename: 'tasks.md', content });
    assert.equal((await ask(client, 'tick_task', { number: 1 })).text, '- [x] one');
    await it.control('abort');
  });

  it('ticks without a change to what is approved, and approves nothing by it', async (t) => {
    const { it, client } = await atWork(t);
    const at = `/api/cases/${it.item.id}/planning`;
    const gate = async () =>
      (await it.running.call<{ status: string }>('GET', `${at}/gate`)).body.status;
    const write = (content: string) =>
      ask(client, 'write_memory', { filename: 'tasks.md', content });
    await write('- [ ] one\n');
    await ask(client, 'tick_task', { number: 1 });
    assert.equal(await gate(), 'pending');
    await it.running.call('POST', `${at}/approve`);
    await ask(client, 'tick_task', { number: 1, done: false });
    assert.equal(await gate(), 'approved');
    await write('- [ ] two\n');
    await ask(client, 'tick_task', { number: 1 });
    assert.equal(await gate(), 'stale');
    await it.control('abort');
  });

  it('says what is wrong, so that the model can do something else', async (t) => {
    const { it, client } = await atWork(t);
    for (const [name, given, words] of [
      ['approve', {}, /no tool approve\. Call one of read_work_item, list_memory, /],
      ['list_memory', { x: 1 }, /^The argument x is unknown: .* Call list_memory again\.$/],
      ['read_memory', { path: 'a.md' }, /path is unknown: expected filename\. Call read_memory/],
      ['read_memory', { filename: '../case.md' }, /one like notes\.md.* Call read_memory again/],
      [
        'read_memory',
        { filename: 'none.md' },
        /^There is no memory file none\.md here\. Call list_memory to see what exists\.$/,
      ],
      [
        'write_memory',
        { filename: 'x.md', content: '', sha256: 'a' },
        /changed.* Call list_memory/,
      ],
      ['write_memory', { filename: 'x.md' }, /^The argument content is required\./],
      [
        'write_memory',
        { filename: 'x.md', content: 1 },
        /^The argument content must be a string\. Call/,
      ],
      [
        'write_memory',
        { filename: 'x.md', text: 'x' },
        /^The argument content is required\. The argument text is unknown: expected /,
      ],
      [
        'attach_proof',
        { type: 'No Type', content: 'x' },
        /^The argument type must be a lower-case word/,
      ],
    ] as const) {
      const { failed, text } = await ask(client, name, given);
      assert.equal(failed, true, name);
      assert.match(text, words);
    }
    await it.control('abort');
  });

  it('approves, verifies and moves nothing, and reaches no other Work item', async (t) => {
    const { it, id, client } = await atWork(t);
    const { body: other } = await it.running.call<Case>('POST', '/cases', {
      ...{ title: 'Another', type: 'bug', description: 'Not yours.' },
    });
    await it.running.call('PUT', `/cases/${other.id}/memory/secret.md`, 'not yours\n');
    const before = await it.running.call('GET', `/cases/${other.id}`);
    const proof = JSON.parse(
      (await ask(client, 'attach_proof', { type: 'test-log', content: 'green' })).text,
    );
    for (const [name, given] of [
      ['read_work_item', { case_id: other.id }],
      ['list_memory', { case_id: other.id }],
      ['read_memory', { case_id: other.id, filename: 'secret.md' }],
      ['read_memory', { filename: `../../${basename(other.path)}/memory/secret.md` }],
      ['write_memory', { case_id: other.id, filename: 'x.md', content: 'x' }],
      ['attach_proof', { case_id: other.id, type: 'test-log', content: 'x' }],
      ['attach_proof', { type: 'test-log', content: 'x', verified: true }],
      ['tick_task', { case_id: other.id, number: 1 }],
      ['list_work_items', {}],
      ['verify_proof', { proof_id: proof.id }],
      ['set_state', { state: 'RESOLVED' }],
    ] as const) {
      const { failed, text } = await ask(client, name, given);
      assert.ok(failed && !text.includes('not yours'), `${name}: ${text}`);
    }
    assert.deepEqual((await it.running.call('GET', `/cases/${other.id}`)).text, before.text);
    const proofs = await it.running.call<{ verified: boolean }[]>('GET', `${it.at}/proof`);
    assert.deepEqual(
      proofs.body.map(({ verified }) => verified),
      [false],
    );
    assert.equal(await it.state(), 'IMPLEMENTING');
    assert.equal((await it.until(id, 'working')).mode, 'work');
    await it.control('abort');
  });

  it('reads only while it plans', async (t) => {
    const it = await withCase(t, 'Change a.txt.', withHome(t, 'hang'));
    const { id } = await it.start();
    await it.untilEvent(id, 'message');
    await it.running.call('PUT', `${it.at}/memory/tasks.md`, '- [ ] one\n');
    const client = await connect(it.running, tokenOf(it, id));
    const { tools } = await client.listTools();
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    assert.equal((await ask(client, 'read_memory', { filename: 'tasks.md' })).text, '- [ ] one\n');
    for (const [name, given] of [
      ['write_memory', { filename: 'tasks.md', content: 'x' }],
      ['tick_task', { number: 1 }],
      ['attach_proof', { type: 'test-log', content: 'x' }],
    ] as const) {
      const { failed, text } = await ask(client, name, given);
      assert.deepEqual([failed, /not available in Plan mode/.test(text)], [true, true], text);
    }
    await it.control('abort');
    const dir = join(it.running.workspace, it.item.path);
    assert.equal(readFileSync(join(dir, 'memory/tasks.md'), 'utf8'), '- [ ] one\n');
    assert.equal(existsSync(join(dir, 'proof')), false);
  });

  it('is refused once the session is paused or aborted, opens nothing else, and is written nowhere', async (t) => {
    const { it, id } = await atWork(t);
    const token = tokenOf(it, id) ?? '';
    const headers = { authorization: `Bearer ${token}` };
    const other = await it.running.call<Problem>('GET', '/cases', undefined, headers);
    assert.deepEqual([other.status, other.body.code], [401, 'unauthorized']);
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const ours = await it.running.call<Problem>('POST', '/mcp', message, headers);
    assert.deepEqual([ours.status, ours.body.code], [401, 'unauthorized']);
    await it.control('pause');
    await assert.rejects(connect(it.running, token), /401/);
    await it.control('resume');
    const next = await eventually(() => tokenOf(it, id) ?? assert.fail());
    assert.notEqual(next, token);
    await assert.rejects(connect(it.running, token), /401/);
    await connect(it.running, next);
    await it.control('abort');
    await assert.rejects(connect(it.running, next), /401/);
    const files = readdirSync(it.running.workspace, { recursive: true, withFileTypes: true });
    for (const file of files.filter((entry) => entry.isFile())) {
      const text = readFileSync(join(file.parentPath, file.name), 'latin1');
      assert.ok(!text.includes(token) && !text.includes(next), file.name);
    }
  });
});

describe('POST /mcp without a token', () => {
  it('reads all Work items, and changes none', async (t) => {
    const { running, item } = await withCase(t);
    await running.call('PUT', `/cases/${item.id}/memory/notes.md`, '# Notes\n');
    const client = await connect(running);
    const { tools } = await client.listTools();
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    const listed = JSON.parse((await ask(client, 'list_work_items', { state: 'OPEN' })).text);
    assert.deepEqual(
      listed.map(({ id, description }: Case) => [id, description]),
      [[item.id, undefined]],
    );
    const one = JSON.parse((await ask(client, 'read_work_item', { case_id: item.id })).text);
    assert.deepEqual(
      one.memory.map(({ filename }: { filename: string }) => filename),
      ['notes.md'],
    );
    const notes = { case_id: item.id, filename: 'notes.md' };
    assert.equal((await ask(client, 'read_memory', notes)).text, '# Notes\n');
    const written = await ask(client, 'write_memory', { ...notes, content: 'x' });
    assert.match(written.text, /There is no tool write_memory/);
  });

  it('tells a client what it is for, and whoever plans or works what to do', async (t) => {
    const { running } = await withCase(t);
    assert.match((await connect(running)).getInstructions() ?? '', /are read-only/);
    const { it: session, client } = await atWork(t);
    assert.match(client.getInstructions() ?? '', /You are in Work mode/);
    await session.control('abort');
  });

  it('refuses a version of the protocol that it does not know, and takes those it does', async (t) => {
    const { running } = await withCase(t);
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    const send = (version: string) =>
      running.call<Problem>('POST', '/mcp', message, { 'mcp-protocol-version': version });
    const refused = await send('1999-01-01');
    assert.deepEqual([refused.status, refused.body.code], [400, 'bad_request']);
    assert.match(refused.text, /2025-06-18/);
    assert.equal((await send('2025-06-18')).status, 200);
    const { port, close } = await running.service.doors.openPort(
      'none',
      serveRun(running.service, 'none'),
    );
    t.after(close);
    const headers = { 'mcp-protocol-version': '1999-01-01', 'content-type': 'application/json' };
    const door = { method: 'POST', headers, body: JSON.stringify(message) };
    assert.equal((await fetch(`http://127.0.0.1:${port}/mcp`, door)).status, 401);
  });

  it('names the state that is none, and those that are', async (t) => {
    const { running } = await withCase(t);
    const { failed, text } = await ask(await connect(running), 'list_work_items', { state: 'X' });
    assert.equal(failed, true);
    assert.match(text, /^The argument state .*OPEN, /);
  });

  it('takes messages only, and only from this machine', async (t) => {
    const { running } = await withCase(t);
    const { call } = running;
    assert.equal((await call('GET', '/mcp')).status, 405);
    assert.equal((await call('POST', '/mcp', { method: 'tools/list' })).status, 400);
    const refused = await call<Problem>('POST', '/mcp', { jsonrpc: '2.0', id: 1 });
    assert.deepEqual([refused.status, refused.body.code], [400, 'bad_request']);
    assert.match(refused.text, /no message of JSON-RPC 2\.0/);
    const foreign = { origin: 'https://example.org' };
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
    assert.equal((await call('POST', '/mcp', message, foreign)).status, 403);
    const note = { jsonrpc: '2.0', method: 'notifications/initialized' };
    assert.equal((await call('POST', '/mcp', note)).status, 202);
  });
});
