import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { WebSocket } from 'ws';
import { atEnd } from '../../../helpers/at-end.ts';
import { type Daemon, startDaemon } from '../../../helpers/daemon.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually, until } from '../../../helpers/eventually.ts';
import { processesNaming } from '../../../helpers/processes.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { scriptedServer } from '../../../helpers/scripted-language-server.ts';

type Message = { id?: unknown; method?: string; params?: unknown; result?: unknown };

interface Speaking {
  socket: WebSocket;
  heard: Message[];
  ended: Promise<{ code: number; reason: string }>;
  send(message: object): void;
  ask(id: unknown, method: string, params?: unknown): Promise<Message>;
}

interface Bench<D> {
  daemon: D;
  workspace: string;
  program: string;
  connect(query?: string): Promise<Speaking>;
  post(
    path: string,
    body: object,
  ): Promise<{ status: number; body: Record<string, unknown>; headers: Headers }>;
}

const benchOn =
  <D extends { url: string }>(begin: (t: TestContext, args: string[]) => Promise<D>) =>
  async (t: TestContext, mode?: string): Promise<Bench<D>> => {
    const workspace = temporaryDirectory(t);
    const { path: program, setting } = scriptedServer(t, mode);
    writeFiles(workspace, { 'workspace.md': `---\n${setting}\n---\n` });
    const { root } = makeRepository(t, { files: { 'src/main.rs': 'fn main() {}\n' } });
    const daemon = await begin(t, ['--workspace', workspace, '--repo', root]);
    return {
      ...{ daemon, workspace, program },
      connect: (query = 'project_id=default') => speak(t, `${wsOf(daemon)}/lsp/rust/ws?${query}`),
      post: async (path, body) => {
        const answer = await fetch(daemon.url + path, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify(body),
        });
        const text = await answer.text();
        return {
          status: answer.status,
          headers: answer.headers,
          body: text ? JSON.parse(text) : {},
        };
      },
    };
  };

const start = benchOn(startHere);
/** Its daemon is a process of its own, which has its own memory and can be killed. */
const startApart = benchOn(startDaemon);

const wsOf = ({ url }: { url: string }): string => url.replace('http', 'ws');

const speak = async (t: TestContext, url: string): Promise<Speaking> => {
  const socket = new WebSocket(url);
  atEnd(t, () => socket.terminate());
  const heard: Message[] = [];
  socket.on('message', (data: Buffer) => heard.push(JSON.parse(data.toString())));
  const ended = once(socket, 'close').then(([code, reason]) => ({ code, reason: String(reason) }));
  await once(socket, 'open');
  const send = (message: object) => socket.send(JSON.stringify({ jsonrpc: '2.0', ...message }));
  return {
    ...{ socket, heard, ended, send },
    ask: (id, method, params) => {
      send({ id, method, params });
      return eventually(
        () => heard.find((one) => one.id === id && !one.method) ?? assert.fail(method),
      );
    },
  };
};

const refusalOf = (
  url: string,
  headers: Record<string, string> = {},
): Promise<{ status: number; body: string }> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(url, { headers });
    socket.on('unexpected-response', async (_request, response) => {
      let body = '';
      for await (const chunk of response) body += chunk;
      resolve({ status: response.statusCode ?? 0, body });
    });
    socket.on('open', () => reject(new Error('it was let in')));
    socket.on('error', reject);
  });

const SAYS = { project_id: 'default' };
const one = (method: string, params: unknown = {}, id: unknown = 1) => ({
  ...SAYS,
  message: { id, method, params },
});

