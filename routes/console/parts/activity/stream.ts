import { useContext, useEffect, useReducer } from 'preact/hooks';
import { connect, Problem, type SessionEvent } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import { InReach } from '../form.tsx';
import { type Activity, add, before, bounded, MOST_ELEMENTS, nothing } from './activity.ts';

/** The calls of the API are about this session. */
export interface OfSession {
  id: string;
  sid: string;
}

/** How many events are asked for at once. */
export const SOME = 400;

export interface Followed {
  /** The newest of it, as far as a page can show it; undefined until it is known. */
  tail: Activity | undefined;
  /** What is read of former times, where that is not in `tail`. */
  back: Activity | undefined;
  /** What comes is seen at once, for nobody has scrolled away from it. */
  isFollowing: boolean;
  /** Why nothing comes. */
  broken: string | undefined;
}

export type Step =
  | { came: readonly SessionEvent[] }
  | { earlier: Activity }
  | { isFollowing: boolean }
  | { broken: string | undefined };

/** What is shown after something came, was asked for, or one scrolled. */
const step = (now: Followed, done: Step): Followed => {
  if ('came' in done) return after(now, done.came);
  if ('earlier' in done) return withEarlier(now, done.earlier);
  if ('broken' in done) return { ...now, broken: done.broken };
  if (!done.isFollowing) return { ...now, isFollowing: false };
  const { tail } = now;
  return { ...now, isFollowing: true, back: undefined, tail: tail && bounded(tail, 'end') };
};

const after = (now: Followed, events: readonly SessionEvent[]): Followed => {
  const { tail, back, isFollowing } = now;
  const next = add(tail ?? nothing(events[0]?.id ?? 1), events);
  const cut = bounded(next, 'end');
  // What one reads does not go away because more came.
  return { ...now, tail: cut, back: cut === next || isFollowing ? back : (back ?? tail) };
};

const withEarlier = (now: Followed, earlier: Activity): Followed => {
  const { tail, back } = now;
  const shown = back ?? tail;
  // No more than leaves room for what one has read: it goes on where that begins.
  const near = bounded(earlier, 'end', MOST_ELEMENTS / 2);
  const all = shown === undefined ? near : before(near, shown);
  const cut = bounded(all, 'start');
  const isWhole = back === undefined && cut === all;
  return { ...now, isFollowing: false, ...(isWhole ? { tail: all } : { back: cut }) };
};

/** The events before the one with this number, as many as are asked for at once. */
export const askEarlier = async (api: Api, of: OfSession, first: number): Promise<Activity> => {
  const start = Math.max(first - 1 - SOME, 0);
  const query = { after: start, limit: SOME };
  const events = await api.call('GET /cases/{id}/sessions/{sid}/stream', { ...of, query });
  const earlier = events.filter(({ id }) => id < first);
  return add(nothing(start + 1), earlier);
};

interface Wish {
  of: OfSession;
  begin: Activity;
  /** It begins with what was before, not with what is newest. */
  isBack: boolean;
  /** Something may come yet. */
  isOpen: boolean;
}

/** A session's activity, as it goes on. */
export const useActivity = ({ of, begin, isBack, isOpen }: Wish) => {
  const isLive = useContext(InReach) !== undefined;
  const [now, tell] = useReducer(step, {
    ...{ tail: isBack ? undefined : begin, back: isBack ? begin : undefined },
    ...{ isFollowing: !isBack, broken: undefined },
  });
  const isOver = !isOpen || now.tail?.isOver === true;
  useEffect(() => {
    if (!isLive || isOver) return undefined;
    let last = now.tail?.last ?? -SOME;
    return whileSeen((signal) =>
      follow(of, last, signal, (done) => {
        if ('came' in done) last = done.came.at(-1)?.id ?? last;
        tell(done);
      }),
    );
  }, [of.sid, isOver]);
  return { now, tell };
};

/** What comes quicker than this is shown together, in milliseconds. */
const TOGETHER_MS = 60;
const AGAIN_MS = 3000;

const follow = async (
  of: OfSession,
  last: number,
  signal: AbortSignal,
  tell: (step: Step) => void,
): Promise<void> => {
  let came: SessionEvent[] = [];
  const flush = (): void => {
    if (came.length > 0 && !signal.aborted) tell({ came });
    came = [];
  };
  const stream = connect({ url: '' }).stream('GET /cases/{id}/sessions/{sid}/stream', {
    ...{ ...of, query: { after: last }, signal },
    onOpen: () => tell({ broken: undefined }),
    onBreak: () => tell({ broken: 'The connection broke. It is tried again by itself.' }),
  });
  for await (const event of stream) if (came.push(event) === 1) setTimeout(flush, TOGETHER_MS);
  flush();
};

interface Page {
  readonly hidden: boolean;
  addEventListener: (name: string, heard: () => void) => void;
  removeEventListener: (name: string, heard: () => void) => void;
}

// A browser has six connections for all its tabs: one that nobody looks at needs none.
const whileSeen = (run: (signal: AbortSignal) => Promise<void>): (() => void) => {
  const page = (globalThis as unknown as { document: Page }).document;
  let life: AbortController | undefined;
  const go = async ({ signal }: AbortController): Promise<void> => {
    while (!signal.aborted) {
      const failed = await run(signal).then(
        () => undefined,
        (error: unknown) => error ?? true,
      );
      if (failed === undefined || (failed instanceof Problem && failed.status < 500)) return;
      await new Promise((again) => setTimeout(again, AGAIN_MS));
    }
  };
  const look = (): void => {
    if (page.hidden) life?.abort();
    else if (life === undefined || life.signal.aborted) {
      life = new AbortController();
      void go(life);
    }
  };
  look();
  page.addEventListener('visibilitychange', look);
  return () => {
    page.removeEventListener('visibilitychange', look);
    life?.abort();
  };
};
