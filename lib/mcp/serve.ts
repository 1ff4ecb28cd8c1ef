import { Type } from 'typebox';
import { Check } from 'typebox/value';
import { sha256 } from '../../store/base/sha256.ts';
import { isTokenOf } from '../agents/mcp-access.ts';
import type { AnswerMcp } from '../sandbox/egress/mcp-door.ts';
import type { Service } from '../service.ts';
import { type LiveRun, runOfToken } from '../work/sessions/live/engine.ts';
import type { McpMessage } from './answer.ts';

interface Answer {
  status: number;
  body: Buffer | undefined;
}

/**
 * Answers messages at the endpoint of one run, only to callers with its token, and only while it is active: the run is
 * looked up for each message.
 */
export const serveRun =
  (service: Service, own: string | undefined): AnswerMcp =>
  async (token, body, version) => {
    const run = own === undefined ? undefined : runOfToken(service.engine, own);
    if (run === undefined || token === undefined || !isTokenOf(sha256(run.token), token))
      return { status: 401, body: undefined };
    if (!Check(Message, body)) return { status: 400, body: undefined };
    return serveMcp(service, { body, version }, run);
  };

/**
 * Answers a message of the operator's own client, or of the agent of `run`. Throws `bad_request` for an unknown version of the
 * protocol, and for what is no message of it.
 */
export const serveMcp = async (
  service: Service,
  message: McpMessage,
  run?: LiveRun,
): Promise<Answer> => {
  // The MCP library is loaded with the first message.
  const { answerMessage } = await import('./answer.ts');
  const response = await answerMessage({ service, run }, message);
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, body: bytes.length === 0 ? undefined : bytes };
};

/** The part of a Model Context Protocol message that is validated here. */
export const Message = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    method: Type.Optional(Type.String()),
    id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  },
  { additionalProperties: true },
);
