import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { browserApi, isBrowser } from '../form.tsx';
import { keyOf } from './activity.ts';
import { ActivityEntry } from './entry-view.tsx';
import { type LogAction, type LogState, loadEarlier, type SessionRef } from './stream.ts';

interface LogProps {
  of: SessionRef;
  now: LogState;
  tell: (action: LogAction) => void;
  /** Events may still come. */
  isOpen: boolean;
}

/** The distance from the end at which the log still follows it, in pixels. */
const NEAR = 40;

/** The events of a session. The log follows the newest until the operator scrolls up. */
export const ActivityLog = ({ of, now, tell, isOpen }: LogProps) => {
  const { tail, back, isFollowing } = now;
  const shown = back ?? tail;
  const box = useRef<HTMLDivElement>(null);
  const anchor = useRef<{ row: HTMLElement; top: number } | undefined>(undefined);
  useLayoutEffect(() => {
    if (box.current === null) return;
    if (isFollowing) box.current.scrollTop = box.current.scrollHeight;
    // Keeps the visible entries in place when others are inserted above.
    else if (anchor.current?.row.isConnected)
      box.current.scrollTop += anchor.current.row.offsetTop - anchor.current.top;
    anchor.current = undefined;
  }, [shown, isFollowing]);
  const onScroll = (): void => {
    if (box.current === null || back !== undefined) return;
    const { scrollTop, scrollHeight, clientHeight } = box.current;
    const isNear = scrollHeight - scrollTop - clientHeight < NEAR;
    if (isNear !== isFollowing) tell({ isFollowing: isNear });
  };
  const isEmpty = shown === undefined || shown.entries.length === 0;
  return (
    <section class="activity" aria-label="Activity of the session">
      <div
        class="log"
        role="log"
        aria-label="Activity"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling element must be reachable by keyboard.
        tabIndex={0}
        ref={box}
        onScroll={onScroll}
      >
        <Earlier
          of={of}
          tell={tell}
          first={shown?.first ?? 1}
          asked={() => {
            const row = box.current?.querySelector<HTMLElement>('.entry');
            anchor.current = row ? { row, top: row.offsetTop } : undefined;
          }}
        />
        {isEmpty && <p class="quiet">{isOpen ? 'No activity yet.' : 'No activity.'}</p>}
        <ol class="bare">
          {shown?.entries.map((entry) => (
            <li
              key={keyOf(entry)}
              class={`entry ${entry.kind}`}
              data-row={keyOf(entry)}
              tabIndex={-1}
            >
              <ActivityEntry of={of} entry={entry} />
            </li>
          ))}
        </ol>
      </div>
      <Foot of={of} now={now} tell={tell} isOpen={isOpen} />
    </section>
  );
};

const Foot = ({ of, now: { tail, back, isFollowing, broken }, tell, isOpen }: LogProps) => {
  const here = `/dashboard/cases/${of.id}/sessions/${of.sid}`;
  if (!isBrowser) return back === undefined ? null : <a href={here}>Newest</a>;
  const isOver = !isOpen || tail?.isOver === true;
  const following = isFollowing ? 'Following new activity.' : '';
  return (
    <p class="foot quiet">
      {broken ?? (isOver ? 'The session has ended.' : following)}
      {!isFollowing && (
        <button type="button" data-key="e" onClick={() => tell({ isFollowing: true })}>
          Jump to newest
        </button>
      )}
    </p>
  );
};

interface EarlierProps {
  of: SessionRef;
  first: number;
  tell: (action: LogAction) => void;
  /** Called before the earlier events are shown. */
  asked: () => void;
}

const Earlier = ({ of, first, tell, asked }: EarlierProps) => {
  const [failure, setFailure] = useState<string | undefined>();
  if (first <= 1) return null;
  const ask = (event: Event): void => {
    event.preventDefault();
    loadEarlier(browserApi, of, first).then(
      (earlier) => {
        setFailure(undefined);
        asked();
        tell({ earlier });
      },
      (error: Error) => setFailure(error.message),
    );
  };
  return (
    <p class="earlier">
      <a href={`?before=${first}`} class="button" onClick={ask} data-key="b">
        Show earlier
      </a>
      {failure !== undefined && <span role="alert">{` ${failure}`}</span>}
    </p>
  );
};
