import { type Boundary, type Case, Problem, type Session } from '../../../lib/client/client.ts';
import { type Api, page } from '../common/page.ts';
import { PlanBody } from '../parts/plan/body.tsx';
import { Leave } from '../parts/plan/boundary.tsx';
import { PlanCommands } from '../parts/plan/commands.tsx';
import { InComments } from '../parts/plan/comments-box.tsx';
import { type CommentsFile, commentsOrWhy, useComments } from '../parts/plan/comments-state.ts';
import { Abort, Decide } from '../parts/plan/decide.tsx';
import { PlanDiff } from '../parts/plan/diff.tsx';
import { EditPlan, Unsaved } from '../parts/plan/edit.tsx';
import { Hidden, PlanHead } from '../parts/plan/head.tsx';
import { SessionPage } from '../parts/session.tsx';

interface PlanShown {
  item: Pick<Case, 'id' | 'title'>;
  session: Session;
  /** What was approved, else the plan as it stands. */
  plan: CommentsFile | undefined;
  /** Which texts are compared, where that is asked for and there are two. */
  compared: { before: string; now: string } | undefined;
  comments: CommentsFile;
  /** Undefined where it cannot be told, or nothing runs any more. */
  boundary: Boundary | undefined;
  /** By how many commits the base branch has moved since, where that can be told. */
  behind: number | null;
  show: Show;
  /** The line that a part of a long plan begins with. */
  from: number;
}

type Show = 'plan' | 'diff' | 'source' | 'edit' | 'since';

const View = (shown: PlanShown) => {
  const { item, session, comments, plan, boundary, behind, show } = shown;
  const now = useComments({ id: item.id, sid: session.id }, comments);
  const at = pathOf(session);
  const waits = session.status === 'plan_ready';
  const edits = (show === 'edit' && waits) || isMine(session);
  return (
    <SessionPage item={item} of={session} tab="Plan">
      <InComments.Provider value={{ sid: session.id, ...now }}>
        <PlanHead session={session} boundary={boundary} behind={behind} />
        <Hidden of={session.warnings} />
        <Standing session={session} plan={plan} at={at} />
        {comments.told !== undefined && (
          <p class="box error" role="note">{`Comments cannot be written: ${comments.told}`}</p>
        )}
        {!edits && <Unsaved sid={session.id} at={at} plan={plan?.text ?? ''} waits={waits} />}
        {edits ? <Edit {...shown} at={at} /> : <Inner {...shown} at={at} />}
      </InComments.Provider>
    </SessionPage>
  );
};

const pathOf = ({ case_id, id }: Session): string =>
  `/dashboard/cases/${case_id}/sessions/${id}/plan`;

const isMine = ({ status, provider }: Session): boolean =>
  status === 'planning' && provider === 'manual';

type Placed = PlanShown & { at: string };

const Edit = ({ session, plan, at }: Placed) => (
  <>
    {isMine(session) && <p>Write here what you will do. It is approved once it is saved.</p>}
    <EditPlan session={session} at={at} plan={plan?.text ?? ''} etag={plan?.etag} />
    {isMine(session) && <Abort of={session} />}
  </>
);

const Inner = (shown: Placed) => {
  const { session, plan, boundary, at } = shown;
  if (plan === undefined)
    return (
      <p class="empty">
        {ENDED.has(session.status)
          ? 'The session ended without a plan.'
          : 'There is no plan yet. It comes here by itself once it is made.'}
      </p>
    );
  return (
    <>
      {boundary && <Leave {...boundary} />}
      <Views {...shown} />
      <Text {...shown} text={plan.text} />
      {session.status === 'plan_ready' && <Decide session={session} at={at} />}
    </>
  );
};

const ENDED: ReadonlySet<Session['status']> = new Set(['completed', 'failed', 'aborted']);

const Text = ({ session, show, from, compared, text, at }: Placed & { text: string }) => {
  if (compared !== undefined) return <PlanDiff {...compared} />;
  const asSource = show === 'source';
  return (
    <>
      <PlanCommands text={text} />
      <PlanBody
        {...{ text, asSource, from }}
        at={asSource ? `${at}?show=source` : at}
        takes={session.status === 'plan_ready'}
      />
    </>
  );
};

