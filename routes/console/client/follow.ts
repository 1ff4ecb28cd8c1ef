import type { WorkspaceEvent } from '../common/page.ts';
import { followEvents, type Told } from './events.ts';

/** What a page is told by the one connection that all tabs share. */
export interface Follower {
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
