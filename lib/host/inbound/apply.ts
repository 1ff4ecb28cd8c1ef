import { readIssueCopy } from '../../../store/codehost/issue-copy.ts';
import { linksWhere } from '../../../store/codehost/link-index.ts';
import { changeLink } from '../../../store/codehost/links.ts';
import { changePull, pullsWhere, readPull } from '../../../store/codehost/pulls.ts';
import { appendTimeline, type NewTransition } from '../../../store/codehost/timeline.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { PullMatter, PullTransition } from '../../../store/records/pull-request.ts';
import type { Store } from '../../../store/store.ts';
import { counted } from '../../text/wording.ts';
import { unknown } from '../pull-requests/timeline.ts';
import type { Change } from './change.ts';
import { type Heard, type HostNews, isIn, isOlder, meant, newest } from './host-news.ts';
import type { Subject } from './payload.ts';

/** Tells the records of those Work items that a delivery is about, which memory knows. Done again it changes nothing. */
export const tellItems = async (
  store: Store,
  told: HostNews | undefined,
): Promise<{ case_ids: string[]; note: string }> => {
  if (told === undefined) return { case_ids: [], note: NOBODY };
  const pulls = await tellPulls(store, told);
  const links = await tellLinks(store, told);
  const case_ids = [...new Set([...pulls.told, ...links.told])];
  const older = new Set([...pulls.older, ...links.older]).size;
  if (case_ids.length > 0)
    return { case_ids, note: `Told: ${counted(case_ids.length, 'Work item')}.` };
  return { case_ids, note: older > 0 ? OLDER : NOBODY };
};

const NOBODY = 'It tells of nothing that a Work item is linked to.';
const OLDER = 'It is older than what is known here; nothing was done.';

/** Marks the links to the issues that are meant as stale. What has changed there the next sync finds out. */
const tellLinks = async (store: Store, told: HostNews): Promise<Heard> => {
  const heard: Heard = { told: [], older: [] };
  if (told.issues.length === 0 && told.formerly === undefined) return heard;
  const isMeant = (link: IssueLinkMatter): boolean => meant(told, told.issues, link) !== undefined;
  for (const [id, link] of await linksWhere(store, isMeant)) {
    const issue = meant(told, told.issues, link) as Subject;
    const isKnown = isOlder(issue, readIssueCopy(store, id)?.updated_at);
    (isKnown ? heard.older : heard.told).push(id);
    if (!isKnown) await markStale(store, id, { told, issue });
  }
  return heard;
};

// One in conflict stays so: the operator has to settle it either way.
const markStale = (
  store: Store,
  id: string,
  { told: { event, action }, issue: subject }: { told: HostNews; issue: Subject },
): Promise<unknown> =>
  changeLink(store, id, ({ issue }) => {
    if (issue === undefined) return undefined;
    const told_at = newest(subject, issue);
    if (issue.status !== 'linked') return { changes: told_at };
    const line = `stale: the host told of ${[event, action].filter(Boolean).join(' ')}`;
    return { changes: { status: 'stale', ...told_at }, line };
  });

type Pull = HostNews['pulls'][number];

/** Adds to the timelines of the pull requests that are meant, and marks their records as stale. */
const tellPulls = async (store: Store, told: HostNews): Promise<Heard> => {
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
