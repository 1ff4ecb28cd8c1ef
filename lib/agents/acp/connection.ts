import { Readable, Writable } from 'node:stream';
import {
  type AnyMessage,
  client,
  DEFAULT_MAX_MESSAGE_BYTES,
  MessageTooLargeError,
  methods,
  ndJsonStream,
  RequestError,
  type Stream,
} from '@agentclientprotocol/sdk';

export interface AgentListener {
  /** Every notification, in the order in which it was sent, before the answer to any later request. */
  onNotification(method: string, params: unknown): void;
  onPermission(params: unknown, signal: AbortSignal): Promise<unknown>;
  onQuestion(params: unknown, signal: AbortSignal): Promise<unknown>;
  /** A request that this client does not serve; the agent is told so. */
  onUnknownRequest(method: string, params: unknown): void;
}

/** The largest single message an agent may send, in bytes. */
export const MAX_MESSAGE_BYTES = DEFAULT_MAX_MESSAGE_BYTES;

/** Speaks the Agent Client Protocol over a program's standard input and output. */
export const connectAgent = (
  program: { stdin: Writable; stdout: Readable },
  listener: AgentListener,
) => {
  const stream = ndJsonStream(
    Writable.toWeb(program.stdin),
    Readable.toWeb(program.stdout) as ReadableStream<Uint8Array>,
    { maxMessageBytes: MAX_MESSAGE_BYTES },
  );
  const connection = client({ name: 'dossier' })
    .onRequest(methods.client.session.requestPermission, asIs, ({ params, signal }) =>
      listener.onPermission(params, signal),
    )
    .onRequest(methods.client.elicitation.create, asIs, ({ params, signal }) =>
      listener.onQuestion(params, signal),
    )
    .onRequest('*', ({ method, params }) => {
      listener.onUnknownRequest(method, params);
      throw RequestError.methodNotFound(method);
    })
    .connect(withNotifications(stream, listener.onNotification));
  return {
    /** Rejects when the agent answers with an error, and when the connection closes. */
    request: (method: string, params: unknown): Promise<unknown> =>
      connection.agent.request(method, params),
    // The agent may be gone already; that shows in the turn's own request.
    notify: (method: string, params: unknown): void =>
      void connection.agent.notify(method, params).catch(() => undefined),
    /** Why the connection closed; undefined while it is open or when the agent just went away. */
    tooLarge: (): MessageTooLargeError | undefined => {
      const { reason } = connection.signal;
      return reason instanceof MessageTooLargeError ? reason : undefined;
    },
  };
};
export type AgentConnection = ReturnType<typeof connectAgent>;

const asIs = (params: unknown): unknown => params;

/**
 * Takes the notifications out of the stream before the SDK sees them. It would drop those whose kind its schema does
 * not know, and hand over the rest asynchronously, after the answer that ends the turn.
 */
const withNotifications = (stream: Stream, tell: AgentListener['onNotification']): Stream => ({
  writable: stream.writable,
  readable: stream.readable.pipeThrough(
    new TransformStream<AnyMessage, AnyMessage>({
      transform: (message, controller) => {
        if (!isNotification(message)) return controller.enqueue(message);
        tell(message.method, message.params);
      },
    }),
  ),
});

const isNotification = (
  message: AnyMessage,
): message is AnyMessage & { method: string; params: unknown } =>
  'method' in message && !('id' in message) && message.method !== methods.protocol.cancelRequest;
