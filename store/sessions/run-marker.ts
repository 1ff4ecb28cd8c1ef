import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { sealOf } from '../consent/seal.ts';
import type { Layout } from '../layout.ts';

/**
 * A marker for the processes of a run, stored in `session.md`, by which they are ended after a restart. Other programs can
 * edit that file, so one part of the marker is random and the rest is a seal of this machine for this session.
 */
export const newRunMarker = (layout: Layout, sessionId: string): string => {
  const own = randomUUID().slice(0, OWN);
  return `${own}${tagOf(layout, sessionId, own) ?? randomUUID().slice(OWN)}`;
};

/** Whether this machine made the marker for this session. */
export const isRunMarker = (layout: Layout, sessionId: string, marker: string): boolean =>
  marker.slice(OWN) === tagOf(layout, sessionId, marker.slice(0, OWN));

// The marker is a valid UUID of version 4; `xxxxxxxx-xxxx-4xxx-` is random.
const OWN = '00000000-0000-4000-'.length;

const tagOf = (layout: Layout, sessionId: string, own: string): string | undefined => {
  const seal = sealOf(layout, join(layout.dossier, 'runs', sessionId), { run_marker: own });
  return seal && `8${seal.slice(0, 3)}-${seal.slice(3, 15)}`;
};
