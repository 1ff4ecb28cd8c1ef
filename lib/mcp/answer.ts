import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { Check } from 'typebox/value';
import { StoreError } from '../../store/errors.ts';
import { ServiceError } from '../errors.ts';
import { OPERATOR_TOOLS } from './operator-tools.ts';
import { SESSION_TOOLS } from './session-tools.ts';
import type { Caller, Tool } from './tool.ts';

/**
 * Answers one message of the Model Context Protocol. Nothing is kept between messages: what a caller may do follows
 * from its token alone, each time.
 */
export const answerMessage = async (caller: Caller, request: Request): Promise<Response> => {
  const tools = toolsFor(caller);
  const server = new Server(
    { name: 'dossier', version: caller.service.version.version },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(described) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callTool(caller, tools, params.name, params.arguments ?? {}),
  );
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request);
  } finally {
    await server.close();
  }
};

// In Plan mode nothing is written, by this way either.
const toolsFor = ({ run }: Caller): readonly Tool[] => {
  if (run === undefined) return OPERATOR_TOOLS;
  return run.phase === 'work' ? SESSION_TOOLS : SESSION_TOOLS.filter(({ reads }) => reads);
};

const described = ({ name, description, input, reads }: Tool) => ({
  name,
  description,
  inputSchema: { ...input, type: 'object' as const, additionalProperties: false },
  annotations: { readOnlyHint: reads, destructiveHint: false, openWorldHint: false },
});

const callTool = async (
  caller: Caller,
  tools: readonly Tool[],
  name: string,
  given: Record<string, unknown>,
): Promise<CallToolResult> => {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return failed(noTool(caller, name));
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(tool.input.properties, key));
  if (unknown !== undefined) return failed(`${name} takes no argument ${unknown}.`);
  if (!Check(tool.input, given))
    return failed(`The arguments of ${name} are not as its schema says.`);
  try {
    return { content: [{ type: 'text', text: await tool.call(caller, given) }] };
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof StoreError)) {
      caller.service.log.error({ err: error, tool: name }, 'A tool of the MCP server failed');
      return failed('The daemon made a mistake; its log says more.');
    }
    return failed(error.message);
  }
};

const noTool = ({ run }: Caller, name: string): string =>
  run?.phase === 'plan' && SESSION_TOOLS.some((tool) => tool.name === name)
    ? `You are in Plan mode, where nothing is written: ${name} is for Work mode. Put it into the plan.`
    : `There is no tool ${name}.`;

// Told as a result, so that the model reads it and does something else.
const failed = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
});