describe('GET /lsp/{language}/ws', () => {
  it('keeps the ids of several clients of one server apart, and answers each', async (t) => {
    const { connect } = await start(t);
    const [a, b] = [await connect(), await connect()];
    const answers = await Promise.all([
      a.ask(1, 'x/echo', 'for a'),
      b.ask(1, 'x/echo', 'for b'),
      a.ask('1', 'x/echo', 'é😀'),
    ]);
    assert.deepEqual(
      answers.map(({ result }) => result),
      ['for a', 'for b', 'é😀'],
    );
    const [first, second] = [await a.ask(2, 'initialize'), await b.ask(2, 'initialize')];
    assert.deepEqual(first.result, second.result);
    assert.equal((await a.ask(3, 'shutdown')).result, null);
    a.send({ method: 'exit' });
    assert.equal((await a.ended).code, 1000);
    const { result } = await b.ask(4, 'x/seen');
    const methods = (result as Message[]).map(({ method }) => method);
    assert.equal(methods.filter((each) => each === 'initialize').length, 1);
    assert.ok(!methods.includes('shutdown') && !methods.includes('exit'));
  });

  it('passes messages that arrive in pieces or together', async (t) => {
    const client = await (await start(t)).connect();
    assert.equal((await client.ask(1, 'x/sliced', 'Ünïcödé 漢 😀')).result, 'Ünïcödé 漢 😀');
    assert.equal((await client.ask(2, 'x/merged', 'two')).result, 'two');
    assert.ok(client.heard.some(({ method }) => method === 'x/first'));
    const large = 'é'.repeat(3_000_000);
    assert.equal((await client.ask(3, 'x/echo', large)).result, large);
  });

  it("passes the server's own requests to the client that came first, and its answer back", async (t) => {
    const { connect } = await start(t);
    const [first, second] = [await connect(), await connect()];
    const answer = second.ask(1, 'x/ask');
    await eventually(() => assert.ok(first.heard.some(({ id }) => id === 'mine')));
    second.send({ id: 'mine', result: 'not asked' });
    first.send({ id: 'mine', result: ['set', null] });
    assert.deepEqual(((await answer).result as Message).result, ['set', null]);
    assert.ok(!second.heard.some(({ id }) => id === 'mine'));
  });

  it('answers in the place of an editor that leaves a request of the server unanswered', async (t) => {
    const { connect } = await start(t);
    const [mute, other] = [await connect(), await connect()];
    const { result } = await other.ask(1, 'x/ask');
    assert.deepEqual((result as Message).result, [null, null]);
    assert.ok(mute.heard.some(({ id }) => id === 'mine'));
    // It is too late, and the next is asked instead of it.
    const answer = other.ask(2, 'x/ask');
    await eventually(() => assert.ok(other.heard.some(({ id }) => id === 'mine')));
    other.send({ id: 'mine', result: ['other'] });
    assert.deepEqual(((await answer).result as Message).result, ['other']);
  });

  it('tells editors with different unsaved texts of a file so, and mixes nothing', async (t) => {
    const { connect } = await start(t);
    const [a, b, c] = [await connect(), await connect(), await connect()];
    const uri = 'file:///main.rs';
    const open = (text: string) => ({
      method: 'textDocument/didOpen',
      params: { textDocument: { uri, languageId: 'rust', version: 1, text } },
    });
    const change = (text: string, version: number) => ({
      method: 'textDocument/didChange',
      params: { textDocument: { uri, version }, contentChanges: [{ text }] },
    });
    const told = ({ heard }: Speaking): Message[] =>
      heard.filter(({ method }) => method === 'window/showMessage');
    a.send(open('saved'));
    await a.ask(1, 'x/echo');
    b.send(open('saved'));
    await b.ask(1, 'x/echo');
    assert.deepEqual([told(a), told(b)], [[], []]);
    b.send(change('of b', 2));
    await eventually(() => assert.deepEqual([told(a).length, told(b).length], [1, 1]));
    assert.match(JSON.stringify(told(a)), /Another editor has different unsaved text/);
    const hover = (who: Speaking, id: number) =>
      who.ask(id, 'textDocument/hover', { textDocument: { uri } });
    assert.equal((await hover(a, 2)).result, 'saved');
    assert.equal((await hover(b, 2)).result, 'of b');
    const seen = ({ heard }: Speaking): string =>
      JSON.stringify(heard.filter(({ method }) => method?.endsWith('publishDiagnostics')));
    assert.match(seen(a), /saved/);
    assert.doesNotMatch(seen(a), /of b/);
    assert.match(seen(b), /of b/);
    assert.match(seen(c), /saved.*of b/);
    b.send(change('saved', 3));
    await b.ask(3, 'x/echo');
    a.send(change('of a', 2));
    await eventually(() => assert.deepEqual([told(a).length, told(b).length], [2, 2]));
    assert.deepEqual(told(c), []);
  });

  it('closes with a reason when the server crashes, and starts another at once; again, after a moment', async (t) => {
    const { connect, post } = await start(t);
    const crash = async (): Promise<void> => {
      const client = await connect();
      client.send({ method: 'x/crash' });
      const { code, reason } = await client.ended;
      assert.equal(code, 4000);
      assert.match(reason, /code 3.*it fell over/);
    };
    await crash();
    assert.equal((await post('/lsp/rust/message', one('x/echo'))).status, 200);
    await crash();
    const refused = await post('/lsp/rust/message', one('x/echo'));
    if (refused.status !== 200) {
      assert.deepEqual([refused.status, refused.body.code], [503, 'unavailable']);
      assert.ok(Number(refused.headers.get('retry-after')) > 0);
    }
    await eventually(async () =>
      assert.equal((await post('/lsp/rust/message', one('x/echo'))).status, 200),
    );
  });

  for (const method of ['x/bad', 'x/huge', 'x/utf8'])
    it(`ends a server that breaks the protocol: ${method}`, async (t) => {
      const { connect, program } = await start(t);
      const client = await connect();
      client.send({ method });
      assert.equal((await client.ended).code, 4002);
      await until(() => processesNaming(program).length === 0);
    });

  it('closes a client whose messages are none, and leaves the others alone', async (t) => {
    const { connect } = await start(t);
    const [bad, good] = [await connect(), await connect()];
    bad.socket.send('this is no JSON');
    assert.equal((await bad.ended).code, 4002);
    assert.equal((await good.ask(1, 'x/echo', 'well')).result, 'well');
  });

  it('stops reading a server that floods until the client that does not read is put out', async (t) => {
    const { connect, daemon } = await startApart(t);
    const [reading, idle] = [await connect(), await connect()];
    const before = memoryOf(daemon);
    idle.socket.pause();
    reading.send({ method: 'x/flood' });
    await until(() => reading.heard.length > 3000);
    reading.socket.terminate();
    assert.ok(memoryOf(daemon) - before < 150_000, 'kB more than before');
    idle.socket.resume();
    assert.equal((await idle.ended).code, 4001);
  });

  it('answers before the upgrade what refuses it', async (t) => {
    const { daemon } = await start(t);
    const at = `${wsOf(daemon)}/lsp/rust/ws`;
    const refused = async (url: string, headers = {}) => {
      const { status, body } = await refusalOf(url, headers);
      return [status, JSON.parse(body).code];
    };
    const good = `${at}?project_id=default`;
    assert.deepEqual(await refused(good, { origin: 'http://evil.example' }), [403, 'not_local']);
    assert.deepEqual(await refused(good, { host: 'evil.example' }), [403, 'not_local']);
    assert.deepEqual(await refused(good, { 'sec-fetch-site': 'cross-site' }), [403, 'not_local']);
    assert.deepEqual(await refused(good, { authorization: 'Bearer no' }), [401, 'unauthorized']);
    assert.deepEqual(await refused(at), [400, 'bad_request']);
    assert.deepEqual(await refused(`${at}?project_id=none`), [404, 'not_found']);
    assert.deepEqual(await refused(`${wsOf(daemon)}/cases`), [404, 'route_not_found']);
    assert.deepEqual(await refused(good.replace('rust', 'cobol')), [400, 'bad_request']);
    const plain = await fetch(good.replace('ws:', 'http:'));
    assert.deepEqual([plain.status, plain.headers.get('upgrade')], [426, 'websocket']);
  });

  it('says what to install where a program is only a name for one', async (t) => {
    const { daemon } = await start(t, 'proxy');
    const { status, body } = await refusalOf(`${wsOf(daemon)}/lsp/rust/ws?project_id=default`);
    assert.equal(status, 503);
    assert.match(body, /Unknown binary.*workspace\.md/);
  });
});

