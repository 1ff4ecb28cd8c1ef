import { Type } from 'typebox';
import { passMessage } from '../lib/code/language-server/conversation.ts';
import { openBridge } from '../lib/code/language-server/socket.ts';
import { ServiceError } from '../lib/errors.ts';
import { Answer, route } from '../lib/http/route.ts';
import { LANGUAGES } from '../store/records/settings.ts';

export const LanguageName = Type.Enum([...LANGUAGES]);

/** Whose files are meant: one of both. */
export const scope = {
  case_id: Type.Optional(
    Type.String({ format: 'uuid', description: 'The Work item whose worktree is meant' }),
  ),
  project_id: Type.Optional(
    Type.String({ minLength: 1, maxLength: 200, description: 'Or the project, by its name' }),
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
  id: Type.Optional(Type.Union([Type.String(), Type.Number()], { description: 'Of a request' })),
  method: Type.Optional(Type.String({ description: 'Required, here or in `message`' })),
  params: Type.Optional(Type.Unknown()),
  ...scope,
  message: Type.Optional(
    Type.Record(Type.String(), Type.Unknown(), { description: 'Instead of the four above' }),
  ),
});

const CLOSES =
  'The socket is closed with 4000 when the server ended by itself, 4001 when the client leaves too much unread, 4002 when a message is none, and 1001 when the daemon or the worktree goes; a further connection starts a new server.';

export const languageServerRoutes = [
  route('GET /lsp/{language}/ws', {
    operationId: 'openLanguageServer',
    summary: 'Speak with the language server, as WebSocket messages',
    description: `Each text message is one JSON-RPC message of the Language Server Protocol, without its header. All clients of one language and directory share a server that the daemon has initialised: \`initialize\` is answered with what it can do, \`shutdown\` and \`exit\` end the client's own connection only. Notifications go to every client, and a request of the server's to the client that has been there longest; what it has not answered after 2 s is answered in its place. Clients with different unsaved texts of one file are told so by \`window/showMessage\`; each is answered by its own text. ${CLOSES}`,
    params: LanguagePath,
    query: Type.Object(scope),
    errors: [...SERVING, 'upgrade_required'],
    socket: ({ params, query }, service) => openBridge(service, params.language, query),
    handler: () => {
      throw new ServiceError(
        'upgrade_required',
        'This is a WebSocket: open it with ws://, or send single messages to POST /lsp/:language/message.',
        { headers: { upgrade: 'websocket' } },
      );
    },
  }),
  route('POST /lsp/{language}/message', {
    operationId: 'sendLanguageServerMessage',
    summary: 'Send one JSON-RPC message to the language server',
    description:
      "The body is the message, and `case_id` or `project_id` is in the query; or the body is an object with the message as `message` and one of both beside it. A request is answered with the server's answer to it, which may be an error of the protocol (200 all the same); a notification with 202. Files that a message opens are closed with its answer: POST /editor/complete takes unsaved text.",
    params: LanguagePath,
    query: Type.Object(scope),
    body: Message,
    orStatus: 202,
    maxBytes: 25 * 1_048_576,
    response: Type.Record(Type.String(), Type.Unknown()),
    errors: SERVING,
    handler: async ({ params, query, body }, service) => {
      const answer = await passMessage(service, params.language, { ...query, ...body });
      return answer ?? new Answer<Record<string, unknown>>(undefined, {}, undefined, 202);
    },
  }),
];
