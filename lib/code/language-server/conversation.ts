import { settlesWithin } from '../../../store/base/async.ts';
import type { Language } from '../../../store/records/settings.ts';
import { badField, ServiceError } from '../../errors.ts';
import { record, type Wire } from '../../text/unknown-json.ts';
import { type EditorClient, messageBytes } from './client.ts';
import { type FilesScope, treeIn } from './files-scope.ts';
import type { LanguageServerNeeds, LanguageServers } from './running.ts';
import type { LanguageServer } from './server.ts';
import { serverFor, subscribe } from './servers.ts';

/** A client of a shared server for one API call. */
export interface Conversation {
  /** Sends a request and returns the response, a result or an error. Throws 503 `unavailable` and 504 `tool_timeout`. */
  ask(message: Wire): Promise<Wire>;
  tell(message: Wire): void;
}

const MOST_UNREAD = 8 * 1_048_576;

/** Connects to a shared server for the duration of `work`; files that it opened are closed afterwards. */
export const withConversation = async <T>(
  languageServers: LanguageServers,
  server: LanguageServer,
  work: (conversation: Conversation) => Promise<T>,
): Promise<T> => {
  if (server.unread() > MOST_UNREAD) throw serverStalled();
  const waiting = new Map<string, (answer: Wire) => void>();
  let gone: (error: Error) => void = () => undefined;
  const ended = new Promise<never>((_, reject) => {
    gone = reject;
  });
  ended.catch(() => undefined);
  const client: EditorClient = {
    isEditor: false,
    deliver: (message) => {
      const answer = record(JSON.parse(message.toString('utf8')));
      waiting.get(JSON.stringify(answer.id))?.(answer);
      return true;
    },
    resume: () => undefined,
    end: ({ reason }) => gone(new ServiceError('unavailable', `${reason}. Try again in a moment.`)),
  };
  const seat = subscribe(languageServers, server, client);
  const { answer_ms } = languageServers.limits;
  const ask = async (message: Wire): Promise<Wire> => {
    const answer = new Promise<Wire>((resolve) => waiting.set(JSON.stringify(message.id), resolve));
    seat.receive(messageBytes(message));
    const first = Promise.race([answer, ended]);
    if (await settlesWithin(first, answer_ms)) return first;
    throw answerTimedOut(answer_ms);
  };
  try {
    return await work({ ask, tell: (message) => void seat.receive(messageBytes(message)) });
  } finally {
    seat.leave();
  }
};

const answerTimedOut = (ms: number): ServiceError =>
  new ServiceError(
    'tool_timeout',
    `The language server did not respond within ${ms / 1000} s. It may still be loading the project: try again.`,
  );

const serverStalled = (): ServiceError =>
  new ServiceError(
    'unavailable',
    'The language server is not reading its input. Wait, or close its editors to stop it.',
  );

/** Sends one message, plain or as `message`, to the shared server. Returns the response; undefined for a notification. */
export const passMessage = async (
  service: LanguageServerNeeds,
  language: Language,
  query: FilesScope,
  { case_id, project_id, message: wrapped, ...plain }: FilesScope & { message?: Wire },
): Promise<Wire | undefined> => {
  const [message, at] = wrapped === undefined ? [record(plain), ''] : [wrapped, '/message'];
  const [second] = wrapped === undefined ? [] : Object.keys(plain);
  if (second !== undefined) throw notAMessage(`/${second}`, 'stands beside message');
  const scope = scopeOf(query, { case_id, project_id });
  const { id, method } = message;
  if (typeof method !== 'string')
    throw notAMessage(`${at}/method`, 'is required and must be a string');
  if (id !== undefined && typeof id !== 'string' && typeof id !== 'number')
    throw notAMessage(`${at}/id`, 'must be a string or a number');
  const server = await serverFor(service, language, await treeIn(service, scope));
  return withConversation(service.languageServers, server, async ({ ask, tell }) => {
    const sent = { jsonrpc: '2.0', ...message };
    if (id !== undefined) return ask(sent);
    tell(sent);
    return undefined;
  });
};

// A call that names two worktrees must not reach one of them by chance.
const scopeOf = (query: FilesScope, body: FilesScope): FilesScope => {
  for (const name of ['case_id', 'project_id'] as const) {
    const [asked, sent] = [query[name], body[name]];
    if (asked === undefined || sent === undefined || asked === sent) continue;
    const detail = `/${name} is ${sent}, but the query has ${asked}. Send one of them.`;
    throw badField(`/${name}`, 'differs from the query', detail);
  }
  return { ...body, ...query };
};

const notAMessage = (path: string, what: string): ServiceError =>
  badField(path, what, `${path} ${what}. Send one JSON-RPC request or notification.`);
