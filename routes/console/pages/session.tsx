import {
  type AttentionItem,
  type Case,
  Problem,
  type Session,
} from '../../../lib/client/client.ts';
import { type Api, type At, page } from '../common/page.ts';
import { type Activity, add, bounded, nothing } from '../parts/activity/activity.ts';
import { Controls, Say } from '../parts/activity/controls.tsx';
import { ActivityLog } from '../parts/activity/log.tsx';
import { Asks, Places, Standing } from '../parts/activity/status.tsx';
import { askEarlier, SOME, useActivity } from '../parts/activity/stream.ts';
import { SessionPage } from '../parts/frames.tsx';

interface Shown {
  item: Case;
  session: Session;
  /** What its agent asks, and nobody has answered. */
  asks: AttentionItem[];
  worktree: string | undefined;
  /** What happened, as the page begins with it. */
  begin: Activity;
  /** It does not begin with what is newest. */
  isBack: boolean;
}

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'aborted']);

const View = ({ item, session, asks, worktree, begin, isBack }: Shown) => {
  const of = { id: item.id, sid: session.id };
  const isOpen = !ENDED.has(session.status) && session.elsewhere !== true;
  const { now, tell } = useActivity({ of, begin, isBack, isOpen: isOpen && !begin.isOver });
  return (
    <SessionPage item={item} of={session} tab="Activity">
      <Standing of={session} tail={now.tail} />
      <Controls of={session} />
      <Asks of={asks} />
      <Say of={session} />
      <ActivityLog {...{ of, now, tell, isOpen }} />
      <Places of={session} worktree={worktree} />
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

// In a browser the stream tells what happens: what the page began with is there.
const beginOf = async (
  api: Api,
  of: { id: string; sid: string },
  first: number | undefined,
): Promise<Activity> => {
  if ('document' in globalThis) return nothing(1);
  if (first !== undefined) return bounded(await askEarlier(api, of, first), 'end');
  const query = { after: -SOME, limit: SOME };
  const events = await api.call('GET /cases/{id}/sessions/{sid}/stream', { ...of, query });
  return bounded(add(nothing(events[0]?.id ?? 1), events), 'end');
};

const worktreeOf = async (api: Api, id: string): Promise<string | undefined> => {
  try {
    return (await api.call('GET /api/cases/{id}/worktree', { id })).path;
  } catch (error) {
    if (error instanceof Problem && error.status < 500) return undefined;
    throw error;
  }
};

/** One session: what happens in it as it happens, and what the operator can say to it. */
export const session = page<Shown>({
  title: ({ item, session: { type } }) => `${item.title}, ${type}`,
  load,
  View,
  follows: ({ payload }, { params }) => payload.case_id === params.id,
});
