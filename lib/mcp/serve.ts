import { Check } from 'typebox/value';
import { sha256 } from '../../store/base/sha256.ts';
import { isTokenOf } from '../agents/mcp-access.ts';
import { ServiceError } from '../errors.ts';
import { validKey } from '../guard/api-keys/keys.ts';
import type { AnswerMcp } from '../sandbox/egress/mcp-door.ts';
import type { Service } from '../service.ts';
import { type LiveRun, runOfToken } from '../work/sessions/live/engine.ts';
import { Message } from './message.ts';

interface McpMessage {
  /** As it was presented; undefined for the operator's own client without a key. */
  token: string | undefined;
  body: unknown;
  /** The Mcp-Protocol-Version header. */
  version: string | undefined;
}

interface Answer {
  status: number;
  body: Buffer | undefined;
}

/**
 * Answers a message of the operator's own client. Throws `unauthorized` for a token that is no API key (a run has its own
 * door), and `bad_request` for a version of the protocol that nobody knows.
 */
export const serveMcp = async (
  service: Service,
  { token, body, version }: McpMessage,
): Promise<Answer> => {
  if (token !== undefined && (await validKey(service, token)) === undefined)
    throw new ServiceError('unauthorized', 'The API key is unknown or revoked.');
  return answer(service, undefined, { body, version });
};

/**
 * Answers messages at the door of one run: whoever presents its token, and nobody else, as long as it goes on. Without a
 * token of its own a run has nobody to ask. The run is looked up each time.
 */
export const serveRun =
  (service: Service) =>
  (own: string | undefined): AnswerMcp =>
  async (token, body, version) => {
    const run = own === undefined ? undefined : runOfToken(service.engine, own);
    if (run === undefined || token === undefined || !isTokenOf(sha256(run.token), token))
      return { status: 401, body: undefined };
    if (!Check(Message, body)) return { status: 400, body: undefined };
    return answer(service, run, { body, version });
  };

// The protocol's code is loaded with the first message.
const answer = async (
  service: Service,
  run: LiveRun | undefined,
  { body, version }: Pick<McpMessage, 'body' | 'version'>,
): Promise<Answer> => {
  const { answerMessage } = await import('./answer.ts');
  const response = await answerMessage(
    { service, run },
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(version !== undefined && { 'mcp-protocol-version': version }),
      },
    }),
    body,
  );
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, body: bytes.length === 0 ? undefined : bytes };
};
