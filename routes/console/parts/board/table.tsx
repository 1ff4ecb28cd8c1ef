import { visible } from '../../../../store/base/visible.ts';
import { STATE_LABELS } from '../labels.ts';
import { RelativeTime } from '../relative-time.tsx';
import { type CardProps, Tags, TitleLink } from './card.tsx';
import type { Cards, CaseFilter } from './cards.ts';
import { useList } from './list.ts';
import { MoveForm, MoveLink } from './move.tsx';

interface TableProps extends Pick<CardProps, 'moving' | 'move'> {
  of: Cards;
  wanted: CaseFilter;
  /** The address with the reverse order. */
  turned: string;
  /** The address of the next page, for browsers without scripts. */
  next: string;
}

// style/board.css has a width for each.
const COLUMNS = 6;

/** Work items in a table. */
export const Table = ({ of: first, wanted, turned, next, ...how }: TableProps) => {
  const list = useList(first, wanted, { height: 37, gap: 0 });
  return (
    <div class="scroll list" ref={list.box}>
      <table>
        <caption class="unseen">Work items</caption>
        <Head wanted={wanted} turned={turned} />
        <tbody>
          <Room height={list.before} />
          {list.shown.map(({ card, index }) => (
            <tr
              key={card.id}
              ref={list.measure}
              data-index={index}
              data-row={card.id}
              tabIndex={-1}
            >
              <Cells of={card} {...how} />
            </tr>
          ))}
          <Room height={list.after} />
        </tbody>
      </table>
      {list.isMore && (
        <a class="more" ref={list.end} href={next}>
          Next page
        </a>
      )}
    </div>
  );
};

const Head = ({ wanted, turned }: Pick<TableProps, 'wanted' | 'turned'>) => (
  <thead>
    <tr>
      <th scope="col">Title</th>
      <th scope="col">State</th>
      <th scope="col" class="spare">
        Type
      </th>
      <th scope="col" class="spare">
        Project
      </th>
      <th
        scope="col"
        class="spare"
        aria-sort={wanted.order === 'oldest' ? 'ascending' : 'descending'}
      >
        <a href={turned}>Age</a>
      </th>
      <th scope="col">
        <span class="unseen">Move</span>
      </th>
    </tr>
  </thead>
);

const Cells = ({ of: card, moving, move }: CardProps) => (
  <>
    <th scope="row">
      <TitleLink of={card} /> <Tags of={card} />
    </th>
    <td>
      {moving?.id === card.id ? (
        <MoveForm {...moving} move={move} />
      ) : (
        <span class={`tag ${card.state}`}>{STATE_LABELS[card.state]}</span>
      )}
    </td>
    <td class="spare">{card.type}</td>
    <td class="spare">{visible(card.project)}</td>
    <td class="spare">
      <RelativeTime at={card.created_at} />
    </td>
    <td>
      <MoveLink of={card} move={move} />
    </td>
  </>
);

const Room = ({ height }: { height: number }) =>
  height === 0 ? null : (
    <tr class="room">
      <td colSpan={COLUMNS} style={{ height: `${height}px` }} />
    </tr>
  );
