import { Type } from 'typebox';
import { passMessage } from '../lib/code/language-server/conversation.ts';
import { openBridge } from '../lib/code/language-server/socket.ts';
import { ServiceError } from '../lib/errors.ts';
import { Answer, route } from '../lib/http/route.ts';
import { LANGUAGES } from '../store/records/settings.ts';

export const LanguageName = Type.Enum([...LANGUAGES]);

/** The directory of the server: a Work item or a project. */
export const scope = {
  case_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'The Work item of the worktree' }),
  ),
  project_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Or the name of the project' }),
  ),
};

export const SERVING = [
  'not_found',
  'worktree_missing',
  'worktree_elsewhere',
  'worktree_tampered',
  'unreadable_record',
  'no_repository',
  'trust_needed',
  'unavailable',
  'tool_timeout',
  'git_failed',
] as const;

const LanguagePath = { language: LanguageName };

const Message = Type.Object({
  jsonrpc: Type.Optional(Type.Literal('2.0')),
  id: Type.Optional(
    Type.Union([Type.String(), Type.Number()], { description: 'The id of a request' }),
  ),
  method: Type.Optional(Type.String({ description: 'Required here or in `message`' })),
  params: Type.Optional(Type.Unknown()),
  ...scope,
  message: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), {
      description: 'The message, instead of the members `jsonrpc`, `id`, `method` and `params`',
    }),
  ),
});

const CLOSES =
  'Close codes: 4000 if the server exited, 4001 if the client does not read fast enough, 4002 for an invalid message, 1001 if the daemon stops or the worktree is removed, 1008 if the API key was revoked. The next connection starts a new server.';

export const languageServerRoutes = [
  route('GET /lsp/{language}/ws', {
    operationId: 'openLanguageServer',
    summary: 'Connect to the language server by WebSocket',
    description: `Each text message is one JSON-RPC message of the Language Server Protocol, without headers. All clients of one language and directory share a server, which the daemon has initialized: \`initialize\` returns its capabilities, and \`shutdown\` and \`exit\` end only the client's own connection. Notifications of the server go to every client, and its requests to the client that connected first; the daemon answers after 2 s if that client does not. If clients have different unsaved texts of a file, they get a \`window/showMessage\`, and each gets answers for its own text. ${CLOSES}`,
    params: LanguagePath,
    query: Type.Object(scope),
    errors: [...SERVING, 'upgrade_required'],
    socket: ({ params, query }, service) => openBridge(service, params.language, query),
    handler: () => {
      throw new ServiceError(
        'upgrade_required',
        'The endpoint requires a WebSocket: connect with ws://, or send single messages to POST /lsp/:language/message.',
        { headers: { upgrade: 'websocket' } },
      );
    },
  }),
  route('POST /lsp/{language}/message', {
    operationId: 'sendLanguageServerMessage',
    summary: 'Send one JSON-RPC message to the language server',
    description:
      "The body is the message, with `case_id` or `project_id` in the query; or the body is an object with `message` and `case_id` or `project_id`. Returns the server's response to a request (200, even for a protocol error), and 202 for a notification. Files that a message opens are closed afterwards; for unsaved text use POST /editor/complete.",
    params: LanguagePath,
    query: Type.Object(scope),
    body: Message,
    orStatus: 202,
    maxBytes: 25 * 1_048_576,
    response: Type.Record(Type.String(), Type.Unknown()),
    errors: SERVING,
    handler: async ({ params, query, body }, service) => {
      const answer = await passMessage(service, params.language, query, body);
      return answer ?? new Answer<Record<string, unknown>>(undefined, {}, undefined, 202);
    },
  }),
];
