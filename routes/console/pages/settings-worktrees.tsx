import type {
  KnownWorktree,
  SharedSnapshot,
  StaleWorktree,
  WorktreeConfig,
} from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { type Api, definePage } from '../common/page.ts';
import { Settings } from '../parts/frames.tsx';
import { RelativeTime } from '../parts/relative-time.tsx';
import { Branch, Config, Snapshots, Stale, WorktreeLink } from '../parts/settings/worktrees.tsx';

interface Shown {
  /** The worktrees that are not stale. */
  known: KnownWorktree[];
  /** The number of worktrees not shown. */
  more: number;
  stale: StaleWorktree[];
  snapshots: SharedSnapshot[];
  /** The titles of existing Work items, by id. */
  titles: Record<string, string>;
  config: WorktreeConfig;
  etag: string;
}

const MOST = 200;

const View = ({ known, more, stale, snapshots, titles, config, etag }: Shown) => {
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
        <h2 id="all">{stale.length + gone.length === 0 ? 'All' : 'Other worktrees'}</h2>
        {others.length === 0 ? (
          <p class="quiet">No worktrees. A session creates one for its Work item.</p>
        ) : (
          <List name="Worktrees" of={others} titles={titles} />
        )}
        {more > 0 && <p class="quiet">{more} more are listed by GET /api/worktrees.</p>}
      </section>
      <Snapshots snapshots={snapshots} />
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
        <WorktreeLink case_id={case_id} title={title} />
        {attached === true && <span class="tag">Attached</span>}
        {kept && <span class="tag">Saved work</span>}
        {created_at !== undefined && <RelativeTime at={created_at} />}
      </div>
      {branch !== undefined && path !== undefined && <Branch branch={branch} path={path} />}
      {branch === undefined && problem === undefined && (
        <p class="message quiet">No worktree. Its work can be restored.</p>
      )}
      {title === undefined && path !== undefined && (
        <p class="message">
          Restore the Work item's directory, or{' '}
          <a href={`/dashboard/settings/worktrees/${case_id}`}>save its work and remove it…</a>
        </p>
      )}
      {problem !== undefined && <p class="message bad">{visible(problem)}</p>}
    </li>
  );
};

// The most ids that a query may have.
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

/** All worktrees, the stale ones, and the configuration. */
export const page = definePage<Shown>({
  title: () => 'Worktrees',
  load: async (api) => {
    const [all, stale, snapshots, { data, etag = '' }] = await Promise.all([
      api.call('GET /api/worktrees'),
      api.call('GET /api/worktrees/stale'),
      api.call('GET /api/worktrees/shared'),
      api.request('GET /api/worktrees/config'),
    ]);
    const staleIds = new Set(stale.map(({ case_id }) => case_id));
    const others = all.filter(({ case_id }) => !staleIds.has(case_id));
    const known = others.slice(0, MOST);
    const titles = await titlesOf(
      api,
      [...known, ...stale].map(({ case_id }) => case_id),
    );
    const more = others.length - known.length;
    return { known, more, stale, snapshots, titles, config: data as WorktreeConfig, etag };
  },
  View,
  follows: ({ event_type }) => FOLLOWED.has(event_type),
});

// Listing stale worktrees runs git, so other events do not reload the page.
const FOLLOWED = new Set(['session_started', 'session_completed', 'case_deleted']);
