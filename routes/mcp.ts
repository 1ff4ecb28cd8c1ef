import { Answer, route } from '../lib/http/route.ts';
import { Message, serveMcp } from '../lib/mcp/serve.ts';

export const mcpRoutes = [
  route('POST /mcp', {
    operationId: 'sendMcpMessage',
    summary: 'Send a message of the Model Context Protocol (Streamable HTTP)',
    description:
      "For the operator's own clients: read-only tools for all Work items. Agents of sessions have an endpoint of their own, for their Work item. No tool approves, verifies, changes a state or runs a program.",
    body: Message,
    maxBytes: 4 * 1024 * 1024,
    response: Message,
    orStatus: 202,
    handler: async ({ body, headers }, service) => {
      const version = headers['mcp-protocol-version']?.toString();
      const answer = await serveMcp(service, { body, version });
      return new Answer<never>(answer.body, {}, undefined, answer.status);
    },
  }),
];
