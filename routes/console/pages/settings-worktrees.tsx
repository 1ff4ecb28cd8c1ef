import type { KnownWorktree, StaleWorktree, WorktreeConfig } from '../../../lib/client/client.ts';
import { type Api, page } from '../common/page.ts';
import { Settings } from '../parts/frames.tsx';
import { Since } from '../parts/relative-time.tsx';
import { Branch, Config, OfItem, Stale } from '../parts/settings/worktrees.tsx';
import { Written } from '../parts/written.tsx';

interface Shown {
  /** Those that are not stale. */
  known: KnownWorktree[];
  /** How many more there are than are shown. */
  more: number;
  stale: StaleWorktree[];
  /** Of the Work items that are there, by their ids. */
  titles: Record<string, string>;
  config: WorktreeConfig;
  etag: string;
}

const MOST = 200;

const View = ({ known, more, stale, titles, config, etag }: Shown) => {
  const isGone = ({ case_id, path }: KnownWorktree) =>
    titles[case_id] === undefined && path !== undefined;
  const gone = known.filter(isGone);
  const others = known.filter((one) => !isGone(one));
  return (
    <Settings tab="Worktrees">
      <Stale stale={stale} titles={titles} ttl_hours={config.ttl_hours} />
      <section aria-labelledby="all">
        {gone.length > 0 && (
          <>
            <h2>Without a Work item</h2>
            <List name="Without a Work item" of={gone} titles={titles} />
          </>
        )}
        <h2 id="all">{stale.length + gone.length === 0 ? 'All' : 'All others'}</h2>
        {others.length === 0 ? (
          <p class="quiet">There is none. A session makes one for its Work item when it starts.</p>
        ) : (
          <List name="Worktrees" of={others} titles={titles} />
        )}
        {more > 0 && <p class="quiet">{more} more are listed by GET /api/worktrees.</p>}
      </section>
      <Config config={config} etag={etag} />
    </Settings>
  );
};

interface ListProps extends Pick<Shown, 'titles'> {
  name: string;
  of: readonly KnownWorktree[];
}

const List = ({ name, of, titles }: ListProps) => (
  <ul class="rows" aria-label={name}>
    {of.map((one) => (
      <Row key={one.case_id} one={one} title={titles[one.case_id]} />
    ))}
  </ul>
);

const Row = ({ one, title }: { one: KnownWorktree; title: string | undefined }) => {
  const { case_id, path, branch, attached, created_at, problem, kept } = one;
  return (
    <li class="row" data-row={case_id} tabIndex={-1}>
      <div class="head">
        <OfItem case_id={case_id} title={title} />
        {attached === true && <span class="tag">Yours</span>}
        {kept && <span class="tag">Kept work</span>}
        {created_at !== undefined && <Since at={created_at} />}
      </div>
      {branch !== undefined && path !== undefined && <Branch branch={branch} path={path} />}
      {branch === undefined && problem === undefined && (
        <p class="message quiet">No worktree now. What was in it can be had again.</p>
      )}
      {title === undefined && path !== undefined && (
        <p class="message">
          Put its directory back, or{' '}
          <a href={`/dashboard/settings/worktrees/${case_id}`}>keep its work and remove it…</a>
        </p>
      )}
      {problem !== undefined && (
        <p class="message bad">
          <Written text={problem} />
        </p>
      )}
    </li>
  );
};

// As many ids as a query takes.
const STEP = 250;

const titlesOf = async ({ call }: Api, all: string[]): Promise<Record<string, string>> => {
  const ids = [...new Set(all)];
  const parts = Array.from({ length: Math.ceil(ids.length / STEP) }, (_, at) =>
    ids.slice(at * STEP, (at + 1) * STEP).join(','),
  );
  const found = await Promise.all(
    parts.map((part) => call('GET /cases', { query: { ids: part, fields: 'title' } })),
  );
  return Object.fromEntries(found.flat().map(({ id, title = '' }) => [id, title]));
};

/** Where work is done on this machine, what of it nobody uses, and how it is made. */
export const settingsWorktrees = page<Shown>({
  title: () => 'Worktrees',
  load: async (api) => {
    const [all, stale, { data, etag = '' }] = await Promise.all([
      api.call('GET /api/worktrees'),
      api.call('GET /api/worktrees/stale'),
      api.request('GET /api/worktrees/config'),
    ]);
    const isStale = new Set(stale.map(({ case_id }) => case_id));
    const others = all.filter(({ case_id }) => !isStale.has(case_id));
    const known = others.slice(0, MOST);
    const titles = await titlesOf(
      api,
      [...known, ...stale].map(({ case_id }) => case_id),
    );
    const more = others.length - known.length;
    return { known, more, stale, titles, config: data as WorktreeConfig, etag };
  },
  View,
  follows: ({ event_type }) => FOLLOWED.has(event_type),
});

// Each look at the stale ones asks git: not for what changes none.
const FOLLOWED = new Set(['session_started', 'session_completed', 'case_deleted']);
