import { jsonText } from '../../../store/base/json.ts';
import { etagOf } from '../../../store/base/names.ts';
import { sha256 } from '../../../store/base/sha256.ts';
import { orLate } from '../../../store/reconcile/deferred.ts';
import { caseStateOf, recordOf } from '../../../store/reconcile/item.ts';
import { allItems, itemOf, whenChanged, whenNoticed } from '../../../store/reconcile/items.ts';
import type { AttentionItem } from '../../../store/records/attention.ts';
import type { State } from '../../../store/records/case.ts';
import type { Store, WithStore } from '../../../store/store.ts';
import { ServiceError } from '../../errors.ts';
import type { WithLog } from '../../log.ts';
import type { WithEngine } from '../../work/sessions/live/engine.ts';
import { type AboutCase, type AttentionEntry, entryOf } from './entry.ts';
import { ofFiles, ofWorkspace } from './files.ts';
import { ofConflict, ofLink, ofReviews } from './pulls.ts';
import { ofSessions } from './sessions.ts';

/** What needs the operator now. It can be found again from the files, and is kept nowhere. */
export interface Attention {
  /** Oldest first, ready to send. Costs what has changed since, however many Work items there are. */
  list(): Attended;
  /** Nothing is told any more. */
  close(): void;
}

interface Attended {
  body: Buffer;
  etag: string;
  count: number;
}

type Given = WithEngine & WithLog & WithStore;

/** What can wait of a Work item: a kind that is new is a line here. */
const SOURCES: readonly ((service: Given, about: AboutCase) => AttentionEntry[])[] = [
  ofSessions,
  ofConflict,
  ofReviews,
  ofLink,
  ofFiles,
];

const LOOKED_AT: ReadonlySet<State> = new Set<State>(['BLOCKED', 'VERIFYING']);

const SOON_MS = 50;
// Of the time at most: with thousands of problems the list is long, and a sweep that finds them tells of each.
const SHARE = 0.1;
const NAME = 'attention';

/** Looks again at what changed, and tells everybody who follows that what waits is another. */
export const createAttention = (store: Store, serviceOf: () => Given): Attention => {
  const found = new Map<string, AttentionItem[]>();
  const changed = new Set([...store.journal.runs.values()].map(({ case_id }) => case_id));
  // Their sessions have ended, which no run tells.
  for (const item of allItems(store)) if (LOOKED_AT.has(caseStateOf(item))) changed.add(item.id);
  let made: Attended | undefined;
  let timer: NodeJS.Timeout | undefined;
  let pause_ms = SOON_MS;
  let closed = false;
  const list = (): Attended => {
    for (const id of changed) look(serviceOf(), found, id);
    changed.clear();
    made ??= attended([...ofWorkspace(serviceOf().store), ...[...found.values()].flat()]);
    return made;
  };
  const tell = (): void => {
    timer = undefined;
    const since = performance.now();
    list();
    pause_ms = Math.max(SOON_MS, (performance.now() - since) / SHARE);
    void orLate(store, NAME, {
      what: 'telling what needs the operator',
      work: async () => (closed ? undefined : tellOthers(store, list())),
    });
  };
  const lookAgain = (id?: string): void => {
    if (closed) return;
    if (id !== undefined) changed.add(id);
    made = undefined;
    timer ??= setTimeout(tell, pause_ms).unref();
  };
  attend(store, lookAgain);
  const close = (): void => {
    closed = true;
    clearTimeout(timer);
  };
  return { list, close };
};

const tellOthers = async (store: Store, { etag, count }: Attended): Promise<void> => {
  if (store.readOnly || (store.journal.told.get(NAME) ?? NOTHING) === etag) return;
  const timestamp = store.clock().toISOString();
  const event = { event_type: 'attention_changed' as const, timestamp, payload: { count, etag } };
  await store.journal.append({ told: { id: NAME, state: etag }, events: [event] });
};

const attend = (store: Store, lookAgain: (id?: string) => void): void => {
  whenChanged(store, lookAgain);
  whenNoticed(store, lookAgain);
  store.problems.follow(() => lookAgain());
  store.journal.onEvents((events) => {
    for (const { body } of events)
      if (body.event_type !== 'attention_changed') lookAgain(body.payload.case_id);
  });
};

const look = (service: Given, found: Map<string, AttentionItem[]>, id: string): void => {
  const item = itemOf(service.store, id);
  const about = item && recordOf(item);
  const entries = about === undefined ? [] : SOURCES.flatMap((of) => entriesOf(service, of, about));
  if (entries.length === 0) found.delete(id);
  else found.set(id, entries);
};

// What cannot be read is told as such, and hides nothing else.
const entriesOf = (
  service: Given,
  of: (typeof SOURCES)[number],
  about: AboutCase,
): AttentionItem[] => {
  try {
    return of(service, about).map((entry) => entryOf(about, entry));
  } catch (error) {
    if (!(error instanceof ServiceError)) service.log.debug({ err: error }, 'Not looked at');
    return [];
  }
};

const attended = (items: AttentionItem[]): Attended => {
  const sorted = items.sort((a, b) => order(a.since, b.since) || order(a.id, b.id));
  const body = Buffer.from(jsonText(sorted));
  return { body, etag: etagOf(sha256(body)), count: sorted.length };
};

const order = (a: string, b: string): number => Number(a > b) - Number(a < b);

// That is no news in a workspace that nobody has told of.
const NOTHING = attended([]).etag;
