import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { InReach } from '../form.tsx';
import { keyOf } from './activity.ts';
import { ActivityEntry } from './entry-view.tsx';
import { askEarlier, type Followed, type OfSession, type Step } from './stream.ts';

interface LogProps {
  of: OfSession;
  now: Followed;
  tell: (step: Step) => void;
  /** Something may come yet. */
  isOpen: boolean;
}

interface Box {
  scrollTop: number;
  scrollHeight: number;
  clientHeight: number;
  querySelector: (what: string) => Row | null;
}

interface Row {
  readonly isConnected: boolean;
  readonly offsetTop: number;
}

/** From how far above the end one still follows it, in pixels. */
const NEAR = 40;

/** All that happened, as far as it fits on a page: the newest is at the end, and is followed until one scrolls up. */
export const ActivityLog = ({ of, now, tell, isOpen }: LogProps) => {
  const { tail, back, isFollowing, broken } = now;
  const shown = back ?? tail;
  const box = useRef<Box | null>(null);
  const anchor = useRef<{ row: Row; top: number } | undefined>(undefined);
  useLayoutEffect(() => {
    if (box.current === null) return;
    if (isFollowing) box.current.scrollTop = box.current.scrollHeight;
    // What one looks at stays where it is when more is put above it.
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
    <section class="activity" aria-label="What happened">
      <div
        class="log"
        role="log"
        aria-label="Activity"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to scroll by keyboard.
        tabIndex={0}
        ref={box as never}
        {...{ onScroll }}
      >
        <Earlier
          {...{ of, tell }}
          first={shown?.first ?? 1}
          asked={() => {
            const row = box.current?.querySelector('.entry');
            anchor.current = row ? { row, top: row.offsetTop } : undefined;
          }}
        />
        {isEmpty && (
          <p class="quiet">{isOpen ? 'Nothing has happened yet.' : 'Nothing is here.'}</p>
        )}
        <ol>
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
      <Foot {...{ of, now, tell, isOpen, broken }} />
    </section>
  );
};

const Foot = ({ of, now: { tail, back, isFollowing, broken }, tell, isOpen }: LogProps) => {
  const isStill = useContext(InReach) === undefined;
  const here = `/dashboard/cases/${of.id}/sessions/${of.sid}`;
  if (isStill) return back === undefined ? null : <a href={here}>Newest</a>;
  const isOver = !isOpen || tail?.isOver === true;
  return (
    <p class="foot quiet">
      {isOver ? 'It is over.' : (broken ?? (isFollowing ? 'Following what happens.' : ''))}
      {!isFollowing && (
        <button type="button" data-key="e" onClick={() => tell({ isFollowing: true })}>
          Jump to newest
        </button>
      )}
    </p>
  );
};

interface EarlierProps {
  of: OfSession;
  first: number;
  tell: (step: Step) => void;
  /** Called before what was asked for is shown. */
  asked: () => void;
}

const Earlier = ({ of, first, tell, asked }: EarlierProps) => {
  const api = useContext(InReach);
  const [told, setTold] = useState<string | undefined>();
  if (first <= 1) return null;
  const ask = (event: { preventDefault: () => void }): void => {
    if (api === undefined) return;
    event.preventDefault();
    askEarlier(api, of, first).then(
      (earlier) => {
        setTold(undefined);
        asked();
        tell({ earlier });
      },
      (error: Error) => setTold(error.message),
    );
  };
  return (
    <p class="earlier">
      <a href={`?before=${first}`} class="button" onClick={ask} data-key="b">
        Show earlier
      </a>
      {told !== undefined && <span role="alert">{` ${told}`}</span>}
    </p>
  );
};
