import { newId } from '../../../store/new-id.ts';
import type { Snapshot, SnapshotEntry } from '../../../store/records/snapshot.ts';
import {
  createSnapshot,
  readSnapshots as keptSnapshots,
  readSnapshot,
  type TaggedSnapshot,
} from '../../../store/snapshots.ts';
import type { Store } from '../../../store/store.ts';
import { orNotFound } from '../../errors.ts';

/** Keeps the global memory as it is now. Throws `too_large` beyond 16 MiB. */
export const takeSnapshot = (store: Store): Promise<TaggedSnapshot> =>
  createSnapshot(store, newId());

/** The snapshots that can be read, oldest first; the others are told by the diagnostics. */
export const listSnapshots = (store: Store): SnapshotEntry[] => keptSnapshots(store).snapshots;

/** Throws 404, and `unreadable_record` when the snapshot was changed since. */
export const getSnapshot = (store: Store, id: string): { snapshot: Snapshot; etag: string } =>
  orNotFound(readSnapshot(store, id), 'snapshot', id);
