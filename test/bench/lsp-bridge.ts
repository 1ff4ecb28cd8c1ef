/** The least that a bridge does: one server for one WebSocket, frames passed on unread. */
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { fileURLToPath } from 'node:url';
import { WebSocketServer } from 'ws';
import { createFrameReader, headerOf } from '../../lib/code/language-server/json-rpc.ts';

const ECHO = fileURLToPath(new URL('./lsp-echo.js', import.meta.url));
const listener = createServer();
const server = new WebSocketServer({ server: listener, perMessageDeflate: false });
server.on('connection', (socket) => {
  const child = spawn(process.execPath, [ECHO], { stdio: ['pipe', 'pipe', 'ignore'] });
  const read = createFrameReader((message) => socket.send(message, { binary: false }));
  child.stdout.on('data', read);
  socket.on('message', (data: Buffer) => {
    child.stdin.cork();
    child.stdin.write(headerOf(data), 'latin1');
    child.stdin.write(data);
    child.stdin.uncork();
  });
  socket.on('close', () => child.kill());
});
listener.listen(0, '127.0.0.1', () => {
  const address = listener.address();
  const port = typeof address === 'object' ? address?.port : 0;
  process.stdout.write(`http://127.0.0.1:${port}\n`);
});
process.on('SIGTERM', () => process.exit(0));
