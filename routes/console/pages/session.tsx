import {
  type AttentionItem,
  type Case,
  Problem,
  type Session,
} from '../../../lib/client/client.ts';
import { type Api, type At, definePage, followsItem } from '../common/page.ts';
import { type Activity, addEvents, emptyActivity, trimmed } from '../parts/activity/activity.ts';
import { Controls, MessageForm } from '../parts/activity/controls.tsx';
import { ActivityLog } from '../parts/activity/log.tsx';
import { OpenRequests, SessionPaths, SessionStatus } from '../parts/activity/status.tsx';
import { loadEarlier, PAGE_SIZE, useActivity } from '../parts/activity/stream.ts';
import { isBrowser } from '../parts/form.tsx';
import { SessionPage } from '../parts/frames.tsx';
import { hasEnded } from '../parts/labels.ts';

interface Shown {
  item: Case;
  session: Session;
  /** Open questions and permission requests. */
  asks: AttentionItem[];
  worktree: string | undefined;
  /** The activity in the document. */
  begin: Activity;
  /** The page begins with older events. */
  isBack: boolean;
}

const View = ({ item, session, asks, worktree, begin, isBack }: Shown) => {
  const of = { id: item.id, sid: session.id };
  const isElsewhere = session.elsewhere === true;
  const isOpen = !hasEnded(session.status) && !isElsewhere;
  const { now, tell } = useActivity({ of, begin, isBack, isElsewhere });
  return (
    <SessionPage item={item} of={session} tab="Activity">
      <SessionStatus of={session} tail={now.tail} />
      <Controls of={session} />
      <OpenRequests of={asks} />
      <MessageForm of={session} />
      <ActivityLog of={of} now={now} tell={tell} isOpen={isOpen} />
      <SessionPaths of={session} worktree={worktree} />
    </SessionPage>
  );
};

const load = async (api: Api, { params, query }: At): Promise<Shown> => {
  const { id = '', sid = '' } = params;
  const first = /^\d{1,15}$/.test(query.before ?? '') ? Number(query.before) : undefined;
  const [item, session, attention, worktree, begin] = await Promise.all([
    api.call('GET /cases/{id}', { id }),
    api.call('GET /cases/{id}/sessions/{sid}', { id, sid }),
    api.call('GET /attention'),
    worktreeOf(api, id),
    beginOf(api, { id, sid }, first),
  ]);
  const asks = attention.filter(
    ({ kind, session_id }) => session_id === sid && (kind === 'permission' || kind === 'question'),
  );
  return { item, session, asks, worktree, begin, isBack: first !== undefined };
};

// In a browser the stream delivers the events; the document's are already there.
const beginOf = async (
  api: Api,
  of: { id: string; sid: string },
  first: number | undefined,
): Promise<Activity> => {
  if (isBrowser) return emptyActivity(1);
  if (first !== undefined) return trimmed(await loadEarlier(api, of, first), 'end');
  const query = { after: -PAGE_SIZE, limit: PAGE_SIZE };
  const events = await api.call('GET /cases/{id}/sessions/{sid}/stream', { ...of, query });
  return trimmed(addEvents(emptyActivity(events[0]?.id ?? 1), events), 'end');
};

const worktreeOf = async (api: Api, id: string): Promise<string | undefined> => {
  try {
    return (await api.call('GET /api/cases/{id}/worktree', { id })).path;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return undefined;
    throw error;
  }
};

/** A session as it runs, with its controls. */
export const page = definePage<Shown>({
  title: ({ item, session: { type } }) => `${item.title}, ${type}`,
  load,
  View,
  follows: followsItem,
});
