import { pullsWhere } from '../../../store/pulls/pull-index.ts';
import { changePull, readPull } from '../../../store/pulls/pulls.ts';
import { appendTimeline, type NewTransition } from '../../../store/pulls/timeline.ts';
import type { PullMatter, PullTransition } from '../../../store/records/pull-request.ts';
import type { Store } from '../../../store/store.ts';
import { unknown } from '../pull-requests/timeline.ts';
import type { Change } from './change.ts';
import { type Heard, type HostNews, isIn, isOlder, meant, newest } from './host-news.ts';

type Pull = HostNews['pulls'][number];

/** Adds to the timelines of the pull requests that are meant, and marks their records as stale. */
export const tellPulls = async (store: Store, told: HostNews): Promise<Heard> => {
  const heard: Heard = { told: [], older: [] };
  const isMeant = (matter: PullMatter): boolean => about(told, matter) !== undefined;
  for (const id of await pullsWhere(store, isMeant)) {
    const matter = readPull(store, id)?.matter;
    const pull = matter && about(told, matter);
    // Since memory looked, it has become the record of another one.
    if (matter === undefined || pull === undefined) continue;
    const isKnown = isOlder(pull, matter.updated_at);
    (isKnown ? heard.older : heard.told).push(id);
    if (!isKnown) await tellPull(store, id, { matter, pull });
  }
  return heard;
};

const tellPull = async (
  store: Store,
  id: string,
  { matter, pull }: { matter: PullMatter; pull: Pull },
): Promise<void> => {
  const { change } = pull;
  if (change !== undefined) await addChange(store, id, { change, matter });
  await changePull(store, id, { changes: { stale: true, ...newest(pull, matter) } });
};

const about = (told: HostNews, matter: PullMatter): Pull | undefined => {
  const isChecked = told.commit !== undefined && told.commit === matter.head_sha;
  if (!isChecked || !isIn(told, matter)) return meant(told, told.pulls, matter);
  return { number: matter.number, node_id: undefined, updated_at: undefined };
};

const addChange = async (
  store: Store,
  id: string,
  { change, matter }: { change: Change; matter: PullMatter },
): Promise<void> => {
  const { number, state } = matter;
  const observed_at = store.clock().toISOString();
  await appendTimeline(store, id, (known) => {
    const before = lastBefore(known, number, change.occurred_at);
    const from = change.event === 'opened' ? 'none' : (before?.to ?? state);
    const told: NewTransition = { number, from, ...change, observed_at, source: 'webhook' };
    return unknown(known, [told]);
  });
};

const lastBefore = (
  known: readonly PullTransition[],
  number: number,
  time: string,
): PullTransition | undefined =>
  known
    .filter((each) => each.number === number && Date.parse(each.occurred_at) <= Date.parse(time))
    .toSorted((a, b) => Date.parse(a.occurred_at) - Date.parse(b.occurred_at) || a.seq - b.seq)
    .at(-1);
