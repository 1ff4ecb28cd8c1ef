import { type Case, Problem, type Session } from '../../../lib/client/client.ts';
import { type Api, page } from '../common/page.ts';
import { InComments } from '../parts/comments-box.tsx';
import { type CommentsFile, readComments, useComments } from '../parts/comments-state.ts';
import { PlanBody } from '../parts/plan-body.tsx';
import { PlanCommands } from '../parts/plan-commands.tsx';
import { Abort, Decide, EditPlan } from '../parts/plan-decide.tsx';
import { PlanDiff } from '../parts/plan-diff.tsx';
import { Hidden, PlanHead } from '../parts/plan-head.tsx';
import { SessionPage } from '../parts/session.tsx';

interface PlanShown {
  item: Pick<Case, 'id' | 'title'>;
  session: Session;
  /** What was approved, else the plan as it stands. */
  plan: CommentsFile | undefined;
  /** What it is compared with, where that is asked for and there is any. */
  before: string | undefined;
  comments: CommentsFile;
  /** By how many commits the base branch has moved since, where that can be told. */
  behind: number | null;
  show: Show;
}

type Show = 'plan' | 'diff' | 'source' | 'edit';

const VIEWS = [
  { show: 'plan', name: 'Rendered' },
  { show: 'diff', name: 'Changes' },
  { show: 'source', name: 'Source' },
] as const;

const View = (shown: PlanShown) => {
  const { item, session, comments } = shown;
  const now = useComments({ id: item.id, sid: session.id }, comments);
  return (
    <SessionPage item={item} of={session} tab="Plan">
      <InComments.Provider value={{ sid: session.id, ...now }}>
        <PlanHead session={session} behind={shown.behind} />
        <Hidden of={session.warnings} />
        <Standing session={session} />
        <Inner {...shown} />
      </InComments.Provider>
    </SessionPage>
  );
};

const pathOf = ({ case_id, id }: Session): string =>
  `/dashboard/cases/${case_id}/sessions/${id}/plan`;

const Inner = (shown: PlanShown) => {
  const { session, plan, show } = shown;
  const at = pathOf(session);
  const isMine = session.status === 'planning' && session.provider === 'manual';
  const waits = session.status === 'plan_ready';
  if ((show === 'edit' && waits) || isMine)
    return (
      <>
        {isMine && <p>Write here what you will do. It is approved once it is saved.</p>}
        <EditPlan session={session} at={at} plan={plan?.text ?? ''} etag={plan?.etag} />
        {isMine && <Abort of={session} />}
      </>
    );
  if (plan === undefined)
    return <p class="empty">There is no plan yet. It comes here by itself once it is made.</p>;
  return (
    <>
      <Views show={show} at={at} />
      <Text {...shown} text={plan.text} />
      {waits && <Decide session={session} at={at} />}
    </>
  );
};

const Text = ({ session, show, before, text }: PlanShown & { text: string }) => {
  if (show === 'diff' && before === undefined)
    return <p class="empty">No version was sent back: this is the first.</p>;
  if (show === 'diff') return <PlanDiff before={before ?? ''} now={text} />;
  return (
    <>
      <PlanCommands text={text} session={session} />
      <PlanBody text={text} asSource={show === 'source'} takes={session.status === 'plan_ready'} />
    </>
  );
};

const Views = ({ show, at }: { show: Show; at: string }) => (
  <nav class="plan-views line" aria-label="How the plan is shown">
    {VIEWS.map((view) => (
      <a
        key={view.show}
        class="button"
        href={view.show === 'plan' ? at : `${at}?show=${view.show}`}
        {...(view.show === show && { 'aria-current': 'page' as const })}
      >
        {view.name}
      </a>
    ))}
  </nav>
);

/** What is approved, or else why nothing can be. */
const Standing = ({ session }: { session: Session }) => {
  const { approved_at, approved_by, plan_edited, status, provider } = session;
  if (approved_at !== null)
    return (
      <p class={plan_edited === true ? 'box warn' : 'box'}>
        {`This is what ${approved_by ?? 'operator'} approved at ${approved_at.slice(0, 16).replace('T', ' ')} UTC, and what runs. `}
        {plan_edited === true && 'plan.md says something else since: nothing of that runs.'}
      </p>
    );
  if (status !== 'planning' || provider === 'manual') return null;
  return <p class="box">The agent is planning. Its plan comes here by itself.</p>;
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

// What cannot be told of the surroundings keeps nobody from reading the plan.
const movedSince = async ({ call }: Api, { case_id }: Session): Promise<number | null> => {
  const at = { case_id };
  const health = await call('GET /api/worktrees/{case_id}/health', at).catch(() => undefined);
  return health?.behind ?? null;
};

/** The plan of a session: read, commented on, and answered. */
export const plan = page<PlanShown>({
  title: ({ item }) => `Plan of ${item.title}`,
  load: async (api, { params: { id = '', sid = '' }, query }) => {
    const show = ['diff', 'source', 'edit'].includes(query.show ?? '') ? query.show : 'plan';
    const at = { id, sid };
    const [{ title }, session, comments] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      api.call('GET /cases/{id}/sessions/{sid}', at),
      readComments(api, at),
    ]);
    const isApproved = session.approved_sha256 !== null;
    const [shown, before, behind] = await Promise.all([
      planIn(api, at, isApproved ? 'approved' : 'current'),
      show === 'diff' ? planIn(api, at, 'sent_back') : undefined,
      movedSince(api, session),
    ]);
    return {
      ...{ item: { id, title }, session, comments, behind, plan: shown },
      before: before?.text,
      show: show as Show,
    };
  },
  View,
  follows: ({ event_type, payload }, { params }) =>
    payload.case_id === params.id || event_type === 'attention_changed',
});
