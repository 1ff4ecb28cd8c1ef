import { STATES } from '../frames.tsx';
import { CardInside, type CardProps } from './card.tsx';
import type { Cards, State, Wanted } from './cards.ts';
import { useList } from './list.ts';

interface ColumnProps extends Pick<CardProps, 'moving' | 'move'> {
  state: State;
  of: Cards;
  wanted: Wanted;
  /** Where all of them are listed. */
  all: string;
  drag: (id: string) => void;
  drop: (to: State) => void;
}

/** The Work items of one state: what is seen of them, and more as one comes near the end. */
export const Column = (column: ColumnProps) => {
  const { state, of: first, all, wanted, drop } = column;
  const list = useList(first, { ...wanted, state }, { height: 78, gap: 8 });
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    drop(state);
  };
  return (
    <section
      class="column"
      aria-label={STATES[state]}
      data-column={state}
      onDragOver={(event) => event.preventDefault()}
      onDrop={onDrop}
    >
      <h2>
        {STATES[state]} <span class="quiet">{first.total}</span>
      </h2>
      <div class="scroll" ref={list.box}>
        <ol class="cards">
          <Room height={list.before} />
          {list.shown.map(({ card, index }) => (
            <li
              key={card.id}
              ref={list.measure}
              data-index={index}
              class="card"
              data-row={card.id}
              tabIndex={-1}
              draggable
              onDragStart={() => column.drag(card.id)}
            >
              <CardInside of={card} moving={column.moving} move={column.move} />
            </li>
          ))}
          <Room height={list.after} />
        </ol>
        {list.isMore && (
          <a class="more" ref={list.end} href={all}>
            All of them
          </a>
        )}
        {list.isEmpty && <p class="quiet none">None</p>}
      </div>
    </section>
  );
};

/** What is not there takes its room all the same. */
const Room = ({ height }: { height: number }) =>
  height === 0 ? null : <li class="room" aria-hidden="true" style={{ height: `${height}px` }} />;
