import { visible } from '../../../../store/base/visible.ts';
import { STATES } from '../frames.tsx';
import type { Wanted } from './cards.ts';

/** How the board is looked at: the address says it, so that it can be kept and sent. */
export interface Looking {
  wanted: Wanted;
  view: 'board' | 'list';
  /** Those of which something is going on. */
  what: 'needs' | 'running' | undefined;
  /** With those that are closed. */
  closed: boolean;
  /** Those of the settings, and the one that is looked at. */
  projects: readonly string[];
}

const BOARD = '/dashboard/board';

/** The address of a view, as short as it can be. */
export const addressOf = (
  { wanted, view, what, closed }: Omit<Looking, 'projects'>,
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
  { name: 'Needs me', at: { ...NOTHING, what: 'needs' } },
  { name: 'Running', at: { ...NOTHING, what: 'running' } },
  { name: 'Resolved', at: { ...NOTHING, view: 'list', wanted: { state: 'RESOLVED' } } },
] as const satisfies readonly { name: string; at: Partial<Looking> }[];

/** What is looked at, and how: links and a plain form. */
export const Filters = ({ at }: { at: Looking }) => (
  <div class="views">
    <nav aria-label="Views" class="line">
      {VIEWS.map((view) => (
        <Way key={view.name} name={view.name} to={{ view: at.view, ...view.at }} at={at} />
      ))}
    </nav>
    <nav aria-label="Form of the view" class="line">
      <Way name="Board" to={{ ...at, view: 'board' }} at={at} />
      <Way name="List" to={{ ...at, view: 'list' }} at={at} />
    </nav>
    <search class="search">
      <Form at={at} />
    </search>
  </div>
);

const Way = ({ name, to, at }: { name: string; to: Omit<Looking, 'projects'>; at: Looking }) => {
  const href = addressOf(to);
  return (
    <a class="way" href={href} {...(href === addressOf(at) && { 'aria-current': 'true' as const })}>
      {name}
    </a>
  );
};

const Form = ({ at: { wanted, view, what, closed, projects } }: { at: Looking }) => (
  <form action={BOARD} class="line filters" onChange={sendSelect}>
    {view === 'list' && <input type="hidden" name="view" value="list" />}
    {what !== undefined && <input type="hidden" name="what" value={what} />}
    {closed && <input type="hidden" name="closed" value="1" />}
    <input
      {...{ type: 'search', name: 'search', defaultValue: wanted.search, maxLength: 200 }}
      aria-label="Search in titles and texts"
      placeholder="Search titles and texts"
      data-key="/"
    />
    <select name="state" aria-label="State">
      <option value="">Any state</option>
      {Object.entries(STATES).map(([value, name]) => (
        <option key={value} value={value} selected={value === wanted.state}>
          {name}
        </option>
      ))}
    </select>
    <input
      {...{ name: 'type', defaultValue: wanted.type, pattern: '[a-z][a-z0-9_\\-]*', maxLength: 64 }}
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
