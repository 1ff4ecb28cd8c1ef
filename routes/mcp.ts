import { Type } from 'typebox';
import { Answer, route } from '../lib/http/route.ts';
import { serveMcp } from '../lib/mcp/serve.ts';

const Message = Type.Object(
  {
    jsonrpc: Type.Literal('2.0'),
    method: Type.Optional(Type.String()),
    id: Type.Optional(Type.Union([Type.String(), Type.Number()])),
  },
  { additionalProperties: true },
);

export const mcpRoutes = [
  route({
    method: 'POST',
    path: '/mcp',
    summary: 'Send a message of the Model Context Protocol (Streamable HTTP)',
    description:
      "With a session's token: that session's own Work item, its memory, its tasks and its proof. Without one: all Work items, read-only. No tool approves, verifies, changes a state or runs anything.",
    body: Message,
    maxBytes: 4 * 1024 * 1024,
    response: Message,
    errors: ['unauthorized'],
    handler: async ({ body, token }, service) => {
      const answer = await serveMcp(service, { token, body });
      return new Answer<never>(answer.body, {}, undefined, answer.status);
    },
  }),
];
