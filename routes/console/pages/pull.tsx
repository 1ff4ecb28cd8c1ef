import type {
  BodyUpdate,
  Case,
  PullDraft,
  PullRequest,
  PullTransition,
  ReadyCheck,
  Review,
} from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { orProblem } from '../common/load.ts';
import { type Api, definePage, followsItem, type ProblemSummary } from '../common/page.ts';
import { Item } from '../parts/frames.tsx';
import { labelOf } from '../parts/labels.ts';
import { NoPull, PullBody } from '../parts/pull/body.tsx';
import { hasCodeHost, NoHost } from '../parts/pull/merge.tsx';
import { PullReviews } from '../parts/pull/reviews.tsx';
import { PullEdit, PullReady, PullState } from '../parts/pull/state.tsx';
import { RelativeTime } from '../parts/relative-time.tsx';

interface Pulls {
  item: Case;
  pull: PullRequest | undefined;
  etag: string | undefined;
  /** Why the record cannot be read. */
  unread: ProblemSummary | undefined;
  /** The project has a repository on a code host. */
  isHosted: boolean;
  /** The draft, if there is no pull request. */
  draft: PullDraft | undefined;
  reviews: Review[];
  updates: BodyUpdate[];
  timeline: PullTransition[];
  /** The result of a check that was just requested. */
  ready: ReadyCheck | undefined;
  /** Why the code host did not respond. */
  down: ProblemSummary | undefined;
}

const View = ({ item, pull, etag, unread, isHosted, draft, down, ready, ...rest }: Pulls) => (
  <Item of={item} tab="Pull request">
    {unread !== undefined && (
      <p class="box error">
        <strong>{unread.title}.</strong> {unread.detail}
      </p>
    )}
    {pull === undefined && isHosted && <NoPull id={item.id} draft={draft} />}
    {pull === undefined && !isHosted && (
      <NoHost id={item.id} isMerged={item.merged !== undefined} />
    )}
    {pull !== undefined && (
      <>
        <PullState pull={pull} down={down} />
        <PullEdit pull={pull} etag={etag} />
        <PullReady pull={pull} ready={ready} />
        <PullReviews id={item.id} reviews={rest.reviews} />
        <PullBody pull={pull} updates={rest.updates} />
        <PullTimeline events={rest.timeline} />
      </>
    )}
  </Item>
);

// The page shows the stored state at once; the code host is only asked on request.
const askHost = async ({ call }: Api, id: string) => {
  const [asked, ready] = await Promise.all([
    orProblem(
      Promise.all([
        call('POST /api/cases/{id}/pr/sync-state', { id }),
        call('GET /api/cases/{id}/pr/reviews', { id }),
      ]),
    ),
    orProblem(call('GET /api/cases/{id}/pr/ready-check', { id })),
  ]);
  const down = asked.problem ?? ready.problem;
  return { down, ready: ready.value };
};

const pullOf = async ({ call, request }: Api, { id, problems }: Case) => {
  const { pr } = await call('GET /api/cases/{id}/github', { id });
  const isThere = pr !== null || problems?.some(({ file }) => file.endsWith('/pr/pr.md'));
  if (isThere !== true) return NO_PULL;
  const { value, problem } = await orProblem(request('GET /api/cases/{id}/pr', { id }));
  if (value === undefined)
    return { ...NO_PULL, unread: problem?.status === 404 ? undefined : problem };
  return { pull: value.data ?? undefined, etag: value.etag, unread: undefined };
};

const NO_PULL = { pull: undefined, etag: undefined, unread: undefined };

const NOTHING = {
  reviews: [],
  updates: [],
  timeline: [],
  ready: undefined,
  down: undefined,
  draft: undefined,
};

const load = async (api: Api, id: string, isRefresh: boolean): Promise<Pulls> => {
  const { call } = api;
  const item = await call('GET /cases/{id}', { id });
  const first = await pullOf(api, item);
  if (first.pull === undefined) {
    const [draft, isHosted] = await Promise.all([
      orProblem(call('GET /api/cases/{id}/pr/draft', { id })),
      hasCodeHost(api, id),
    ]);
    return { ...NOTHING, item, ...first, isHosted, draft: draft.value };
  }
  const asked = isRefresh ? await askHost(api, id) : NOTHING;
  const [now, reviews, updates, timeline] = await Promise.all([
    isRefresh ? pullOf(api, item) : first,
    orProblem(call('GET /api/cases/{id}/pr/reviews', { id, query: { local: true } })),
    orProblem(call('GET /api/cases/{id}/pr-body/updates', { id })),
    orProblem(call('GET /api/cases/{id}/pr/state-timeline', { id })),
  ]);
  return {
    item,
    ...now,
    isHosted: true,
    draft: undefined,
    ready: asked.ready,
    down: asked.down,
    reviews: firstOf(reviews.value ?? []),
    updates: (updates.value ?? []).slice(-5),
    timeline: (timeline.value ?? []).slice(-30),
  };
};

const MOST = 60;

// Blocking reviews come first, so that the limit never drops one before another review.
const firstOf = (reviews: readonly Review[]): Review[] =>
  reviews
    .toSorted((a, b) => Number(b.blocking) - Number(a.blocking))
    .slice(0, MOST)
    .map((one) => (one.check === null ? one : { ...one, check: endOf(one.check) }));

const LOG_END = 6000;

const endOf = (check: NonNullable<Review['check']>): NonNullable<Review['check']> => ({
  ...check,
  log: check.log === null ? null : check.log.slice(-LOG_END),
});

/** The pull request of a Work item: its state, reviews and text. */
export const page = definePage<Pulls>({
  title: ({ item }) => `Pull request of ${item.title}`,
  load: (api, { params: { id = '' }, query }) => load(api, id, query.asked !== undefined),
  View,
  // Asking the code host raises an event.
  follows: (event, at) => followsItem(event, at) && at.query.asked === undefined,
});

/** The events of the pull request, newest first. */
const PullTimeline = ({ events }: { events: readonly PullTransition[] }) => (
  <>
    <h2>Timeline</h2>
    {events.length === 0 ? (
      <p class="quiet">No events. Refresh from the code host.</p>
    ) : (
      <ol class="bare timeline">
        {events.toReversed().map(({ seq, event, actor, head_sha, occurred_at, source }) => (
          <li key={seq} class="line">
            <RelativeTime at={occurred_at} />
            <span>{labelOf(event)}</span>
            {actor !== null && <span class="quiet">by {visible(actor)}</span>}
            {head_sha !== null && <code class="quiet">{visible(head_sha).slice(0, 10)}</code>}
            <span class="quiet">{SOURCES[source]}</span>
          </li>
        ))}
      </ol>
    )}
  </>
);

const SOURCES: Readonly<Record<PullTransition['source'], string>> = {
  service: 'from this daemon',
  sync: '',
  webhook: 'reported by a webhook',
};
