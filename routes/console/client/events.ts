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