describe('POST /lsp/{language}/message', () => {
  it('takes the JSON-RPC message itself as its body', async (t) => {
    const { post } = await start(t);
    const at = '/lsp/rust/message?project_id=default';
    const ask = { jsonrpc: '2.0', id: 1, method: 'x/echo', params: { project_id: 'mine' } };
    assert.deepEqual((await post(at, ask)).body, { jsonrpc: '2.0', id: 1, result: ask.params });
    assert.equal((await post(at, { jsonrpc: '2.0', method: 'x/note' })).status, 202);
    const without = await post(at, { jsonrpc: '2.0', id: 1, result: null });
    assert.deepEqual([without.status, without.body.code], [400, 'bad_request']);
    const nowhere = await post('/lsp/rust/message', ask);
    assert.deepEqual([nowhere.status, nowhere.body.code], [400, 'bad_request']);
    const nothing = await post(at, { jsonrpc: '2.0', id: 1 });
    assert.match(String(nothing.body.detail), /^\/method is required/);
  });

  it('picks the answer by its id, and answers 202 to a notification', async (t) => {
    const { post } = await start(t);
    const answered = await post('/lsp/rust/message?project_id=default', {
      message: { id: 'a', method: 'x/merged', params: 5 },
    });
    assert.deepEqual(answered.body, { jsonrpc: '2.0', id: 'a', result: 5 });
    const { status } = await post('/lsp/rust/message', { ...SAYS, message: { method: 'x/note' } });
    assert.equal(status, 202);
    const asked = await post('/lsp/rust/message', one('x/ask'));
    assert.deepEqual((asked.body.result as Message).result, [null, null]);
    const nothing = await post('/lsp/rust/message', { ...SAYS, message: { id: 1 } });
    assert.deepEqual([nothing.status, nothing.body.code], [400, 'bad_request']);
  });

  it('refuses a message or a place that is said twice, and sends neither', async (t) => {
    const { post } = await start(t);
    const at = '/lsp/rust/message?project_id=default';
    const message = { id: 1, method: 'x/echo', params: 'inner' };
    const twice = await post(at, { message, id: 2, method: 'x/crash' });
    assert.deepEqual(
      [twice.status, twice.body.errors],
      [400, [{ path: '/id', message: 'stands beside message' }]],
    );
    const elsewhere = await post(at, { ...message, project_id: 'other' });
    assert.equal(elsewhere.status, 400);
    assert.match(
      String(elsewhere.body.detail),
      /^\/project_id is other, but the query has default\./,
    );
    const both = await post(at, { ...message, case_id: randomUUID() });
    assert.match(String(both.body.detail), /^Set exactly one/);
    assert.equal((await post(at, { ...message, ...SAYS })).body.result, 'inner');
  });

  it('completes with content that is not saved, and closes the file again', async (t) => {
    const { post } = await start(t);
    const at = {
      language: 'rust',
      ...SAYS,
      path: 'src/main.rs',
      position: { line: 0, character: 0 },
    };
    const unsaved = await post('/editor/complete', { ...at, content: 'unsaved' });
    assert.deepEqual(unsaved.body, { items: [{ label: 'unsaved' }] });
    const saved = await post('/editor/complete', at);
    assert.deepEqual(saved.body, { items: [{ label: 'fn main() {}\n' }] });
    for (const path of ['../x', '/etc/passwd', '.git/config', 'a\\b'])
      assert.equal(
        (await post('/editor/complete', { ...at, path, content: '' })).status,
        400,
        path,
      );
    assert.equal((await post('/editor/complete', { ...at, path: 'none.rs' })).status, 404);
  });
});

describe('language servers', () => {
  it('end with the daemon, and after it was killed with the next one', async (t) => {
    const { connect, daemon, program, workspace } = await startApart(t);
    const client = await connect();
    assert.ok(processesNaming(program).length > 0);
    await daemon.end('SIGTERM');
    assert.equal((await client.ended).code, 1001);
    assert.deepEqual(processesNaming(program), []);
    const marks = join(workspace, '.dossier/language-servers');
    assert.deepEqual(existsSync(marks) ? readdirSync(marks) : [], []);
    const next = await startDaemon(t, ['--workspace', workspace, '--repo', makeRepository(t).root]);
    await speak(t, `${wsOf(next)}/lsp/rust/ws?project_id=default`);
    await next.end('SIGKILL');
    await startDaemon(t, ['--workspace', workspace]);
    await until(() => processesNaming(program).length === 0);
    assert.deepEqual(readdirSync(marks), []);
  });
});

const memoryOf = ({ process: { pid } }: Daemon): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);
