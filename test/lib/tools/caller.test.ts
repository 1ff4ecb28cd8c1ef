import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { describe, it, type TestContext } from 'node:test';
import { type Connection, comesFromRun } from '../../../lib/tools/caller.ts';
import { cleanEnvironment } from '../../../lib/tools/environment.ts';
import { RUN_VARIABLE } from '../../../lib/tools/process-tree.ts';
import { createSandbox } from '../../../lib/tools/sandbox.ts';
import { atEnd, killAtEnd } from '../../helpers/at-end.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';

const skip = existsSync('/proc/net/tcp') ? false : 'this host has no /proc';
const sandbox = createSandbox('auto', cleanEnvironment({ PATH: process.env.PATH }));

const listen = async (t: TestContext) => {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  const called = once(server, 'connection').then(([socket]) => socket as Socket);
  atEnd(t, () => {
    server.close();
    void called.then((socket) => socket.destroy());
  });
  return { port, called };
};

const connectionOf = ({ localPort = 0, remotePort = 0 }: Socket): Connection => ({
  localPort,
  remotePort,
});

// A client that says nothing and stays until its other end goes away.
const client = (t: TestContext, port: number): string => {
  const root = temporaryDirectory(t);
  const script = `require('net').connect(${port}, '127.0.0.1').on('error', () => {})`;
  writeFiles(root, { 'client.cjs': script });
  return `${process.execPath} ${root}/client.cjs`;
};

const runShell = (t: TestContext, argv: string[], marker: string, cwd = '/'): void => {
  const [file = '', ...args] = argv;
  const env = { PATH: process.env.PATH, HOME: '/', [RUN_VARIABLE]: marker };
  const child = spawn(file, args, { cwd, env, stdio: 'ignore', detached: true });
  killAtEnd(t, child);
};

describe('comesFromRun', { skip }, () => {
  it('knows a process of the run, and takes nobody else for one', async (t) => {
    const { port, called } = await listen(t);
    const marker = randomUUID();
    runShell(t, ['/bin/sh', '-c', client(t, port)], marker);
    const connection = connectionOf(await called);
    assert.equal(await comesFromRun(connection, [{ marker }]), true);
    assert.equal(await comesFromRun(connection, [{ marker: randomUUID(), dir: '/tmp' }]), false);
    assert.equal(await comesFromRun(connection, []), false);
  });

  it('knows one that cleared its environment and was forked twice, by where it stands', async (t) => {
    const { port, called } = await listen(t);
    const dir = temporaryDirectory(t);
    const marker = randomUUID();
    const script = `env -i /usr/bin/setsid /bin/sh -c '${client(t, port)} &'`;
    runShell(t, ['/bin/sh', '-c', script], marker, dir);
    assert.equal(await comesFromRun(connectionOf(await called), [{ marker, dir }]), true);
  });

  it('knows one behind the wall of a sandbox, whatever it did to its parents', {
    skip: sandbox.kind === 'none' && sandbox.reason,
  }, async (t) => {
    const { port, called } = await listen(t);
    const marker = randomUUID();
    const view = {
      cwd: temporaryDirectory(t),
      phase: 'work',
      writable: [],
      hidden: [],
      network: 'host',
    } as const;
    const program = client(t, port);
    const script = `cd /; (env -i /usr/bin/setsid ${program} &); sleep 600`;
    const seen = { ...view, readable: [program.split(' ')[1] ?? ''] };
    runShell(t, sandbox.wrap(['/bin/sh', '-c', script], seen), marker);
    assert.equal(await comesFromRun(connectionOf(await called), [{ marker }]), true);
  });

  it('takes for one whoever has let go already, and only while a run is there', async (t) => {
    const { port, called } = await listen(t);
    const socket = connect(port, '127.0.0.1');
    const other = await called;
    const connection = connectionOf(other);
    const run = { marker: randomUUID() };
    assert.equal(await comesFromRun(connection, [run]), false);
    socket.destroy();
    await once(other.resume(), 'end');
    assert.equal(await comesFromRun(connection, [run]), true);
    assert.equal(await comesFromRun(connection, []), false);
  });
});
