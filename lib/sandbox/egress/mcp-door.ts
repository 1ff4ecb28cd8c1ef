import type { IncomingMessage, ServerResponse } from 'node:http';

/** Answers one message of the Model Context Protocol for who has this token. */
export type AnswerMcp = (
  token: string | undefined,
  body: unknown,
  /** The Mcp-Protocol-Version header. */
  version: string | undefined,
) => Promise<{ status: number; body: Buffer | undefined }>;

/** Of what has no session: nobody is served. */
export const NO_MCP: AnswerMcp = async () => ({ status: 401, body: undefined });

const MOST_BYTES = 4 * 1024 * 1024;

/** Serves `POST /mcp`, and nothing else. Never rejects. */
export const answerMcp = async (
  request: IncomingMessage,
  response: ServerResponse,
  mcp: AnswerMcp,
): Promise<void> => {
  const [path] = (request.url ?? '').split('?');
  if (path !== '/mcp') return problem(response, 404, 'There is only POST /mcp here');
  if (request.method !== 'POST') return problem(response, 405, 'A message is sent by POST');
  try {
    const body = await bodyOf(request);
    if (body === undefined) return problem(response, 413, 'The message is too large');
    const message: unknown = JSON.parse(body.toString('utf8'));
    const answer = await mcp(tokenOf(request), message, versionOf(request));
    if (answer.status === 401) return problem(response, 401, UNAUTHORIZED);
    const json = answer.body !== undefined && { 'content-type': 'application/json' };
    response.writeHead(answer.status, { ...json });
    response.end(answer.body);
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

const bodyOf = async (request: IncomingMessage): Promise<Buffer | undefined> => {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request) {
    size += (chunk as Buffer).length;
    if (size > MOST_BYTES) return undefined;
    chunks.push(chunk as Buffer);
  }
  return Buffer.concat(chunks);
};

/** How messages at the door of one run are answered, by the token that the run was given. */
export interface WithMcp {
  readonly mcp: (token: string | undefined) => AnswerMcp;
}
