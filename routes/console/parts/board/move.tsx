import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { connect } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import { Do, InFrame } from '../form.tsx';
import { STATES } from '../frames.tsx';
import type { Card, State } from './cards.ts';
import { keepAtHand } from './keys.ts';

/** A Work item that is about to be moved, as it was seen. */
export interface Moving {
  id: string;
  state: State;
  etag: string | undefined;
  /** Where it was dropped: nothing is left to ask. */
  to?: State;
}

/** As it is seen now; undefined where it is not there. */
export const movingOf = async ({ request }: Api, id: string): Promise<Moving | undefined> => {
  try {
    const { data, etag } = await request('GET /cases/{id}', { id });
    return data && { id, state: data.state, etag };
  } catch {
    return undefined;
  }
};

/** What is about to be moved: by the address, or since. */
export const useMoving = (first: Moving | undefined) => {
  const [moving, setMoving] = useState(first);
  const taken = useRef<Promise<Moving | undefined>>(null);
  const take = (id: string) => {
    taken.current = movingOf(connect({ url: '' }), id);
    return taken.current;
  };
  return {
    moving,
    /** Asks where to. */
    move: (id: string | undefined): void => {
      if (id === undefined || id === moving?.id) setMoving(undefined);
      else void take(id).then(setMoving);
    },
    /** It is on its way by hand: from here on nobody else may change it. */
    drag: (id: string): void => void take(id),
    drop: (to: State): void =>
      void taken.current?.then((seen) => {
        if (seen !== undefined && seen.state !== to) setMoving({ ...seen, to });
      }),
  };
};

/** Without scripts the page says it again with the form. */
export const MoveLink = ({ of: { id, title }, move }: { of: Card; move: (id: string) => void }) => {
  const { path } = useContext(InFrame);
  return (
    <a
      class="move quiet"
      href={addressWith(path, id)}
      data-key="m"
      draggable={false}
      aria-label={`Move ${title}`}
      title="Move to another state"
      onClick={(event) => {
        event.preventDefault();
        move(id);
      }}
    >
      Move
    </a>
  );
};

/** The same view, with this one about to be moved. */
const addressWith = (path: string, id: string | undefined): string => {
  const [place = '', query] = path.split('?');
  const said = new URLSearchParams(query);
  if (id === undefined) said.delete('move');
  else said.set('move', id);
  return said.size === 0 ? place : `${place}?${said}`;
};

interface MoveFormProps extends Moving {
  move: (id: undefined) => void;
}

/** Asks where to, and moves it there if it is still what was seen. */
export const MoveForm = ({ id, state, etag, to, move }: MoveFormProps) => {
  const { path } = useContext(InFrame);
  const form = useRef<HTMLDivElement>(null);
  // At once: the next key is meant for it.
  useLayoutEffect(() => {
    const element = form.current?.querySelector('form');
    // A form is emptied once its call was made.
    const done = () => {
      if (to === undefined) keepAtHand(id);
      move(undefined);
    };
    element?.addEventListener('reset', done);
    if (to === undefined) element?.querySelector('select')?.focus();
    else element?.requestSubmit();
    return () => element?.removeEventListener('reset', done);
  }, [id, to]);
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Enter') {
      event.preventDefault();
      form.current?.querySelector('form')?.requestSubmit();
    }
    if (event.key !== 'Escape') return;
    form.current?.closest<HTMLElement>('[data-row]')?.focus();
    move(undefined);
  };
  return (
    <div ref={form} class="move-form">
      <Do
        call={`PUT /cases/${id}/state`}
        if_match={etag}
        then={addressWith(path, undefined)}
        class="line"
      >
        <label class="unseen" for={`to-${id}`}>
          To which state
        </label>
        <select id={`to-${id}`} name="state" onKeyDown={onKeyDown}>
          {Object.entries(STATES).map(([value, name]) => (
            <option key={value} value={value} selected={value === (to ?? state)}>
              {name}
            </option>
          ))}
        </select>
        <button type="submit" class="primary">
          Move
        </button>
      </Do>
    </div>
  );
};
