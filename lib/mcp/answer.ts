import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { Check, Errors } from 'typebox/value';
import { StoreError } from '../../store/base/errors.ts';
import { ServiceError } from '../errors.ts';
import { OPERATOR_TOOLS } from './operator-tools.ts';
import { SESSION_TOOLS } from './session-tools.ts';
import type { McpCaller, Tool } from './tool.ts';

/**
 * Answers one message of the Model Context Protocol. Nothing is kept between messages: what a caller may do follows
 * from its token alone, each time. Throws `bad_request` for a version of the protocol that nobody knows.
 */
export const answerMessage = async (
  caller: McpCaller,
  request: Request,
  /** The message of the request, which is not read from it again. */
  parsedBody: unknown,
): Promise<Response> => {
  refuseUnknown(request.headers.get(VERSION));
  const tools = toolsFor(caller);
  const server = new Server(
    { name: 'dossier', version: caller.service.version.version },
    { capabilities: { tools: {} }, instructions: instructionsFor(caller) },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(described) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callTool(caller, tools, params.name, params.arguments ?? {}),
  );
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    return await transport.handleRequest(request, { parsedBody });
  } finally {
    await server.close();
  }
};

const VERSION = 'mcp-protocol-version';

const refuseUnknown = (version: string | null): void => {
  if (version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return;
  throw new ServiceError(
    'bad_request',
    `Mcp-Protocol-Version is none that is known here: send one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}, as initialize answered it.`,
  );
};

// What a client tells its model at the beginning.
const instructionsFor = ({ run }: McpCaller): string => {
  if (run === undefined)
    return 'Dossier keeps AI coding work as Work items with plans, sessions and proof. These tools read all of them. Nothing is changed here: the operator does that by the API or the files.';
  const now =
    run.phase === 'work'
      ? 'You are in Work mode: do what the approved plan says, tick tasks of tasks.md as they are done, keep what later sessions should know in memory, and attach proof of what you claim. The operator verifies it.'
      : 'You are in Plan mode: read, and change nothing. What is to be written goes into the plan, which the operator approves.';
  return `Dossier keeps the Work item that you are at. read_work_item says what is asked, and what of its proof is missing. ${now}`;
};

// In Plan mode nothing is written, by this way either.
const toolsFor = ({ run }: McpCaller): readonly Tool[] => {
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
  caller: McpCaller,
  tools: readonly Tool[],
  name: string,
  given: Record<string, unknown>,
): Promise<CallToolResult> => {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return failed(noTool(caller, name));
  const unknown = Object.keys(given).find((key) => !Object.hasOwn(tool.input.properties, key));
  if (unknown !== undefined) return failed(`${name} takes no argument ${unknown}.`);
  if (!Check(tool.input, given)) return failed(`${misfit(tool, given)} Call ${name} again.`);
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

// The first argument that is not as the schema says, and what it should be.
const misfit = ({ input }: Tool, given: Record<string, unknown>): string => {
  const missing = (input.required ?? []).find((key) => !Object.hasOwn(given, key));
  if (missing !== undefined) return `The argument ${missing} is required.`;
  const [first] = Errors(input, given);
  const path = first?.instancePath.slice(1).replaceAll('/', '.') ?? '';
  const { allowedValues } = (first?.params ?? {}) as { allowedValues?: unknown[] };
  const values = allowedValues === undefined ? '' : `: ${allowedValues.join(', ')}`;
  return `The argument ${path} ${first?.message ?? 'is not as its schema says'}${values}.`;
};

const noTool = ({ run }: McpCaller, name: string): string =>
  run?.phase === 'plan' && SESSION_TOOLS.some((tool) => tool.name === name)
    ? `You are in Plan mode, where nothing is written: ${name} is for Work mode. Put it into the plan.`
    : `There is no tool ${name}.`;

// Told as a result, so that the model reads it and does something else.
const failed = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
});
