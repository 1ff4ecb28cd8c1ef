/**
 * An agent that speaks ACP until it is prompted, and from then on floods what its run reaches: the proxy and MCP. It never
 * answers the prompt.
 */
import { connect } from 'node:net';
import { createInterface } from 'node:readline';

interface Message {
  id?: number;
  method?: string;
  params?: { mcpServers?: { url: string; headers: { value: string }[] }[] };
}

const CHUNK = 65_536;
const AGAIN_MS = 1;
let door = { port: 0, authorization: '' };

const own = () => `127.0.0.1:${door.port}`;
const tunnel = (goal: string): string => `CONNECT ${goal} HTTP/1.1\r\nhost: x\r\n\r\n`;
const call = (pad: string): string => {
  const params = { name: 'read_work_item', arguments: { pad } };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params });
  const head = `POST /mcp HTTP/1.1\r\nhost: x\r\nauthorization: ${door.authorization}`;
  return `${head}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
};
const filled = (text: string): string => text.repeat(Math.ceil(CHUNK / text.length));

/** What one connection is sent, again and again, and how many such connections there are. */
const floods = (): [many: number, text: () => string][] => [
  [4, () => filled(tunnel(own()))],
  [4, () => filled(tunnel('127.0.0.1:9'))],
  [4, () => filled('GET /x HTTP/1.1\r\nhost: x\r\n\r\n')],
  [4, () => `GET / HTTP/1.1\r\nx: ${'y'.repeat(CHUNK)}`],
  [4, () => '\0'.repeat(CHUNK)],
  [8, () => tunnel(`n${Math.random()}.invalid:443`)],
  [8, () => call('')],
  [4, () => call('x'.repeat(900_000))],
  [4, () => call('').replace('"pad":""', `"pad":${'['.repeat(400_000)}`)],
  [300, () => 'G'],
];

const flood = (text: () => string): void => {
  const socket = connect(door.port, '127.0.0.1');
  const send = (): void => {
    if (socket.writable && socket.write(text())) setTimeout(send, AGAIN_MS);
  };
  socket.on('connect', send);
  socket.on('drain', send);
  socket.on('error', () => undefined);
  socket.on('close', () => setTimeout(() => flood(text), AGAIN_MS));
  socket.resume();
};

const answers: Record<string, (params: NonNullable<Message['params']>) => object | undefined> = {
  initialize: () => ({
    protocolVersion: 1,
    agentCapabilities: { mcpCapabilities: { http: true } },
    authMethods: [],
  }),
  'session/new': ({ mcpServers: [server] = [] }) => {
    door = {
      port: Number(new URL(server?.url ?? '').port),
      authorization: server?.headers[0]?.value ?? '',
    };
    return { sessionId: 'flood' };
  },
  'session/prompt': () => {
    for (const [many, text] of floods()) for (let at = 0; at < many; at += 1) flood(text);
    return undefined;
  },
};

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method = '', params = {} } = JSON.parse(line) as Message;
  const result = answers[method]?.(params);
  if (id !== undefined && result !== undefined)
    process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', id, result })}\n`);
});
