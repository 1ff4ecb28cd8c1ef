/** What a run sends to its proxy and to MCP is bounded, and read in a process of its own. */
import assert from 'node:assert/strict';
import { type ChildProcess, execFileSync, fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import type { Socket } from 'node:net';
import { getPriority } from 'node:os';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createDoorsProcess } from '../../lib/sandbox/egress/doors-process.ts';
import { type AnswerMcp, NO_MCP } from '../../lib/sandbox/egress/mcp-door.ts';
import type { NetworkNews } from '../../lib/sandbox/egress/proxy.ts';
import { openRunNetwork, RELAY_PORT } from '../../lib/sandbox/egress/run-network.ts';
import { atEnd } from '../helpers/at-end.ts';
import { CONNECT, echo, GET, listen, openEgress, worldWith } from '../helpers/egress.ts';
import { eventually } from '../helpers/eventually.ts';

const TOKEN = 'token-of-this-run';
const OWN = `127.0.0.1:${RELAY_PORT}`;

const post = (body: string, token = TOKEN): string =>
  [
    'POST /mcp HTTP/1.1',
    'host: x',
    `authorization: Bearer ${token}`,
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
    '',
    body,
  ].join('\r\n');

/** All that came until the connection closed, whether or not all could be sent. */
const heardFrom = async (client: Socket, text: string): Promise<string> => {
  let heard = '';
  client.on('data', (chunk: Buffer) => {
    heard += chunk.toString('latin1');
  });
  client.write(text);
  // Not `once`: what cannot be sent any more is an error of the client's.
  if (!client.closed) await new Promise((resolve) => client.once('close', resolve));
  return heard;
};

/** A door that counts what reaches it, and how much of it at once. */
const counting = () => {
  const seen = { calls: 0, now: 0, most: 0 };
  const mcp: AnswerMcp = async () => {
    seen.calls += 1;
    seen.now += 1;
    seen.most = Math.max(seen.most, seen.now);
    await new Promise((resolve) => setTimeout(resolve, 5));
    seen.now -= 1;
    return { status: 200, body: Buffer.from('{}') };
  };
  return { seen, mcp };
};

describe('the proxy of a run', () => {
  it('ends a connection that sends CONNECT inside its own tunnel, at the second one', async (t) => {
    const egress = openEgress(t);
    const few = await heardFrom(egress.open(), CONNECT(OWN).repeat(3));
    assert.match(few, /HTTP\/1\.1 400 [\s\S]*CONNECT inside a tunnel is not supported/);
    const many = await heardFrom(egress.open(), CONNECT(OWN).repeat(20_000));
    assert.ok((many.match(/200 Connection established/g)?.length ?? 0) <= 1);
  });

  it('ends a connection whose CONNECT was refused, whatever comes after', async (t) => {
    const egress = openEgress(t);
    const client = egress.open();
    client.write(CONNECT('127.0.0.1:9'));
    const [first] = (await once(client, 'data')) as [Buffer];
    assert.match(first.toString(), /^HTTP\/1\.1 403 /);
    assert.equal(await heardFrom(client, CONNECT('127.0.0.1:9')), '');
  });

  it('closes what a run opens beyond 256 connections, of all its sockets together', async (t) => {
    const port = await listen(t, echo);
    const egress = openEgress(t, { rules: { allow_local: [`127.0.0.1:${port}`] } });
    const clients = Array.from({ length: 300 }, (_, at) => egress.open(at % 2 ? '1' : 'out'));
    for (const client of clients) client.resume();
    await eventually(() => assert.equal(clients.filter(({ closed }) => closed).length, 44));
    for (const client of clients) client.destroy();
    await eventually(async () => assert.match(await egress.say(GET('/nowhere')), /404/));
  });

  it('ends a connection that sends requests without waiting for their answers', async (t) => {
    const egress = openEgress(t);
    const heard = await heardFrom(
      egress.open(),
      'GET /x HTTP/1.1\r\nhost: x\r\n\r\n'.repeat(10_000),
    );
    assert.ok((heard.match(/HTTP\/1\.1 404/g)?.length ?? 0) <= 16);
  });

  it('looks up two names at a time for a run', async (t) => {
    const world = worldWith({});
    let [now, most] = [0, 0];
    const resolve = async (): Promise<string[]> => {
      now += 1;
      most = Math.max(most, now);
      await new Promise((done) => setTimeout(done, 5));
      now -= 1;
      throw new Error('no address');
    };
    const egress = openEgress(t, { world: { ...world, resolve } });
    const asks = Array.from({ length: 40 }, (_, at) => egress.say(CONNECT(`n${at}.example:1`)));
    for (const answer of await Promise.all(asks)) assert.match(answer, /502/);
    assert.equal(most, 2);
  });
});

