import type { WorkspaceEvent } from '../common/page.ts';

/** What a page is told by the one connection that all tabs share. */
export interface Follower {
  event: (event: WorkspaceEvent) => void;
  /** The daemon does not answer any more. */
  lost: () => void;
  /** It answers, for the first time or again: what is told from now on is all that happens. */
  back: () => void;
}

/** What the worker says. */
export type Told = { event: WorkspaceEvent } | { state: 'lost' | 'back' };

/** Follows the events of the workspace over the connection of all tabs. Answers how to stop. */
export const follow = (worker: string, follower: Follower): (() => void) => {
  const { port } = new SharedWorker(`/dashboard/assets/${worker}`, {
    type: 'module',
    name: 'dossier',
  });
  port.onmessage = ({ data }: MessageEvent<Told>) => {
    if ('event' in data) follower.event(data.event);
    else follower[data.state]();
  };
  return () => port.close();
};
