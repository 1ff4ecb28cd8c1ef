import { useEffect, useReducer } from 'preact/hooks';
import { Problem, type SessionEvent } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import { browserApi } from '../form.tsx';
import {
  type Activity,
  addEvents,
  emptyActivity,
  MOST_ELEMENTS,
  prependEvents,
  trimmed,
} from './activity.ts';

/** The path parameters of a session. */
export interface SessionRef {
  id: string;
  sid: string;
}

/** The number of events in one request. */
export const PAGE_SIZE = 400;

export interface LogState {
  /** The newest events that fit on the page; undefined until they are loaded. */
  tail: Activity | undefined;
  /** Earlier events that are being read, if they are not in `tail`. */
  back: Activity | undefined;
  /** The log is scrolled to its end. */
  isFollowing: boolean;
  /** The error of the connection. */
  broken: string | undefined;
}

export type LogAction =
  | { came: readonly SessionEvent[] }
  | { earlier: Activity }
  | { isFollowing: boolean }
  | { broken: string | undefined };

/** The next state of the log. */
const reduceLog = (now: LogState, done: LogAction): LogState => {
  if ('came' in done) return after(now, done.came);
  if ('earlier' in done) return withEarlier(now, done.earlier);
  if ('broken' in done) return { ...now, broken: done.broken };
  if (!done.isFollowing) return { ...now, isFollowing: false };
  const { tail } = now;
  return { ...now, isFollowing: true, back: undefined, tail: tail && trimmed(tail, 'end') };
};

const after = (now: LogState, events: readonly SessionEvent[]): LogState => {
  const { tail, back, isFollowing } = now;
  const next = addEvents(tail ?? emptyActivity(events[0]?.id ?? 1), events);
  const cut = trimmed(next, 'end');
  // New events do not remove what is being read.
  return { ...now, tail: cut, back: cut === next || isFollowing ? back : (back ?? tail) };
};

const withEarlier = (now: LogState, earlier: Activity): LogState => {
  const { tail, back } = now;
  const shown = back ?? tail;
  // Half of the room is left for the entries that are being read.
  const near = trimmed(earlier, 'end', MOST_ELEMENTS / 2);
  const all = shown === undefined ? near : prependEvents(near, shown);
  const cut = trimmed(all, 'start');
  const isWhole = back === undefined && cut === all;
  return { ...now, isFollowing: false, ...(isWhole ? { tail: all } : { back: cut }) };
};

/** Loads the events before the given one. */
export const loadEarlier = async (api: Api, of: SessionRef, first: number): Promise<Activity> => {
  const start = Math.max(first - 1 - PAGE_SIZE, 0);
  const query = { after: start, limit: PAGE_SIZE };
  const events = await api.call('GET /cases/{id}/sessions/{sid}/stream', { ...of, query });
  const earlier = events.filter(({ id }) => id < first);
  return addEvents(emptyActivity(start + 1), earlier);
};

interface ActivityOptions {
  of: SessionRef;
  begin: Activity;
  /** `begin` has earlier events, not the newest. */
  isBack: boolean;
  /** Of a session of another machine nothing comes but through git. */
  isElsewhere: boolean;
}

/** Follows the activity of a session. */
export const useActivity = ({ of, begin, isBack, isElsewhere }: ActivityOptions) => {
  const [now, tell] = useReducer(reduceLog, {
    tail: isBack ? undefined : begin,
    back: isBack ? begin : undefined,
    isFollowing: !isBack,
    broken: undefined,
  });
  // The session may have ended before its last events are here, so the stream decides.
  const isOver = isElsewhere || now.tail?.isOver === true;
  useEffect(() => {
    if (isOver) return undefined;
    let last = now.tail?.last ?? -PAGE_SIZE;
    const follow = (signal: AbortSignal) =>
      followStream(of, last, signal, (done) => {
        if ('came' in done) last = done.came.at(-1)?.id ?? last;
        tell(done);
      });
    return whileVisible(follow, (error) =>
      tell({ broken: error instanceof Problem ? error.message : LOST }),
    );
  }, [of.sid, isOver]);
  return { now, tell };
};

/** Events within this time are shown together, in milliseconds. */
const TOGETHER_MS = 60;
const AGAIN_MS = 3000;
const LONGEST_MS = 48_000;
const LOST = 'Connection lost. It reconnects by itself.';

const followStream = async (
  of: SessionRef,
  last: number,
  signal: AbortSignal,
  tell: (action: LogAction) => void,
): Promise<void> => {
  let came: SessionEvent[] = [];
  const flush = (): void => {
    if (came.length > 0 && !signal.aborted) tell({ came });
    came = [];
  };
  const stream = browserApi.stream('GET /cases/{id}/sessions/{sid}/stream', {
    ...of,
    query: { after: last },
    signal,
    onOpen: () => tell({ broken: undefined }),
    onBreak: () => tell({ broken: LOST }),
  });
  for await (const event of stream) if (came.push(event) === 1) setTimeout(flush, TOGETHER_MS);
  flush();
  if (!signal.aborted) tell({ broken: undefined });
};

// A browser allows six connections to a host: a hidden tab gives up its own.
const whileVisible = (
  run: (signal: AbortSignal) => Promise<void>,
  onFailure: (error: unknown) => void,
): (() => void) => {
  let life: AbortController | undefined;
  const go = async ({ signal }: AbortController): Promise<void> => {
    for (let wait = AGAIN_MS; !signal.aborted; wait = Math.min(2 * wait, LONGEST_MS)) {
      try {
        return await run(signal);
      } catch (error) {
        // Whatever the reason: a full daemon, or one that asks for a log-in, takes it again later.
        if (!signal.aborted) onFailure(error);
      }
      await new Promise((done) => setTimeout(done, wait));
    }
  };
  const look = (): void => {
    if (document.hidden) life?.abort();
    else if (life === undefined || life.signal.aborted) {
      life = new AbortController();
      void go(life);
    }
  };
  look();
  document.addEventListener('visibilitychange', look);
  return () => {
    document.removeEventListener('visibilitychange', look);
    life?.abort();
  };
};
