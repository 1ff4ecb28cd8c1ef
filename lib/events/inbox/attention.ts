import { coalesceReads } from '../../../store/base/async.ts';
import { isDiskFault } from '../../../store/base/attempt.ts';
import { etagOf } from '../../../store/base/names.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { jsonText } from '../../../store/base/visible.ts';
import { doOrDefer } from '../../../store/reconcile/deferred.ts';
import { caseStateOf, recordOf } from '../../../store/reconcile/item.ts';
import { allItems, itemOf, onFilesChanged, onItemChanged } from '../../../store/reconcile/items.ts';
import type { AttentionItem } from '../../../store/records/attention.ts';
import type { State } from '../../../store/records/case.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { WithGit } from '../../tools/git/run/git.ts';
import type { WithEngine } from '../../work/sessions/live/engine.ts';
import { type AboutCase, type AttentionEntry, attentionItem } from './entry.ts';
import { fileEntries, workspaceEntries } from './files.ts';
import { type OverlapWatch, watchOverlaps } from './overlap-watch.ts';
import { overlapEntries } from './overlaps.ts';
import { conflictEntries, linkEntries, reviewEntries } from './pulls.ts';
import { sessionEntries } from './sessions.ts';

/** The list of what needs the operator now. It is derived from files and kept in memory only. */
export interface Attention {
  /** Starts to follow changes. */
  start(): void;
  /** The list, oldest first, ready to send. Costs only what changed since the last call. */
  list(): AttentionList;
  /** Updates the entries of a Work item soon. */
  update(caseId: string): void;
  /** Ends the events. */
  close(): Promise<void>;
}

interface AttentionList {
  body: Buffer;
  etag: string;
  count: number;
}

type Given = WithEngine & WithGit & WithLog & WithStore;

type Source = (service: Given, about: AboutCase) => AttentionEntry[];

/** The sources of entries about a Work item. */
const SOURCES: readonly Source[] = [
  sessionEntries,
  conflictEntries,
  reviewEntries,
  linkEntries,
  fileEntries,
];

const LOOKED_AT: ReadonlySet<State> = new Set<State>(['BLOCKED', 'VERIFYING']);

const SOON_MS = 50;
// The largest share of time for updates: with thousands of problems the list is long, and a sweep reports each one.
const SHARE = 0.1;
const NAME = 'attention';

/** Updates the list after changes, and journals an event when it is another one. */
export const createAttention = (store: Store, serviceOf: () => Given): Attention => {
  const found = new Map<string, AttentionItem[]>();
  const changed = new Set<string>();
  let made: AttentionList | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause_ms = SOON_MS;
  let closed = false;
  const list = (): AttentionList => {
    if (changed.size > 0) made = undefined;
    for (const id of changed)
      if (isUpdated(serviceOf(), { found, sources }, id)) changed.delete(id);
    made ??= listOf([...workspaceEntries(serviceOf().store), ...[...found.values()].flat()]);
    return made;
  };
  const publish = (): void => {
    timer = undefined;
    const since = performance.now();
    list();
    pause_ms = Math.max(SOON_MS, (performance.now() - since) / SHARE);
    void doOrDefer(store, NAME, {
      what: 'journaling a change of the attention list',
      work: journalOnce,
    });
  };
  // One at a time: what is compared with is known once it is on disk.
  const journalOnce = coalesceReads(async () => (closed ? undefined : journalList(store, list())));
  const scheduleUpdate = (id?: string): void => {
    if (closed) return;
    if (id !== undefined) changed.add(id);
    made = undefined;
    timer ??= setTimeout(publish, pause_ms).unref();
  };
  const overlaps = watchOverlaps(serviceOf, scheduleUpdate);
  const sources = [...SOURCES, overlapsFrom(overlaps)];
  const start = (): void => {
    for (const { case_id } of store.journal.runs.values()) changed.add(case_id);
    // Ended sessions of these Work items can need the operator, too.
    for (const item of allItems(store)) if (LOOKED_AT.has(caseStateOf(item))) changed.add(item.id);
    overlaps.start();
    subscribe(store, (id) => {
      scheduleUpdate(id);
      if (id !== undefined) overlaps.changed(id);
    });
  };
  const close = (): Promise<void> => {
    closed = true;
    clearTimeout(timer);
    return overlaps.close();
  };
  return { start, list, update: scheduleUpdate, close };
};

const overlapsFrom =
  (overlaps: OverlapWatch): Source =>
  ({ store }, about) =>
    overlapEntries(store, about, overlaps.of(about.id));

const journalList = async (store: Store, { etag, count }: AttentionList): Promise<void> => {
  if (store.readOnly || (store.journal.told.get(NAME) ?? EMPTY_LIST) === etag) return;
  const timestamp = store.clock().toISOString();
  const event = { event_type: 'attention_changed' as const, timestamp, payload: { count, etag } };
  await store.journal.append({ told: { id: NAME, state: etag }, events: [event] });
};

const subscribe = (store: Store, update: (id?: string) => void): void => {
  onItemChanged(store, update);
  onFilesChanged(store, update);
  store.problems.follow(() => update());
  store.journal.onEvents((events) => {
    for (const { body } of events)
      if (body.event_type !== 'attention_changed') update(body.payload.case_id);
  });
};

interface Known {
  found: Map<string, AttentionItem[]>;
  sources: readonly Source[];
}

/** Updates the entries of a Work item. After a disk fault they stay, and it is false: the next list tries again. */
const isUpdated = (service: Given, { found, sources }: Known, id: string): boolean => {
  const item = itemOf(service.store, id);
  const about = item && recordOf(item);
  const all = about === undefined ? [] : sources.map((of) => entriesOf(service, of, about));
  const entries = all.flatMap((some) => some ?? []);
  if (all.includes(undefined)) return false;
  if (entries.length === 0) found.delete(id);
  else found.set(id, entries);
  return true;
};

// Unreadable records are reported as problems and do not hide other entries. Undefined after a disk fault.
const entriesOf = (service: Given, of: Source, about: AboutCase): AttentionItem[] | undefined => {
  try {
    return of(service, about).map((entry) => attentionItem(about, entry));
  } catch (error) {
    if (!(error instanceof ServiceError))
      service.log.debug({ err: error }, 'attention source failed');
    return isDiskFault(error) ? undefined : [];
  }
};

const listOf = (items: AttentionItem[]): AttentionList => {
  const sorted = items.sort((a, b) => compareText(a.since, b.since) || compareText(a.id, b.id));
  const body = Buffer.from(jsonText(sorted));
  return { body, etag: etagOf(sha256(body)), count: sorted.length };
};

const compareText = (a: string, b: string): number => Number(a > b) - Number(a < b);

// In a workspace without a journaled list, an empty list makes no event.
const EMPTY_LIST = listOf([]).etag;
