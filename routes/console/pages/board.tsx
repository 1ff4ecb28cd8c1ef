import { type Api, type At, page } from '../common/page.ts';
import {
  type Cards,
  cardsOf,
  eachOnce,
  type Marks,
  marksOf,
  type State,
  wantedOf,
} from '../parts/board/cards.ts';
import { Column } from '../parts/board/column.tsx';
import { addressOf, Filters, type Looking } from '../parts/board/filters.tsx';
import { useArrows, useKeptAtHand } from '../parts/board/keys.ts';
import { type Moving, movingOf, useMoving } from '../parts/board/move.tsx';
import { Table } from '../parts/board/table.tsx';
import { ITEM_TYPES } from '../parts/case/start.tsx';
import { Do } from '../parts/form.tsx';
import { STATES } from '../parts/frames.tsx';

interface Board {
  at: Looking;
  /** By state, or all of them where they are listed. */
  lists: { state?: State; of: Cards }[];
  moving: Moving | undefined;
}

const CLOSED: readonly State[] = ['RESOLVED', 'NON_ISSUE'];

/** How many there are at first: in a column, and in the list. */
const FIRST = { board: 20, list: 50 };

const View = ({ at, lists, moving: asked }: Board) => {
  const { moving, move, drag, drop } = useMoving(asked);
  useArrows();
  useKeptAtHand();
  const total = lists.reduce((sum, { of }) => sum + of.total, 0);
  const [first] = lists;
  const how = { moving, move, wanted: at.wanted };
  return (
    <div class="board">
      <div class="line apart">
        <h1>Board</h1>
        <NewHere project={at.wanted.project} />
      </div>
      <Filters at={at} />
      {total === 0 && <Empty at={at} />}
      {at.view === 'list' && first !== undefined && total > 0 && (
        <Table of={first.of} turned={turned(at)} next={next(at, first.of)} {...how} />
      )}
      {at.view === 'board' && total > 0 && (
        <div class="columns">
          {lists.map(({ state = 'OPEN', of }) => {
            const all = addressOf({ ...at, view: 'list', wanted: { ...at.wanted, state } });
            if (!at.closed && at.wanted.state === undefined && CLOSED.includes(state))
              return <Folded key={state} state={state} of={of} at={at} />;
            return <Column key={state} {...{ state, of, all, drag, drop }} {...how} />;
          })}
        </div>
      )}
    </div>
  );
};

const turned = (at: Looking): string => {
  const order = at.wanted.order === 'oldest' ? 'newest' : 'oldest';
  return addressOf({ ...at, wanted: { ...at.wanted, order } });
};

const next = (at: Looking, { cards }: Cards): string =>
  addressOf(at, { after: cards.at(-1)?.id ?? '' });

const Folded = ({ state, of, at }: { state: State; of: Cards; at: Looking }) => (
  <section class="column folded" aria-label={STATES[state]}>
    <h2>
      <a href={addressOf({ ...at, closed: true })}>
        {STATES[state]} <span class="quiet">{of.total}</span>
      </a>
    </h2>
  </section>
);

const Empty = ({ at }: { at: Looking }) =>
  addressOf({ ...at, view: 'board', closed: false }) === '/dashboard/board' ? (
    <div class="empty">
      <p>
        <strong>There are no Work items yet.</strong>
      </p>
      <p>
        A Work item is a piece of work: a title, and a text that says what you want. An agent makes
        a plan for it, and you approve the plan.
      </p>
      <p>
        <a href="/dashboard/new">Make the first</a>
      </p>
    </div>
  ) : (
    <div class="empty">
      <p>
        <strong>{at.what === 'needs' ? 'Nothing needs you.' : 'Nothing is like that.'}</strong>
      </p>
      <p>
        <a href="/dashboard/board">Show all</a>
      </p>
    </div>
  );

/** The most ids that are asked for at once. */
const MOST_IDS = 250;

const load = async (api: Api, place: At): Promise<Board> => {
  const { move, after } = place.query;
  const [marks, moving, projects] = await Promise.all([
    marksOf(api),
    move === undefined ? undefined : movingOf(api, move),
    projectsOf(api, place.query.project),
  ]);
  const at = { ...lookingOf(place, marks), projects };
  const { state } = at.wanted;
  if (at.view === 'list') {
    const of = await cardsOf(api, at.wanted, { limit: FIRST.list, after }, marks);
    return { at, lists: [{ of }], moving };
  }
  const states = state === undefined ? (Object.keys(STATES) as State[]) : [state];
  const lists = states.map(async (one) => {
    const isFolded = !at.closed && state === undefined && CLOSED.includes(one);
    const wanted = { ...at.wanted, state: one };
    const of = await cardsOf(api, wanted, { limit: isFolded ? 1 : FIRST.board }, marks);
    return { state: one, of: isFolded ? { ...of, cards: [] } : of };
  });
  return { at, lists: eachOnce(await Promise.all(lists)), moving };
};

// Those that no settings name hold Work items, too: of these the one that is looked at.
const projectsOf = async ({ call }: Api, wanted = ''): Promise<string[]> => {
  const { projects } = await call('GET /settings');
  const names = new Set(['default', ...projects.map(({ name }) => name), wanted]);
  return [...names].filter((name) => name !== '');
};

const lookingOf = (place: At, marks: Marks): Omit<Looking, 'projects'> => {
  const { view, what, closed } = place.query;
  const wanted = wantedOf(place);
  const looking: Omit<Looking, 'projects'> = {
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

/** The Work items by state, or in a list. */
export const board = page<Board>({ title: () => 'Board', load, View });

/** Makes a Work item by its title alone, and stays where one is. */
const NewHere = ({ project }: { project: string | undefined }) => (
  <details class="new-here">
    <summary data-key="n">New on the board</summary>
    <Do call="POST /cases" {...(project !== undefined && { body: { project } })} class="line">
      <input
        {...{ name: 'title', required: true, autocomplete: 'off', size: 32 }}
        aria-label="Title"
        placeholder="What is to be done"
      />
      <select name="type" aria-label="Type of the new one">
        {ITEM_TYPES.map((type) => (
          <option key={type} value={type} selected={type === 'task'}>
            {type}
          </option>
        ))}
      </select>
      <button type="submit" class="primary">
        Add
      </button>
    </Do>
  </details>
);
