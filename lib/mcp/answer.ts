import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import {
  CallToolRequestSchema,
  type CallToolResult,
  ListToolsRequestSchema,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/sdk/types.js';
import { StoreError } from '../../store/base/errors.ts';
import { asSentence, type FieldError, LIST_COLLECTION, ServiceError } from '../errors.ts';
import { checker } from '../http/validation.ts';
import { OPERATOR_TOOLS } from './operator-tools.ts';
import { SESSION_TOOLS } from './session-tools.ts';
import type { McpCaller, Tool } from './tool.ts';

export interface McpMessage {
  body: unknown;
  /** The Mcp-Protocol-Version header. */
  version: string | undefined;
}

/**
 * Answers one message of the Model Context Protocol. The server is stateless: the token of each message decides which tools
 * the caller has. Throws `bad_request` for an unknown version of the protocol, and for what is no message of it.
 */
export const answerMessage = async (
  caller: McpCaller,
  { body, version }: McpMessage,
): Promise<Response> => {
  if (version !== undefined) refuseUnknown(version);
  const tools = toolsFor(caller);
  const server = new Server(
    { name: 'dossier', version: caller.service.version.version },
    { capabilities: { tools: {} }, instructions: instructionsFor(caller) },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: tools.map(toMcpTool) }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) =>
    callTool(caller, tools, params.name, params.arguments ?? {}),
  );
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true });
  await server.connect(transport);
  try {
    const response = await transport.handleRequest(requestOf(version), { parsedBody: body });
    if (response.status === 400) throw new ServiceError('bad_request', NO_MESSAGE);
    return response;
  } finally {
    await server.close();
  }
};

const NO_MESSAGE =
  'The body is no message of JSON-RPC 2.0. Send a request, a notification or a response.';

// The body of the request is not read: it is parsed already.
const requestOf = (version: string | undefined): Request =>
  new Request('http://localhost/mcp', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...(version !== undefined && { 'mcp-protocol-version': version }),
    },
  });

const refuseUnknown = (version: string): void => {
  if (SUPPORTED_PROTOCOL_VERSIONS.includes(version)) return;
  throw new ServiceError(
    'bad_request',
    `The Mcp-Protocol-Version is not supported. Send the one that initialize returned: one of ${SUPPORTED_PROTOCOL_VERSIONS.join(', ')}.`,
  );
};

// A client gives these instructions to its model at the start.
const instructionsFor = ({ run }: McpCaller): string => {
  if (run === undefined)
    return 'Dossier keeps AI coding work as Work items with plans, sessions and proof. These tools are read-only. The operator makes changes with the API or in the files.';
  const now =
    run.phase === 'work'
      ? 'You are in Work mode: carry out the approved plan, tick the tasks of tasks.md when they are done, save what later sessions need to know in memory, and attach proof for your claims. The operator verifies it.'
      : 'You are in Plan mode: read, and change nothing. Put every intended change into the plan, which the operator approves.';
  return `Dossier manages the Work item that you work on. read_work_item returns its description and the missing proof. ${now}`;
};

// In Plan mode only the tools that read are available.
const toolsFor = ({ run }: McpCaller): readonly Tool[] => {
  if (run === undefined) return OPERATOR_TOOLS;
  return run.phase === 'work' ? SESSION_TOOLS : SESSION_TOOLS.filter(({ reads }) => reads);
};

const toMcpTool = (tool: Tool) => ({
  name: tool.name,
  description: tool.description,
  inputSchema: inputSchemaOf(tool),
  annotations: { readOnlyHint: tool.reads, destructiveHint: false, openWorldHint: false },
});

const inputSchemaOf = ({ input }: Tool) => ({
  ...input,
  type: 'object' as const,
  additionalProperties: false,
});

const callTool = async (
  caller: McpCaller,
  tools: readonly Tool[],
  name: string,
  given: Record<string, unknown>,
): Promise<CallToolResult> => {
  const tool = tools.find((one) => one.name === name);
  if (tool === undefined) return failed(unknownTool(caller, tools, name));
  const wrong = checker(() => inputSchemaOf(tool))(given);
  if (wrong.length > 0) return failed(`${wrong.map(toSentence).join(' ')} Call ${name} again.`);
  try {
    return { content: [{ type: 'text', text: await tool.call(caller, given) }] };
  } catch (error) {
    if (!(error instanceof ServiceError || error instanceof StoreError)) {
      caller.service.log.error({ err: error, tool: name }, 'MCP tool failed');
      return failed('The daemon failed unexpectedly. Its log contains the cause.');
    }
    return failed(describeRefusal(tool, error));
  }
};

const toSentence = ({ path, message }: FieldError): string =>
  `The argument ${path.slice(1).replaceAll('/', '.')} ${message}.`;

// The messages name calls of the API; a model gets the tool to call.
const describeRefusal = (
  { name, lists = name }: Tool,
  { code, message }: ServiceError | StoreError,
): string => {
  const sentence = asSentence(message);
  if (code === 'not_found')
    return sentence.replace(LIST_COLLECTION, `Call ${lists} to see what exists.`);
  return code === 'precondition_failed'
    ? `${sentence} Call ${lists}.`
    : `${sentence} Call ${name} again.`;
};

const unknownTool = ({ run }: McpCaller, tools: readonly Tool[], name: string): string =>
  run?.phase === 'plan' && SESSION_TOOLS.some((tool) => tool.name === name)
    ? `${name} is not available in Plan mode, only in Work mode. Put the change into the plan.`
    : `There is no tool ${name}. Call one of ${tools.map((tool) => tool.name).join(', ')}.`;

// A failure is a result and not a protocol error, so that the model reads it.
const failed = (text: string): CallToolResult => ({
  content: [{ type: 'text', text }],
  isError: true,
});
