import { useContext, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Api } from '../../common/page.ts';
import { StateOptions } from '../fields.tsx';
import { ApiForm, browserApi, PageContext } from '../form.tsx';
import type { Card, State } from './cards.ts';
import { keepFocus } from './keys.ts';

/** A Work item that is about to move, as last read. */
export interface Moving {
  id: string;
  state: State;
  etag: string | undefined;
  /** The state that it was dropped on. */
  to?: State;
}

/** Reads a Work item; undefined if it is gone. */
export const loadMoving = ({ request }: Api, id: string): Promise<Moving | undefined> =>
  request('GET /cases/{id}', { id }).then(
    ({ data, etag }) => data && { id, state: data.state, etag },
    () => undefined,
  );

/** The card to move, from the address or chosen since. */
export const useMoving = (first: Moving | undefined) => {
  const [moving, setMoving] = useState(first);
  const taken = useRef<Promise<Moving | undefined>>(null);
  const take = (id: string) => {
    taken.current = loadMoving(browserApi, id);
    return taken.current;
  };
  return {
    moving,
    /** Opens the form. */
    move: (id: string | undefined): void => {
      if (id === undefined || id === moving?.id) setMoving(undefined);
      else void take(id).then(setMoving);
    },
    /** Reads the ETag when the drag starts, so that a change in between is refused. */
    drag: (id: string): void => void take(id),
    drop: (to: State): void =>
      void taken.current?.then((seen) => {
        if (seen !== undefined && seen.state !== to) setMoving({ ...seen, to });
      }),
  };
};

/** Without scripts the page loads again with the form. */
export const MoveLink = ({ of: { id, title }, move }: { of: Card; move: (id: string) => void }) => {
  const { path } = useContext(PageContext);
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

/** The current address, with this card's form open. */
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

/** Moves a Work item, if it has not changed since it was read. */
export const MoveForm = ({ id, state, etag, to, move }: MoveFormProps) => {
  const { path } = useContext(PageContext);
  const form = useRef<HTMLDivElement>(null);
  // Before the next key, which is meant for the form.
  useLayoutEffect(() => {
    const element = form.current?.querySelector('form');
    if (to === undefined) element?.querySelector('select')?.focus();
    else element?.requestSubmit();
  }, [id, to]);
  // A form is reset after its call succeeded.
  const onReset = () => {
    if (to === undefined) keepFocus(id);
    move(undefined);
  };
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
    <div ref={form} class="move-form" onReset={onReset}>
      <ApiForm
        call={`PUT /cases/${id}/state`}
        if_match={etag}
        then={addressWith(path, undefined)}
        class="line"
      >
        <label class="unseen" for={`to-${id}`}>
          New state
        </label>
        <select id={`to-${id}`} name="state" onKeyDown={onKeyDown}>
          <StateOptions chosen={to ?? state} />
        </select>
        <button type="submit" class="primary">
          Move
        </button>
      </ApiForm>
    </div>
  );
};
