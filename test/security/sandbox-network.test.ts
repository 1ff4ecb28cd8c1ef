import assert from 'node:assert/strict';
import { once } from 'node:events';
import { copyFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { NET_DIR } from '../../lib/sandbox/view.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const RELAY = `
import { spawn } from 'node:child_process';
const [, , option, ...argv] = process.argv;
console.log(option);
spawn(argv[0], argv.slice(1), { stdio: 'inherit' }).on('exit', (code) => process.exit(code));
`;

describe('a network of its own', { skip: missing }, () => {
  it('has no loopback of the machine, the relay before the program, and the sockets of the run', async (t) => {
    const cwd = temporaryDirectory(t);
    const dir = temporaryDirectory(t);
    const relay = temporaryDirectory(t);
    writeFiles(relay, { 'relay.mjs': RELAY });
    const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1');
    const door = createServer((socket) => socket.end('from outside\n')).listen(join(dir, 'out'));
    await Promise.all([once(server, 'listening'), once(door, 'listening')]);
    t.after(() => [server.close(), door.close()]);
    const { port } = server.address() as { port: number };
    const network = { dir, relay: [process.execPath, join(relay, 'relay.mjs'), '--here'] };
    const connect = `require('net').connect(${port},'127.0.0.1').on('error',(e)=>console.log(e.code)).on('connect',()=>console.log('reached'))`;
    const speak = `require('net').connect('${NET_DIR}/out').pipe(process.stdout)`;

    const { output } = await runInside(
      { cwd, phase: 'work', writable: [], hidden: [], network },
      `${process.execPath} -e "${connect}"; ${process.execPath} -e "${speak}"; touch ${NET_DIR}/x; ls ${NET_DIR}`,
    );

    assert.match(output, /^--here\nECONNREFUSED\nfrom outside\nout\n/);
    assert.match(output, /touch: .*Read-only file system/);
  });

  it('is had by a daemon that is installed in /tmp, of which only the relay is seen', async (t) => {
    const cwd = temporaryDirectory(t);
    const dir = temporaryDirectory(t);
    const relay = join(temporaryDirectory(t), 'relay.mjs');
    copyFileSync(join(dirname(DOSSIER), 'chunks/relay.mjs'), relay);
    const network = { dir, relay: [process.execPath, relay, NET_DIR, '--'] };

    const { output } = await runInside(
      { cwd, phase: 'work', writable: [], hidden: [], network },
      'echo started',
    );

    assert.equal(output, 'started');
  });
});
