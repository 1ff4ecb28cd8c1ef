import { Readable, Writable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
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
  /** Called for every notification in order, before the response to any later request. */
  onNotification(method: string, params: unknown): void;
  onPermission(params: unknown, signal: AbortSignal): Promise<unknown>;
  onQuestion(params: unknown, signal: AbortSignal): Promise<unknown>;
  /** Called for a request that this client does not support; the agent gets an error. */
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
    inPieces(Readable.toWeb(program.stdout) as ReadableStream<Uint8Array>),
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
    /** Rejects if the agent responds with an error or the connection closes. */
    request: (method: string, params: unknown): Promise<unknown> =>
      connection.agent.request(method, params),
    // If the agent has exited, the request of the turn reports it.
    notify: (method: string, params: unknown): void =>
      void connection.agent.notify(method, params).catch(() => undefined),
    /** The error if a message was too large; undefined while the connection is open or if the agent exited. */
    tooLarge: (): MessageTooLargeError | undefined => {
      const { reason } = connection.signal;
      return reason instanceof MessageTooLargeError ? reason : undefined;
    },
  };
};
export type AgentConnection = ReturnType<typeof connectAgent>;

const asIs = (params: unknown): unknown => params;

/**
 * Takes notifications out of the stream before the SDK, which drops unknown kinds and delivers the rest asynchronously, after
 * the response that ends the turn.
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

// Holds some tens of the smallest messages, which the SDK handles in one turn of the event loop.
const PIECE_BYTES = 2048;

/**
 * Yields to the event loop after each piece, so that a flood of messages delays nothing else. Not after each message: the SDK
 * reads on however many wait.
 */
const inPieces = (bytes: ReadableStream<Uint8Array>): ReadableStream<Uint8Array> =>
  bytes.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform: async (chunk, controller) => {
        for (let at = 0; at < chunk.length; at += PIECE_BYTES) {
          controller.enqueue(chunk.subarray(at, at + PIECE_BYTES));
          await setImmediate();
        }
      },
    }),
  );

const isNotification = (
  message: AnyMessage,
): message is AnyMessage & { method: string; params: unknown } =>
  'method' in message && !('id' in message) && message.method !== methods.protocol.cancelRequest;
