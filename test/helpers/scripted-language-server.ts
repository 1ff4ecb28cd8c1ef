import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryDirectory } from './repository.ts';

/**
 * A language server that does as it is told by the method it is asked for: `x/echo` answers its params, `x/crash` ends it,
 * `x/flood` writes notifications without end, `x/silence` is never answered, and so on. Answers its settings' line, which needs none where it
 * has the name of one that is looked for.
 */
export const scriptedServer = (
  t: TestContext,
  mode = 'good',
  name = 'scripted-server',
): { path: string; setting: string } => {
  const path = join(temporaryDirectory(t), name);
  writeFileSync(path, `#!${process.execPath}\nconst MODE = ${JSON.stringify(mode)};\n${SCRIPT}`);
  chmodSync(path, 0o755);
  return { path, setting: `language_servers: { rust: { command: ${path} } }` };
};

const SCRIPT = String.raw`
if (process.argv.includes('--version')) {
  if (MODE === 'proxy') { console.error("error: Unknown binary 'rust-analyzer'"); process.exit(1); }
  console.log('scripted 1.0');
  process.exit(0);
}
const frame = (message) => {
  const body = Buffer.from(JSON.stringify(message));
  return Buffer.concat([Buffer.from('Content-Length: ' + body.length + '\r\n\r\n'), body]);
};
const send = (message) => process.stdout.write(frame({ jsonrpc: '2.0', ...message }));
const seen = [];
const open = new Map();
let waiting;
let asked = 0;
const flood = () => {
  while (send({ method: 'x/flood', params: { filler: 'x'.repeat(10000) } }));
  process.stdout.once('drain', flood);
};
const slices = (bytes) => {
  for (const byte of bytes) process.stdout.write(Buffer.from([byte]));
};
const actions = {
  initialize: ({ id }) => MODE === 'mute' || send({ id, result: { capabilities: {}, pid: process.pid } }),
  'x/echo': ({ id, params }) => send({ id, result: params }),
  'x/seen': ({ id }) => send({ id, result: seen }),
  'x/crash': () => { console.error('it fell over'); process.exit(3); },
  'x/flood': flood,
  'x/bad': () => process.stdout.write('Oh no, this is a log line\r\n\r\n'),
  'x/utf8': () => process.stdout.write(Buffer.concat([Buffer.from('Content-Length: 3\r\n\r\n'), Buffer.from([0x22, 0xff, 0x22])])),
  'x/huge': () => process.stdout.write('Content-Length: 99999999999\r\n\r\n'),
  'x/sliced': ({ id, params }) => slices(frame({ jsonrpc: '2.0', id, result: params })),
  'x/merged': ({ id, params }) => process.stdout.write(Buffer.concat([frame({ jsonrpc: '2.0', method: 'x/first' }), frame({ jsonrpc: '2.0', id, result: params })])),
  'x/ask': ({ id }) => { waiting = id; send({ id: 'mine', method: 'workspace/configuration', params: { items: [{}, {}] } }); },
  'x/deaf': () => process.stdin.pause(),
  'textDocument/completion': ({ id, params }) => {
    asked += 1;
    const items = MODE === 'loading' && asked < 3 ? [] : [{ label: open.get(params.textDocument.uri) ?? 'closed' }];
    send({ id, result: { items } });
  },
  'textDocument/didOpen': ({ params }) => open.set(params.textDocument.uri, params.textDocument.text),
  'textDocument/didChange': ({ params }) => {
    const { uri, version } = params.textDocument;
    open.set(uri, params.contentChanges.at(-1).text);
    send({ method: 'textDocument/publishDiagnostics', params: { uri, version, diagnostics: [{ message: open.get(uri) }] } });
  },
  'textDocument/hover': ({ id, params }) => send({ id, result: open.get(params.textDocument.uri) ?? null }),
  'textDocument/didClose': ({ params }) => open.delete(params.textDocument.uri),
};
const take = (message) => {
  seen.push(message);
  if (message.method === undefined) return send({ id: waiting, result: message });
  actions[message.method]?.(message);
};
let rest = Buffer.alloc(0);
process.stdin.on('data', (chunk) => {
  rest = Buffer.concat([rest, chunk]);
  for (;;) {
    const end = rest.indexOf('\r\n\r\n');
    if (end === -1) return;
    const length = Number(/Content-Length: (\d+)/.exec(rest.subarray(0, end))[1]);
    if (rest.length < end + 4 + length) return;
    const body = rest.subarray(end + 4, end + 4 + length);
    rest = rest.subarray(end + 4 + length);
    take(JSON.parse(body));
  }
});
process.stdin.on('end', () => process.exit(0));
`;
