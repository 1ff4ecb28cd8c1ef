import type { IncomingMessage, ServerResponse } from 'node:http';
import { sha256 } from '../../../store/base/sha256.ts';
import { type McpLimits, MOST_MESSAGE_BYTES } from './limits.ts';

/** Answers one message of the Model Context Protocol for the holder of a token. */
export type AnswerMcp = (
  token: string | undefined,
  body: unknown,
  /** The Mcp-Protocol-Version header. */
  version: string | undefined,
) => Promise<{ status: number; body: Uint8Array | undefined }>;

/** For runs without a session: refuses every message. */
export const NO_MCP: AnswerMcp = async () => ({ status: 401, body: undefined });

/** The MCP access of one run. */
export interface McpDoor {
  /** The run's token; undefined: every message is refused. */
  token: string | undefined;
  limits: McpLimits;
  answer: AnswerMcp;
}

/**
 * Serves only `POST /mcp`. Passes on complete messages within the limits that have the run's token. Never rejects.
 */
export const answerMcp = async (
  request: IncomingMessage,
  response: ServerResponse,
  door: McpDoor,
): Promise<void> => {
  const [path] = (request.url ?? '').split('?');
  if (path !== '/mcp') return problem(response, 404, 'Not found: only POST /mcp is served here');
  if (request.method !== 'POST')
    return problem(response, 405, 'Method not allowed: send the message by POST');
  if (!isSameToken(door.token, tokenOf(request))) return problem(response, 401, UNAUTHORIZED);
  const { limits } = door;
  const room = roomFor(request);
  if (room > MOST_MESSAGE_BYTES) return problem(response, 413, TOO_LARGE);
  if (!limits.hold(room))
    return problem(
      response,
      429,
      'This run has too many unanswered messages. Wait for the answers',
    );
  try {
    await answerBody(request, response, door);
  } finally {
    limits.release(room);
  }
};

const TOO_LARGE = `A message has at most ${MOST_MESSAGE_BYTES} bytes`;

// Without a length, reserve for the longest body.
const roomFor = ({ headers }: IncomingMessage): number =>
  Number(headers['content-length'] ?? MOST_MESSAGE_BYTES);

const answerBody = async (
  request: IncomingMessage,
  response: ServerResponse,
  { limits, answer }: McpDoor,
): Promise<void> => {
  try {
    const body = await bodyOf(request);
    if (body === undefined) return problem(response, 413, TOO_LARGE);
    const message = readMessage(body);
    if (message === undefined)
      return problem(
        response,
        400,
        'The body is not a JSON object, is nested too deeply, or has too many values',
      );
    const given = tokenOf(request);
    const { status, body: answered } = await limits.pass(body.length, () =>
      answer(given, message, versionOf(request)),
    );
    if (status === 401) return problem(response, 401, UNAUTHORIZED);
    const json = answered !== undefined && { 'content-type': 'application/json' };
    response.writeHead(status, { ...json });
    response.end(answered);
  } catch (error) {
    problem(
      response,
      400,
      error instanceof SyntaxError
        ? 'The body is not JSON'
        : 'The body is no message of JSON-RPC 2.0, or has an unknown protocol version',
    );
  }
};

// Compares hashes, so that the time tells nothing about the token.
const isSameToken = (own: string | undefined, given: string | undefined): boolean =>
  own !== undefined && given !== undefined && sha256(own) === sha256(given);

const UNAUTHORIZED = '401: the token does not belong to this run';

/** Answers a request with an error sentence. */
export const problem = (response: ServerResponse, status: number, why: string): void => {
  if (response.headersSent || response.destroyed) return void response.destroy();
  const more = status === 405 ? { allow: 'POST' } : {};
  const challenge = status === 401 ? { 'www-authenticate': 'Bearer' } : {};
  const headers = { 'content-type': 'text/plain; charset=utf-8', ...more, ...challenge };
  response.writeHead(status, headers);
  response.end(`${why}.\n`);
};

const versionOf = ({ headers }: IncomingMessage): string | undefined =>
  headers['mcp-protocol-version']?.toString();

const tokenOf = ({ headers: { authorization } }: IncomingMessage): string | undefined =>
  authorization === undefined ? undefined : /^Bearer +([^\s]+)$/i.exec(authorization)?.[1];

const BODY_MS = 60_000;

const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const late = setTimeout(() => request.destroy(), BODY_MS);
  try {
    const chunks: Buffer[] = [];
    let size = 0;
    for await (const chunk of request) {
      size += (chunk as Buffer).length;
      if (size > MOST_MESSAGE_BYTES) return undefined;
      chunks.push(chunk as Buffer);
    }
    return Buffer.concat(chunks);
  } finally {
    clearTimeout(late);
  }
};

/** Limits of a JSON message, which the daemon traverses several times. */
const DEEPEST = 32;
const MOST_VALUES = 20_000;

/** Parses a body; undefined if it is not an object, nested too deeply, or has too many values. Throws SyntaxError. */
const readMessage = (body: Buffer): object | undefined => {
  const message: unknown = JSON.parse(body.toString('utf8'));
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  return isBounded(message) ? message : undefined;
};

// Level by level, because recursion could exceed the stack.
const isBounded = (message: object): boolean => {
  let level: object[] = [message];
  let values = 0;
  for (let depth = 0; level.length > 0; depth += 1) {
    const below = level.flatMap((one) => Object.values(one) as unknown[]);
    values += below.length;
    if (depth >= DEEPEST || values > MOST_VALUES) return false;
    level = below.filter((one): one is object => typeof one === 'object' && one !== null);
  }
  return true;
};
