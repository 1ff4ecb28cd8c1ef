import { connect } from '../../../lib/client/client.ts';
import type { WorkspaceEvent } from '../common/page.ts';

/** What pages are told: what happened, and whether more would be heard. */
export type Told = { event: WorkspaceEvent } | { state: 'lost' | 'back' };

/** After what ends a stream for good, such as another version of the daemon. In milliseconds. */
const PAUSE_MS = 2000;

/** Tells all that happens from now on, over one connection, for as long as there is somebody to tell. */
export const followEvents = (tell: (told: Told) => void): void => {
  const follow = async (): Promise<void> => {
    const stream = connect({ url: '' }).stream('GET /events', {
      query: { after: 'now' },
      onOpen: () => tell({ state: 'back' }),
      onBreak: () => tell({ state: 'lost' }),
    });
    for await (const { data } of stream)
      if ('event_type' in data) tell({ event: data as WorkspaceEvent });
  };
  const goOn = (): void => {
    tell({ state: 'lost' });
    setTimeout(() => void follow().catch(goOn), PAUSE_MS);
  };
  void follow().catch(goOn);
};

/** What a page is told by the one connection that all tabs share. */
interface Follower {
  event: (event: WorkspaceEvent) => void;
  /** The daemon does not answer any more. */
  lost: () => void;
  /** It answers, for the first time or again: what is told from now on is all that happens. */
  back: () => void;
}

/** Follows the events of the workspace over the connection of all tabs, or its own where tabs can share none. */
export const follow = (worker: string, follower: Follower): void => {
  const tell = (told: Told): void => {
    if ('event' in told) follower.event(told.event);
    else follower[told.state]();
  };
  // Not in every browser of a phone.
  if (!('SharedWorker' in globalThis)) {
    followEvents(tell);
    return;
  }
  const options = { type: 'module', name: 'dossier' } as const;
  const { port } = new SharedWorker(`/dashboard/assets/${worker}`, options);
  port.onmessage = ({ data }: MessageEvent<Told>) => tell(data);
};
