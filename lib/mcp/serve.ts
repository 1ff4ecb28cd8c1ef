import { validKey } from '../api-keys/keys.ts';
import { ServiceError } from '../errors.ts';
import type { Service } from '../service.ts';
import { runOfToken } from '../sessions/engine.ts';

export interface McpMessage {
  /** As it was presented; undefined for the operator's own client. */
  token: string | undefined;
  body: unknown;
}

/** Answers a message for the caller that the token names. The protocol's code is loaded with the first one. */
export const serveMcp = async (
  service: Service,
  { token, body }: McpMessage,
): Promise<{ status: number; body: Buffer | undefined }> => {
  const run = token === undefined ? undefined : runOfToken(service.engine, token);
  // An API key is the operator's, as no key is.
  if (token !== undefined && run === undefined && (await validKey(service, token)) === undefined)
    throw new ServiceError('unauthorized', 'The token belongs to no session that runs now.');
  const { answerMessage } = await import('./answer.ts');
  const response = await answerMessage(
    { service, run },
    new Request('http://localhost/mcp', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(body),
    }),
  );
  const bytes = Buffer.from(await response.arrayBuffer());
  return { status: response.status, body: bytes.length === 0 ? undefined : bytes };
};
