import { STATE_LABELS } from '../labels.ts';
import { CardInside, type CardProps } from './card.tsx';
import type { Cards, CaseFilter, State } from './cards.ts';
import { useDropTarget } from './drop-target.ts';
import { useList } from './list.ts';

interface ColumnProps extends Pick<CardProps, 'moving' | 'move'> {
  state: State;
  of: Cards;
  wanted: CaseFilter;
  /** The address of the full list. */
  all: string;
  drag: (id: string) => void;
  drop: (to: State) => void;
}

/** The Work items of a state. More are loaded towards the end. */
export const Column = (column: ColumnProps) => {
  const { state, of: first, all, wanted, drop } = column;
  const list = useList(first, { ...wanted, state }, { height: 78, gap: 8 });
  const target = useDropTarget(() => drop(state));
  return (
    <section class="column" aria-label={STATE_LABELS[state]} data-column={state} {...target}>
      <h2>
        {STATE_LABELS[state]} <span class="quiet">{first.total}</span>
      </h2>
      <div class="scroll" ref={list.box}>
        <ol class="bare">
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
            Show all
          </a>
        )}
        {list.isEmpty && <p class="quiet none">None</p>}
      </div>
    </section>
  );
};

/** The height of the cards that are not rendered. */
const Room = ({ height }: { height: number }) =>
  height === 0 ? null : <li class="room" aria-hidden="true" style={{ height: `${height}px` }} />;