describe('the MCP door of a run', () => {
  it('passes on no message that is nested too deep, too long, no object, or of another token', async (t) => {
    const { seen, mcp } = counting();
    const egress = openEgress(t, { token: TOKEN, mcp });
    const deep = `{"jsonrpc":"2.0","a":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    const wide = `{"jsonrpc":"2.0","a":[${'[],'.repeat(100_000)}0]}`;
    for (const [message, status] of [
      [post(deep), 400],
      [post(wide), 400],
      [post('[{"jsonrpc":"2.0"}]'), 400],
      [post('"text"'), 400],
      [post('{'), 400],
      [post('{}', 'another'), 401],
      [post(JSON.stringify({ a: 'x'.repeat(1024 * 1024) })), 413],
    ] as const)
      assert.match(await egress.say(message), new RegExp(`^HTTP/1\\.1 ${status} `));
    assert.equal(seen.calls, 0);
    assert.match(await egress.say(post('{"jsonrpc":"2.0"}')), /^HTTP\/1\.1 200 /);
    assert.equal(seen.calls, 1);
  });

  it('passes on one message at a time, and refuses more than it holds', async (t) => {
    const { seen, mcp } = counting();
    const egress = openEgress(t, { token: TOKEN, mcp });
    const all = await Promise.all(
      Array.from({ length: 20 }, () => egress.say(post('{"jsonrpc":"2.0"}'))),
    );
    for (const answer of all) assert.match(answer, /^HTTP\/1\.1 200 /);
    assert.deepEqual([seen.calls, seen.most], [20, 1]);
    const head = post('x'.repeat(900_000)).slice(0, -900_000);
    const held = [1, 2, 3, 4].map(() => egress.open());
    for (const client of held) client.write(head);
    await eventually(async () =>
      assert.match(await egress.say(post('x'.repeat(900_000))), /^HTTP\/1\.1 429 /),
    );
  });
});

/** Doors of a process, and the processes that were started. */
const doorsApart = (t: TestContext) => {
  const children: ChildProcess[] = [];
  const ends: unknown[] = [];
  const doors = createDoorsProcess({
    env: {},
    ownPort: () => undefined,
    ended: (cause) => ends.push(cause),
    start: (file, options) => {
      const child = fork(file, options);
      children.push(child);
      return child;
    },
  });
  const open = () => {
    const told: NetworkNews[] = [];
    const network = openRunNetwork({
      ...{ rules: {}, env: {}, given: {}, doors, token: undefined, mcp: NO_MCP },
      tell: (news) => told.push(news),
    });
    atEnd(t, network.close);
    return { told, out: join(network.view.dir, 'out'), close: network.close };
  };
  return { children, ends, doors, open };
};

const ASK = `
  const { connect } = require('node:net');
  const ask = () => {
    const socket = connect(process.argv[1], () => socket.write('CONNECT 127.0.0.1:9 HTTP/1.1\\r\\n\\r\\n'));
    socket.on('error', () => setTimeout(ask, 10));
    socket.on('data', (bytes) => { console.log(bytes.toString()); process.exit(); });
  };
  ask();
`;
// Nothing else is done by this thread until the answer is there.
const askBlocking = (out: string): string =>
  execFileSync(process.execPath, ['-e', ASK, out], { encoding: 'utf8', timeout: 60_000 });

describe('the process of the proxy', () => {
  it('answers a run while the daemon answers nobody', (t) => {
    const { open } = doorsApart(t);
    assert.match(askBlocking(open().out), /^HTTP\/1\.1 403 /);
  });

  it('leaves its runs without a network when it ends, tells them, and the next run has another', async (t) => {
    const { children, ends, open } = doorsApart(t);
    const before = open();
    askBlocking(before.out);
    children[0]?.kill('SIGKILL');
    await eventually(() => assert.equal(ends.length, 1));
    const lost = before.told.filter(({ host }) => host === '*');
    assert.deepEqual(
      lost.map(({ allowed }) => allowed),
      [false],
    );
    assert.match(lost[0]?.reason ?? '', /has lost its network/);
    assert.match(askBlocking(open().out), /^HTTP\/1\.1 403 /);
    assert.equal(children.length, 2);
  });

  it('is killed when it does not answer, so that a run ends, and the next run has another', async (t) => {
    const { children, ends, open } = doorsApart(t);
    const hung = open();
    askBlocking(hung.out);
    children[0]?.kill('SIGSTOP');
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const closed = hung.close();
    // The second timer is for a daemon that was suspended itself, and hears the answer only now.
    t.mock.timers.tick(15_000);
    assert.deepEqual(ends, []);
    t.mock.timers.tick(1000);
    t.mock.timers.reset();
    await closed;
    assert.equal(ends.length, 1);
    assert.match(askBlocking(open().out), /^HTTP\/1\.1 403 /);
    assert.equal(children.length, 2);
  });

  it('ends with the daemon, and at no signal to both', async (t) => {
    const { children, open } = doorsApart(t);
    const { out } = open();
    askBlocking(out);
    const [child] = children;
    assert.ok(child);
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) child.kill(signal);
    assert.match(askBlocking(out), /^HTTP\/1\.1 403 /);
    child.ref();
    const ended = once(child, 'exit');
    // As if the daemon were killed: the system closes its end.
    child.disconnect();
    assert.deepEqual(await ended, [0, null]);
  });

  it('has a lower priority than the daemon, with each of its threads (Linux)', {
    skip: process.platform !== 'linux',
  }, (t) => {
    const { children, open } = doorsApart(t);
    askBlocking(open().out);
    const threads = readdirSync(`/proc/${children[0]?.pid}/task`).map(Number);
    assert.ok(threads.length > 1);
    for (const thread of threads) assert.equal(getPriority(thread), 10);
  });

  it('is started before a run opens its sockets, and serves that run', (t) => {
    const { children, ends, doors, open } = doorsApart(t);
    doors.prepare();
    doors.prepare();
    assert.equal(children.length, 1);
    assert.match(askBlocking(open().out), /^HTTP\/1\.1 403 /);
    doors.prepare();
    assert.equal(children.length, 1);
    assert.deepEqual(ends, []);
  });

  it('is given no secret of the environment, and the certificates and stores by which Node trusts', async () => {
    const given: unknown[] = [];
    const env = {
      ...{ GH_TOKEN: 'secret', HOME: '/home/x', NODE_OPTIONS: '--no-deprecation --use-openssl-ca' },
      ...{ NODE_EXTRA_CA_CERTS: '/etc/ca.pem', RES_OPTIONS: 'timeout:1' },
    };
    const doors = createDoorsProcess({
      ...{ env, ownPort: () => undefined, ended: () => undefined },
      start: (file, options) => {
        given.push(
          options.env,
          options.execArgv?.filter((option) => /-ca$/.test(option)),
        );
        return fork(file, { ...options, execPath: '/nowhere/node' });
      },
    });
    await assert.rejects(doors.openPort(TOKEN, NO_MCP));
    const [kept, stores] = given;
    assert.deepEqual(kept, { NODE_EXTRA_CA_CERTS: '/etc/ca.pem', RES_OPTIONS: 'timeout:1' });
    assert.deepEqual(stores, ['--use-openssl-ca']);
  });

  it('is reported as ended where it cannot be started', async () => {
    const ends: unknown[] = [];
    const doors = createDoorsProcess({
      ...{ env: {}, ownPort: () => undefined, ended: (cause) => ends.push(cause) },
      start: (file, options) => fork(file, { ...options, execPath: '/nowhere/node' }),
    });
    await assert.rejects(doors.openPort(TOKEN, NO_MCP), /No port for MCP/);
    assert.equal(ends.length, 1);
  });
});
