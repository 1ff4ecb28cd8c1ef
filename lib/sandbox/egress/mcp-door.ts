import type { IncomingMessage, ServerResponse } from 'node:http';
import { sha256 } from '../../../store/base/sha256.ts';
import { type McpLimits, MOST_MESSAGE_BYTES } from './limits.ts';

/** Answers one message of the Model Context Protocol for who has this token. */
export type AnswerMcp = (
  token: string | undefined,
  body: unknown,
  /** The Mcp-Protocol-Version header. */
  version: string | undefined,
) => Promise<{ status: number; body: Uint8Array | undefined }>;

/** Of what has no session: nobody is served. */
export const NO_MCP: AnswerMcp = async () => ({ status: 401, body: undefined });

/** Who is served at the door of one run, how much, and by what. */
export interface McpDoor {
  /** The run's token; undefined: it has none, and is not served. */
  token: string | undefined;
  limits: McpLimits;
  answer: AnswerMcp;
}

/**
 * Serves `POST /mcp`, and nothing else. Only a message that is whole, in bounds, due and sent with the run's token is passed
 * on. Never rejects.
 */
export const answerMcp = async (
  request: IncomingMessage,
  response: ServerResponse,
  door: McpDoor,
): Promise<void> => {
  const [path] = (request.url ?? '').split('?');
  if (path !== '/mcp') return problem(response, 404, 'There is only POST /mcp here');
  if (request.method !== 'POST') return problem(response, 405, 'A message is sent by POST');
  if (!isSameToken(door.token, tokenOf(request))) return problem(response, 401, UNAUTHORIZED);
  const { limits } = door;
  const room = roomFor(request);
  if (room > MOST_MESSAGE_BYTES) return problem(response, 413, TOO_LARGE);
  if (!limits.hold(room)) return problem(response, 429, 'This run has too many messages open');
  try {
    await answerBody(request, response, door);
  } finally {
    limits.release(room);
  }
};

const TOO_LARGE = `A message has at most ${MOST_MESSAGE_BYTES} bytes`;

// A body of unknown length may become as long as any.
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
        'The body is no object, is nested too deep or has too many values',
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
        ? 'The body is no JSON'
        : 'No message came, or of no known version',
    );
  }
};

// By their hashes: how long that takes says nothing of the token.
const isSameToken = (own: string | undefined, given: string | undefined): boolean =>
  own !== undefined && given !== undefined && sha256(own) === sha256(given);

const UNAUTHORIZED = '401: the token is not that of the run that this door belongs to';

/** Ends a request with a sentence. */
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

/** How deep and how large a JSON message of a run may be: the daemon walks it several times. */
const DEEPEST = 32;
const MOST_VALUES = 20_000;

/** The object that a body is; undefined where it is none, is nested too deep, or has too many values. Throws SyntaxError. */
const readMessage = (body: Buffer): object | undefined => {
  const message: unknown = JSON.parse(body.toString('utf8'));
  if (typeof message !== 'object' || message === null || Array.isArray(message)) return undefined;
  return isBounded(message) ? message : undefined;
};

// By levels, not by recursion: it is the depth that is in question.
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
