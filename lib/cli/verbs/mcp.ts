import { createInterface } from 'node:readline';
import { messageOf, orElse } from '../../../store/base/attempt.ts';
import { requireDaemon } from '../connection/daemon.ts';
import { type Verb, verb } from './verb.ts';

interface Message {
  id?: string | number;
  result?: { protocolVersion?: string };
}

/**
 * `dossier mcp`: an MCP server on standard input and output, for clients that start a program. Forwards each message to
 * `/mcp` of the daemon, and finds the daemon again after a restart.
 */
export const mcp = verb(async (given) => {
  const send = senderTo(given);
  const sent: Promise<void>[] = [];
  const answer = async (line: string): Promise<void> => {
    const answered = await answerTo(send, line);
    if (answered !== undefined) given.out.jsonLine(answered);
  };
  for await (const line of createInterface({ input: process.stdin }))
    if (line.trim() !== '') sent.push(answer(line));
  await Promise.all(sent);
});

const answerTo = async (send: Send, line: string): Promise<object | undefined> => {
  const message = parsed(line);
  if (message === undefined) return failed(null, PARSE_ERROR, 'The message is not JSON.');
  try {
    return await send(message);
  } catch (error) {
    const { id } = message;
    if (id !== undefined) return failed(id, SERVER_ERROR, messageOf(error));
    // A notification gets no answer.
    return 'method' in message ? undefined : failed(null, INVALID_REQUEST, NO_REQUEST);
  }
};

// JSON-RPC 2.0, section 5.1.
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const SERVER_ERROR = -32_000;

const NO_REQUEST =
  'The message has no `method`. Send each request as one JSON object on a line of its own, without batches.';

const failed = (id: Message['id'] | null, code: number, message: string) => ({
  jsonrpc: '2.0',
  id,
  error: { code, message },
});

const parsed = (line: string): Message | undefined => {
  const message: unknown = orElse(() => JSON.parse(line), undefined);
  return typeof message === 'object' && message !== null ? (message as Message) : undefined;
};

type Send = (message: Message) => Promise<Message | undefined>;

const senderTo = ({ config, dossier: first }: Verb): Send => {
  let dossier = first;
  let version: string | undefined;
  const call: Send = async (message) =>
    (await dossier.call('POST /mcp', {
      body: message as never,
      ...(version !== undefined && { headers: { 'mcp-protocol-version': version } }),
    })) as Message | undefined;
  return async (message) => {
    const answered = await call(message).catch(async (error: unknown) => {
      if (!(error instanceof Error) || error.name !== 'NoConnection') throw error;
      ({ dossier } = await requireDaemon(config));
      return call(message);
    });
    version = answered?.result?.protocolVersion ?? version;
    return answered;
  };
};
