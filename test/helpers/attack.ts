/**
 * What a hostile program in the sandbox tries, to reach a daemon. It gets its goals as JSON in ATTACK and writes as JSON what
 * came of each try; `reached` is what must stand nowhere.
 */
export const ATTACK = `
import { spawnSync } from 'node:child_process';
import { connect } from 'node:net';
import { request } from 'node:http';
const { ports, hosts, approve, abstract, paths } = JSON.parse(process.env.ATTACK);
const tries = {};
const raw = (name, options, text) => new Promise((resolve) => {
  let heard = '';
  const end = (what) => { tries[name] = what; resolve(); };
  const socket = connect(options, () => socket.write(text));
  socket.setTimeout(5000, () => { socket.destroy(); end('silent'); });
  socket.on('data', (chunk) => { heard += chunk; });
  socket.on('error', (error) => end(error.code));
  socket.on('close', () => end(heard.startsWith('HTTP/1.1 200') ? 'reached ' + heard : heard.slice(0, 30)));
});
const post = (target) => 'POST ' + target + ' HTTP/1.1\\r\\nHost: 127.0.0.1:' + ports[0] + '\\r\\nContent-Length: 0\\r\\nConnection: close\\r\\n\\r\\n';
const proxy = { host: '127.0.0.1', port: Number(new URL(process.env.HTTP_PROXY).port) };
for (const port of ports) {
  for (const host of hosts) {
    await raw('direct ' + host + ' ' + port, { host, port }, post(approve));
    const named = host.includes(':') ? '[' + host + ']' : host;
    await raw('absolute ' + named + ' ' + port, proxy, post('http://' + named + ':' + port + approve));
    await raw('CONNECT ' + named + ' ' + port, proxy, 'CONNECT ' + named + ':' + port + ' HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n');
  }
}
await raw('relay itself', proxy, post(approve));
await raw('abstract socket', { path: '\\0' + abstract }, 'hello');
for (const path of paths) await raw('socket ' + path, { path }, 'hello');
const python = spawnSync('/usr/bin/python3', ['-c', \`
import socket, array, os
a, b = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
s = socket.socket()
try:
    s.connect(('127.0.0.1', \${ports[1]}))
    b.sendmsg([b'x'], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array('i', [s.fileno()]))])
    s.send(b'POST \${approve} HTTP/1.1\\\\r\\\\nHost: 127.0.0.1:\${ports[1]}\\\\r\\\\nContent-Length: 0\\\\r\\\\n\\\\r\\\\n')
    s.close()
    print('reached')
except OSError as error:
    print(error.errno)
\`], { encoding: 'utf8' });
tries['SCM_RIGHTS'] = python.error ? python.error.code : python.stdout.trim();
console.log(JSON.stringify(tries));
`;