const Views = ({ session, show, at }: Placed) => {
  const views: [Show, string][] = [
    ['plan', 'Rendered'],
    ...(session.sent_back === true ? [['diff', 'Changes'] as [Show, string]] : []),
    ...(session.plan_edited === true ? [['since', 'Edited since'] as [Show, string]] : []),
    ['source', 'Source'],
  ];
  const here = views.some(([view]) => view === show) ? show : 'plan';
  return (
    <nav class="plan-views line" aria-label="How the plan is shown">
      {views.map(([view, name]) => (
        <a
          key={view}
          class="button"
          href={view === 'plan' ? at : `${at}?show=${view}`}
          {...(view === here && { 'aria-current': 'page' as const })}
        >
          {name}
        </a>
      ))}
    </nav>
  );
};

type StandingProps = Pick<Placed, 'session' | 'plan' | 'at'>;

/** What is approved, or else why nothing can be. */
const Standing = ({ session, plan, at }: StandingProps) => {
  const { approved_at, approved_by, approved_sha256, plan_edited, status } = session;
  if (approved_at === null)
    return status !== 'planning' || isMine(session) ? null : (
      <p class="box">The agent is planning. Its plan comes here by itself.</p>
    );
  if (approved_sha256 !== null && plan?.etag?.includes(approved_sha256.slice(0, 32)) !== true)
    return (
      <p class="box error" role="alert">
        approved.md is not what was approved any more: nothing of it runs. Put the approved text
        back, or abort the session and plan anew.
      </p>
    );
  return (
    <p class={plan_edited === true ? 'box warn' : 'box'}>
      {`This is what ${approved_by ?? 'operator'} approved at ${approved_at.slice(0, 16).replace('T', ' ')} UTC, and what runs. `}
      {plan_edited === true && (
        <>
          plan.md says something else since: that is not approved, and nothing of it runs.{' '}
          <a href={`${at}?show=since`}>What was approved, against what stands there now</a>
        </>
      )}
    </p>
  );
};

type Which = 'current' | 'approved' | 'sent_back';

const planIn = async (
  { request }: Api,
  of: { id: string; sid: string },
  which: Which,
): Promise<CommentsFile | undefined> => {
  try {
    const { data, etag } = await request('GET /cases/{id}/sessions/{sid}/plan', {
      ...of,
      query: { which },
    });
    return { text: data ?? '', etag };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
};

// What cannot be told of the surroundings keeps nobody from reading the plan; of what is over there is nothing to tell.
const movedSince = async ({ call }: Api, session: Session): Promise<number | null> => {
  const { case_id, base_commit, status } = session;
  if (base_commit === null || ENDED.has(status)) return null;
  const health = await call('GET /api/worktrees/{case_id}/health', { case_id }).catch(() => null);
  return health?.behind ?? null;
};

const boundaryOf = async (
  { call }: Api,
  of: { id: string; sid: string },
  { status }: Session,
): Promise<Boundary | undefined> =>
  ENDED.has(status)
    ? undefined
    : call('GET /cases/{id}/sessions/{sid}/boundary', of).catch(() => undefined);

const SHOWS = ['diff', 'source', 'edit', 'since'] as const;

/** Which texts are shown, of those that there are: what is not there is not asked for. */
const textsOf = async (
  api: Api,
  of: { id: string; sid: string },
  { session, show }: Pick<PlanShown, 'session' | 'show'>,
): Promise<Pick<PlanShown, 'plan' | 'compared'>> => {
  if (session.plan_sha256 === null) return { plan: undefined, compared: undefined };
  const textOf = async (which: Which) => (await planIn(api, of, which))?.text ?? '';
  const plan = await planIn(api, of, session.approved_sha256 === null ? 'current' : 'approved');
  const text = plan?.text ?? '';
  if (show === 'diff' && session.sent_back === true)
    return { plan, compared: { before: await textOf('sent_back'), now: text } };
  if (show === 'since' && session.plan_edited === true)
    return { plan, compared: { before: text, now: await textOf('current') } };
  return { plan, compared: undefined };
};

/** The plan of a session: read, commented on, and answered. */
export const plan = page<PlanShown>({
  title: ({ item }) => `Plan of ${item.title}`,
  load: async (api, { params: { id = '', sid = '' }, query }) => {
    const show = SHOWS.find((one) => one === query.show) ?? 'plan';
    const at = { id, sid };
    const [{ title }, session, comments] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      api.call('GET /cases/{id}/sessions/{sid}', at),
      commentsOrWhy(api, at),
    ]);
    const [texts, behind, boundary] = await Promise.all([
      textsOf(api, at, { session, show }),
      movedSince(api, session),
      boundaryOf(api, at, session),
    ]);
    const from = Number(query.from) || 1;
    return { item: { id, title }, session, comments, behind, boundary, show, from, ...texts };
  },
  View,
  follows: ({ event_type, payload }, { params }) =>
    payload.case_id === params.id || event_type === 'attention_changed',
});
