import { connect, Problem } from '../../../lib/client/client.ts';
import type { WorkspaceEvent } from '../common/page.ts';

/**
 * A message to the pages: an event, or a change of the connection. It broke (`lost`), was refused because this browser is
 * logged out (`out`), or is open (`back`): from there on no event is missed.
 */
export type StreamMessage = { event: WorkspaceEvent } | { state: 'lost' | 'out' | 'back' };

/** The delay before a new stream after an error that ends one, such as an upgrade of the daemon. In milliseconds. */
const PAUSE_MS = 2000;

/** Sends all events of the workspace from now on, over one connection. Never ends. */
export const followEvents = (send: (message: StreamMessage) => void): void => {
  const subscribe = async (): Promise<void> => {
    const stream = connect({ url: '' }).stream('GET /events', {
      query: { after: 'now' },
      onOpen: () => send({ state: 'back' }),
      onBreak: () => send({ state: 'lost' }),
    });
    for await (const { data } of stream)
      if ('event_type' in data) send({ event: data as WorkspaceEvent });
  };
  const reconnect = (error: unknown): void => {
    send({ state: isLoggedOut(error) ? 'out' : 'lost' });
    setTimeout(() => void subscribe().catch(reconnect), PAUSE_MS);
  };
  void subscribe().catch(reconnect);
};

/** Whether the daemon no longer knows this browser: a log-in ends with the daemon. */
const isLoggedOut = (error: unknown): boolean => error instanceof Problem && error.status === 401;

/** Subscribes to the workspace's events, over a connection shared by all tabs if the browser has shared workers. */
export const subscribe = (worker: string, send: (message: StreamMessage) => void): void => {
  // Some mobile browsers have none.
  if (!('SharedWorker' in globalThis)) {
    followEvents(send);
    return;
  }
  const options = { type: 'module', name: 'dossier' } as const;
  const shared = new SharedWorker(`/dashboard/assets/${worker}`, options);
  // Its script does not load: the page may be of an earlier version of the daemon.
  shared.onerror = () => followEvents(send);
  shared.port.onmessage = ({ data }: MessageEvent<StreamMessage>) => send(data);
};
