import { visible } from '../../../../store/base/visible.ts';
import { StateOptions, WORD } from '../fields.tsx';
import type { CaseFilter } from './cards.ts';

/** The view of the board, as in its address. */
export interface BoardView {
  wanted: CaseFilter;
  view: 'board' | 'list';
  /** Only Work items with inbox items, or with an active session. */
  what: 'needs' | 'running' | undefined;
  /** Closed Work items are shown too. */
  closed: boolean;
  /** The projects of the settings and of the filter. */
  projects: readonly string[];
}

const BOARD = '/dashboard/board';

/** The shortest address of a view. */
export const addressOf = (
  { wanted, view, what, closed }: Omit<BoardView, 'projects'>,
  more: object = {},
): string => {
  const { order, ids: _, ...filters } = wanted;
  const said = new URLSearchParams({
    ...(view === 'list' && { view }),
    ...(what !== undefined && { what }),
    ...filters,
    ...(order === 'oldest' && { order }),
    ...(closed && { closed: '1' }),
    ...more,
  });
  return said.size === 0 ? BOARD : `${BOARD}?${said}`;
};

const NOTHING = { wanted: {}, what: undefined, closed: false };

const VIEWS = [
  { name: 'All', at: NOTHING },
  { name: 'Needs you', at: { ...NOTHING, what: 'needs' } },
  { name: 'Running', at: { ...NOTHING, what: 'running' } },
  { name: 'Resolved', at: { ...NOTHING, view: 'list', wanted: { state: 'RESOLVED' } } },
] as const satisfies readonly { name: string; at: Partial<BoardView> }[];

/** The views and the filter, as links and a plain form. */
export const Filters = ({ at }: { at: BoardView }) => (
  <div class="views">
    <nav aria-label="Views" class="line">
      {VIEWS.map((view) => (
        <ViewLink key={view.name} name={view.name} to={{ view: at.view, ...view.at }} at={at} />
      ))}
    </nav>
    <nav aria-label="Layout" class="line">
      <ViewLink name="Board" to={{ ...at, view: 'board' }} at={at} />
      <ViewLink name="List" to={{ ...at, view: 'list' }} at={at} />
    </nav>
    <search class="search">
      <Form at={at} />
    </search>
  </div>
);

interface ViewLinkProps {
  name: string;
  to: Omit<BoardView, 'projects'>;
  at: BoardView;
}

const ViewLink = ({ name, to, at }: ViewLinkProps) => {
  const href = addressOf(to);
  return (
    <a class="way" href={href} {...(href === addressOf(at) && { 'aria-current': 'true' as const })}>
      {name}
    </a>
  );
};

const Form = ({ at: { wanted, view, what, closed, projects } }: { at: BoardView }) => (
  <form action={BOARD} class="line filters" onChange={sendSelect}>
    {view === 'list' && <input type="hidden" name="view" value="list" />}
    {what !== undefined && <input type="hidden" name="what" value={what} />}
    {closed && <input type="hidden" name="closed" value="1" />}
    <input
      type="search"
      name="search"
      defaultValue={wanted.search}
      maxLength={200}
      aria-label="Search titles and descriptions"
      placeholder="Search"
      data-key="/"
    />
    <select name="state" aria-label="State">
      <option value="">Any state</option>
      <StateOptions chosen={wanted.state} />
    </select>
    <input
      name="type"
      defaultValue={wanted.type}
      {...WORD}
      aria-label="Type"
      title="Type: lower-case letters, digits, - and _"
      placeholder="Type"
      size={8}
    />
    <select name="project" aria-label="Project">
      <option value="">Any project</option>
      {projects.map((name) => (
        <option key={name} value={name} selected={name === wanted.project}>
          {visible(name)}
        </option>
      ))}
    </select>
    <button type="submit">Filter</button>
  </form>
);

const sendSelect = ({ target }: Event): void => {
  if (target instanceof HTMLSelectElement) target.form?.requestSubmit();
};
