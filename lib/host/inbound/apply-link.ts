import { readIssueCopy } from '../../../store/links/issue-copy.ts';
import { linksWhere } from '../../../store/links/link-index.ts';
import { changeLink } from '../../../store/links/links.ts';
import type { IssueLinkMatter } from '../../../store/records/link.ts';
import type { Store } from '../../../store/store.ts';
import { type Heard, type HostNews, isOlder, meant, newest } from './host-news.ts';
import type { Subject } from './payload.ts';

/** Marks the links to the issues that are meant as stale. What has changed there the next sync finds out. */
export const tellLinks = async (store: Store, told: HostNews): Promise<Heard> => {
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
