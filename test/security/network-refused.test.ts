/** What the way out of a run refuses, asked for by hand at its socket. */
import assert from 'node:assert/strict';
import { existsSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { reportOncePerTarget } from '../../lib/sandbox/egress/doors.ts';
import { createNetworkEnvironment } from '../../lib/sandbox/egress/network-environment.ts';
import { makeSocketDir } from '../../lib/sandbox/egress/socket-dir.ts';
import {
  CONNECT,
  echo,
  GET,
  listen,
  OWN_PORT,
  onPort,
  openEgress,
  worldWith,
} from '../helpers/egress.ts';
import { eventually } from '../helpers/eventually.ts';

const LOCAL = [
  ...[
    '127.0.0.1',
    'localhost',
    'LOCALHOST.',
    '0.0.0.0',
    '2130706433',
    '0x7f000001',
    '017700000001',
  ],
  ...[
    '127.1',
    '0x7f.1',
    '[::1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
  ],
  ...[
    '[2002:7f00:1::]',
    '[0:0:0:0:0:0:0:1]',
    'x.localhost',
    '127.255.255.254',
    'this-machine',
    '0',
  ],
  ...[
    '169.254.169.254',
    '169.254.1.1',
    '[fe80::1]',
    '[fd00:ec2::254]',
    '100.100.100.200',
    '0xa9fea9fe',
  ],
  ...['metadata.google.internal', '224.0.0.1', '[ff02::1]', '255.255.255.255', '192.0.2.77'],
];
const NAMED = {
  'loops.example': ['127.0.0.1'],
  'loops6.example': ['::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'either.example': ['93.184.216.34', '127.0.0.1'],
  'own.example': ['192.0.2.77'],
  'cloud.example': ['169.254.169.254'],
};

describe('the way out of a run', () => {
  it('leads to nothing of this machine, by CONNECT or in absolute form, however it is named', async (t) => {
    let reached = 0;
    const server = createServer((_request, response) => {
      reached += 1;
      response.end('reached');
    });
    const port = await onPort(t, server);
    const world = worldWith(NAMED, { own: ['192.0.2.77'] });
    const egress = openEgress(t, { world });
    for (const host of [...LOCAL, ...Object.keys(NAMED)]) {
      for (const ask of [CONNECT(`${host}:${port}`), GET(`http://${host}:${port}/`)]) {
        const answer = await egress.say(ask);
        assert.match(answer, /^HTTP\/1\.1 403 /, `${ask}${answer}`);
        assert.match(answer, /text\/plain[\s\S]*which runs may not reach/, ask);
      }
    }
    assert.equal(reached, 0);
    assert.ok(egress.told.every(({ allowed, reason }) => !allowed && reason !== undefined));
    assert.match(
      await egress.say(CONNECT(`127.0.0.1:${port}`)),
      /allow_local: \["127\.0\.0\.1:\d+"\]/,
    );
  });

  it('names allow_local only where it would help', async (t) => {
    const egress = openEgress(t, { world: worldWith(NAMED, { own: ['192.0.2.77'] }) });
    for (const goal of ['localhost:5432', '[::1]:5432', '127.0.0.2:5432'])
      assert.match(await egress.say(CONNECT(goal)), /403 [\s\S]*allow_local/, goal);
    for (const goal of [
      ...[`127.0.0.1:${OWN_PORT}`, 'this-machine:5432', '192.0.2.77:5432', 'loops.example:5432'],
      ...['metadata:80', 'metadata.google.internal:80', '169.254.169.254:80'],
    ]) {
      const answer = await egress.say(CONNECT(goal));
      assert.match(answer, /403 [\s\S]*which runs may not reach/, goal);
      assert.doesNotMatch(answer, /allow_local/, goal);
    }
    assert.match(await egress.say(CONNECT('metadata:80')), /cloud metadata service/);
  });

  it("leads to no address of this machine's own interfaces, nor to one that only routes here", async (t) => {
    const world = createNetworkEnvironment(() => undefined);
    const egress = openEgress(t, { world: { ...world, cameBack: () => true } });
    const { networkInterfaces } = await import('node:os');
    const own = Object.values(networkInterfaces()).flatMap((all) => all ?? []);
    for (const { address } of own) {
      const host = address.includes(':') ? `[${address}]` : address;
      assert.match(await egress.say(CONNECT(`${host}:9`)), /^HTTP\/1\.1 403 /, host);
    }
    const port = await listen(t, echo);
    const routed = { ...worldWith({}, { here: (a) => a === '127.0.0.1' }), cameBack: () => true };
    const other = openEgress(t, { world: routed });
    assert.match(await other.say(CONNECT(`127.0.0.1:${port}`)), /403 [\s\S]*this machine/);
    assert.equal(world.cameBack('10.0.0.1', '10.0.0.1'), true);
    assert.equal(world.cameBack('10.0.0.1', '10.0.0.2'), false);
  });

  it('looks a name up once, and goes to the very address that it looked at', async (t) => {
    const port = await listen(t, echo);
    const world = worldWith({}, { here: (address) => address === '127.0.0.2' });
    let asked = 0;
    const resolve = async () => [['127.0.0.2'], ['127.0.0.1']][asked++] ?? [];
    const egress = openEgress(t, { world: { ...world, resolve } });
    assert.match(await egress.say(`${CONNECT(`rebinds.example:${port}`)}hello`), /502/);
    assert.equal(asked, 1);
    assert.match(await egress.say(CONNECT(`rebinds.example:${port}`)), /403/);
    assert.equal(asked, 2);
  });

  it('leads to the domains of network.allow alone', async (t) => {
    const port = await listen(t, echo);
    const names = { 'a.example': ['127.0.0.1'], 'b.a.example': ['127.0.0.1'], evil: ['127.0.0.1'] };
    const world = worldWith(names, { here: () => true });
    const egress = openEgress(t, {
      world,
      rules: { network: { allow: ['*.a.example', 'evil:1'] } },
    });
    assert.match(await egress.say(`${CONNECT(`b.a.example:${port}`)}hi`), /200[\s\S]*hi$/);
    for (const host of ['a.example', 'evil', '127.0.0.1', 'b.a.example.evil'])
      assert.match(await egress.say(CONNECT(`${host}:${port}`)), /403[\s\S]*network\.allow/, host);
    assert.deepEqual(world.asked, ['b.a.example']);
  });

  it('survives garbage, and goes on', async (t) => {
    const egress = openEgress(t);
    const garbage = [
      '',
      '\0\0\0',
      'GET',
      'CONNECT\r\n\r\n',
      'CONNECT  HTTP/1.1\r\n\r\n',
      `CONNECT ${'a'.repeat(5000)}:1 HTTP/1.1\r\n\r\n`,
      `GET / HTTP/1.1\r\nx: ${'y'.repeat(100_000)}\r\n\r\n`,
      'GET http://[ HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET ftp://a/ HTTP/1.1\r\nhost: x\r\n\r\n',
      'GET https://a/ HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n',
      'POST /mcp HTTP/1.1\r\nhost: x\r\ncontent-length: 9\r\n\r\nx',
      'CONNECT 127.0.0.1:14870 HTTP/1.1\r\nhost: x\r\n\r\n\0\0',
      Buffer.from('16030100ff', 'hex'),
    ];
    for (const text of garbage) {
      const answer = await egress.say(text);
      assert.match(
        answer,
        /^(?:$|HTTP\/1\.1 (?:4\d\d|200 Connection established\r\n\r\nHTTP\/1\.1 400))/,
      );
    }
    assert.match(await egress.say(GET('/nowhere')), /404/);
    assert.match(await egress.say(CONNECT('nowhere.example:1')), /502/);
  });

  it('ends with its run: connections, sockets and their directory', async (t) => {
    const ended = new Set<boolean>();
    const port = await listen(t, (socket) => {
      socket.resume();
      socket.once('end', () => ended.add(true));
    });
    const world = worldWith({ 'a.example': ['127.0.0.1'] }, { here: () => true });
    const egress = openEgress(t, { world });
    const { dir } = egress.own;
    assert.equal(statSync(dir).mode & 0o777, 0o700);
    const client = egress.open();
    client.write(CONNECT(`a.example:${port}`));
    await new Promise((resolve) => client.once('data', resolve));
    await egress.close();
    await eventually(() => assert.deepEqual([client.closed, ended.has(true)], [true, true]));
    assert.equal(existsSync(dir), false);
  });

  it('has sockets whose path Node takes whole, or none', () => {
    const long = join('/tmp', 'x'.repeat(90));
    assert.throws(() => makeSocketDir([long]), /too long[\s\S]*TMPDIR/);
  });

  it('is told once for each goal and outcome, and not for ever', () => {
    const told: string[] = [];
    const tell = reportOncePerTarget(({ host, allowed }) => told.push(`${host} ${allowed}`));
    for (const allowed of [true, false, true]) tell({ host: 'a', port: 1, allowed });
    assert.deepEqual(told, ['a true', 'a false']);
    for (let port = 0; port < 1000; port += 1) tell({ host: 'b', port, allowed: true });
    assert.equal(told.length, 200);
  });
});
