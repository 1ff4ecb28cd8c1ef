import { type Api, type At, definePage } from '../common/page.ts';
import {
  type Cards,
  cardsOf,
  filterOf,
  loadMarks,
  type Marks,
  type State,
  withoutDuplicates,
} from '../parts/board/cards.ts';
import { Column } from '../parts/board/column.tsx';
import { useDropTarget } from '../parts/board/drop-target.ts';
import { addressOf, type BoardView, Filters } from '../parts/board/filters.tsx';
import { useArrowKeys, useKeepFocus } from '../parts/board/keys.ts';
import { loadMoving, type Moving, useMoving } from '../parts/board/move.tsx';
import { Table } from '../parts/board/table.tsx';
import { Empty } from '../parts/facts.tsx';
import { ITEM_TYPES } from '../parts/fields.tsx';
import { ApiForm } from '../parts/form.tsx';
import { STATE_LABELS } from '../parts/labels.ts';

interface Board {
  at: BoardView;
  /** One list for each state, or one list of all. */
  lists: { state?: State; of: Cards }[];
  moving: Moving | undefined;
}

const CLOSED: readonly State[] = ['RESOLVED', 'NON_ISSUE'];

/** The cards loaded at first: in each column, and in the list. */
const FIRST = { board: 20, list: 50 };

const View = ({ at, lists, moving: asked }: Board) => {
  const { moving, move, drag, drop } = useMoving(asked);
  useArrowKeys();
  useKeepFocus();
  const total = lists.reduce((sum, { of }) => sum + of.total, 0);
  const [first] = lists;
  const how = { moving, move, wanted: at.wanted };
  return (
    <div class="board">
      <div class="line apart">
        <h1>Board</h1>
        <QuickCreate project={at.wanted.project} />
      </div>
      <Filters at={at} />
      {total === 0 && <NoItems at={at} />}
      {at.view === 'list' && first !== undefined && total > 0 && (
        <Table of={first.of} turned={turned(at)} next={next(at, first.of)} {...how} />
      )}
      {at.view === 'board' && total > 0 && (
        <div class="columns">
          {lists.map(({ state = 'OPEN', of }) => {
            const all = addressOf({ ...at, view: 'list', wanted: { ...at.wanted, state } });
            if (!at.closed && at.wanted.state === undefined && CLOSED.includes(state))
              return <Folded key={state} state={state} of={of} at={at} drop={drop} />;
            return (
              <Column
                key={state}
                state={state}
                of={of}
                all={all}
                drag={drag}
                drop={drop}
                {...how}
              />
            );
          })}
        </div>
      )}
    </div>
  );
};

const turned = (at: BoardView): string => {
  const order = at.wanted.order === 'oldest' ? 'newest' : 'oldest';
  return addressOf({ ...at, wanted: { ...at.wanted, order } });
};

const next = (at: BoardView, { cards }: Cards): string =>
  addressOf(at, { after: cards.at(-1)?.id ?? '' });

interface FoldedProps {
  state: State;
  of: Cards;
  at: BoardView;
  drop: (to: State) => void;
}

const Folded = ({ state, of, at, drop }: FoldedProps) => {
  const target = useDropTarget(() => drop(state));
  return (
    <section class="column folded" aria-label={STATE_LABELS[state]} {...target}>
      <h2>
        <a href={addressOf({ ...at, closed: true })} draggable={false}>
          {STATE_LABELS[state]} <span class="quiet">{of.total}</span>
        </a>
      </h2>
    </section>
  );
};

const NoItems = ({ at }: { at: BoardView }) =>
  addressOf({ ...at, view: 'board', closed: false }) === '/dashboard/board' ? (
    <Empty title="No Work items">
      <p>
        A Work item has a title and a description of what you want. An agent plans it, and you
        approve the plan.
      </p>
      <p>
        <a href="/dashboard/new">Create a Work item</a>
      </p>
    </Empty>
  ) : (
    <Empty title={at.what === 'needs' ? 'No Work item needs you.' : 'No Work items match.'}>
      <p>
        <a href="/dashboard/board">Show all Work items</a>
      </p>
    </Empty>
  );

/** The most ids that one request may name. */
const MOST_IDS = 250;

const load = async (api: Api, place: At): Promise<Board> => {
  const { move, after } = place.query;
  const [marks, moving, projects] = await Promise.all([
    loadMarks(api),
    move === undefined ? undefined : loadMoving(api, move),
    projectsOf(api, place.query.project),
  ]);
  const at = { ...viewOf(place, marks), projects };
  const { state } = at.wanted;
  if (at.view === 'list') {
    const of = await cardsOf(api, at.wanted, { limit: FIRST.list, after }, marks);
    return { at, lists: [{ of }], moving };
  }
  const states = state === undefined ? (Object.keys(STATE_LABELS) as State[]) : [state];
  const lists = states.map(async (one) => {
    const isFolded = !at.closed && state === undefined && CLOSED.includes(one);
    const wanted = { ...at.wanted, state: one };
    const of = await cardsOf(api, wanted, { limit: isFolded ? 1 : FIRST.board }, marks);
    return { state: one, of: isFolded ? { ...of, cards: [] } : of };
  });
  return { at, lists: withoutDuplicates(await Promise.all(lists)), moving };
};

// Work items may belong to a project that the settings no longer name.
const projectsOf = async ({ call }: Api, wanted = ''): Promise<string[]> => {
  const { projects } = await call('GET /settings');
  const names = new Set(['default', ...projects.map(({ name }) => name), wanted]);
  return [...names].filter((name) => name !== '');
};

const viewOf = (place: At, marks: Marks): Omit<BoardView, 'projects'> => {
  const { view, what, closed } = place.query;
  const wanted = filterOf(place);
  const looking: Omit<BoardView, 'projects'> = {
    wanted,
    view: view === 'list' ? 'list' : 'board',
    what: what === 'needs' || what === 'running' ? what : undefined,
    closed: closed === '1',
  };
  if (looking.what === undefined) return looking;
  return { ...looking, wanted: { ...wanted, ids: idsOf(marks, looking.what).join() } };
};

const idsOf = (marks: Marks, what: 'needs' | 'running'): string[] =>
  [...marks]
    .filter(([, { status, waits }]) => (what === 'needs' ? waits : status) !== undefined)
    .map(([id]) => id)
    .slice(0, MOST_IDS);

/** Work items in a column for each state, or in a list. */
export const page = definePage<Board>({ title: () => 'Board', load, View });

/** Creates a Work item from a title, without leaving the board. */
const QuickCreate = ({ project }: { project: string | undefined }) => (
  <details class="new-here">
    <summary data-key="n">New Work item</summary>
    <ApiForm
      call="POST /cases"
      {...(project !== undefined && { body: { project } })}
      keep="new on the board"
      class="line"
    >
      <input
        name="title"
        required
        autocomplete="off"
        size={32}
        aria-label="Title"
        placeholder="What to do"
      />
      <select name="type" aria-label="Type of the new Work item">
        {ITEM_TYPES.map((type) => (
          <option key={type} value={type} selected={type === 'task'}>
            {type}
          </option>
        ))}
      </select>
      <button type="submit" class="primary">
        Add
      </button>
    </ApiForm>
  </details>
);
