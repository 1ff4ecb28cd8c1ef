import type { Case, Session } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { type Api, page } from '../common/page.ts';
import { SessionPage } from '../parts/frames.tsx';
import { PlanBody, usePlanParts } from '../parts/plan/body.tsx';
import { Leave, PlanCommands, Unasked } from '../parts/plan/boundary.tsx';
import { InComments } from '../parts/plan/comments.tsx';
import { type CommentsFile, commentsOrWhy, useComments } from '../parts/plan/comments-file.ts';
import { Abort, Decide } from '../parts/plan/decide.tsx';
import { PlanDiff } from '../parts/plan/diff.tsx';
import { EditPlan, Unsaved } from '../parts/plan/edit.tsx';
import { Hidden, PlanHead } from '../parts/plan/head.tsx';
import {
  ENDED,
  isTextOf,
  type PlanRead,
  readPlan,
  readText,
  type Which,
} from '../parts/plan/read.ts';

interface PlanShown extends PlanRead {
  item: Pick<Case, 'id' | 'title'>;
  /** Which texts are compared, where that is asked for and there are two. */
  compared: { before: string; now: string } | undefined;
  comments: CommentsFile;
  show: Show;
  /** The line that a part of a long plan begins with. */
  from: number;
}

type Show = 'plan' | 'diff' | 'source' | 'whole' | 'edit' | 'since';

const View = (shown: PlanShown) => {
  const { item, session, comments, plan, boundary, behind, base, show } = shown;
  const now = useComments({ id: item.id, sid: session.id }, comments);
  const at = pathOf(session);
  const waits = session.status === 'plan_ready';
  const edits = (show === 'edit' && waits) || isMine(session);
  return (
    <SessionPage item={item} of={session} tab="Plan">
      <InComments.Provider value={{ sid: session.id, ...now }}>
        <PlanHead {...{ session, boundary, behind, base }} />
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
  const { session, plan, boundary, ask, at } = shown;
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
      {boundary?.unasked && <Unasked {...boundary.unasked} ask={ask} at={at} />}
      <Views {...shown} />
      <Text {...shown} text={plan.text} />
    </>
  );
};

const Text = (shown: Placed & { text: string }) => {
  const { session, plan, boundary, ask, show, from, compared, text, at } = shown;
  const asSource = show === 'source';
  const isByParts = compared === undefined && show !== 'whole';
  const { parts, sheets } = usePlanParts(isByParts ? text : '', asSource);
  const waits = session.status === 'plan_ready';
  return (
    <>
      {compared === undefined ? <PlanCommands text={text} /> : <PlanDiff {...compared} />}
      {isByParts && (
        <PlanBody
          {...{ text, asSource, parts, sheets, from }}
          at={asSource ? `${at}?show=source` : at}
          takes={waits}
        />
      )}
      {show === 'whole' && <pre class="as-written plan-whole">{visible(text)}</pre>}
      {waits && (
        <Decide
          {...{ session, plan, boundary, ask, at }}
          isWhole={!isByParts || sheets.length === 1}
        />
      )}
    </>
  );
};

const Views = ({ session, show, at }: Placed) => {
  const views: [Show, string][] = [
    ['plan', 'Rendered'],
    ...(session.sent_back === true ? [['diff', 'Changes'] as [Show, string]] : []),
    ...(session.plan_edited === true ? [['since', 'Edited since'] as [Show, string]] : []),
    ['source', 'Source'],
    ...(show === 'whole' ? [['whole', 'Whole'] as [Show, string]] : []),
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
  if (approved_sha256 !== null && !isTextOf(plan, approved_sha256))
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

const SHOWS = ['diff', 'source', 'whole', 'edit', 'since'] as const;

/** Which texts are compared, of those that there are: what is not there is not asked for. */
const comparedIn = async (
  api: Api,
  { session, plan }: PlanRead,
  show: Show,
): Promise<PlanShown['compared']> => {
  const textOf = async (which: Which) => (await readText(api, session, which))?.text ?? '';
  const text = plan?.text ?? '';
  if (session.plan_sha256 === null) return undefined;
  if (show === 'diff' && session.sent_back === true)
    return { before: await textOf('sent_back'), now: text };
  if (show === 'since' && session.plan_edited === true)
    return { before: text, now: await textOf('current') };
  return undefined;
};

/** The plan of a session: read, commented on, and answered. */
export const plan = page<PlanShown>({
  title: ({ item }) => `Plan of ${item.title}`,
  load: async (api, { params: { id = '', sid = '' }, query }) => {
    const show = SHOWS.find((one) => one === query.show) ?? 'plan';
    const at = { id, sid };
    const [{ title }, read, comments] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      readPlan(api, at, query.ask || undefined),
      commentsOrWhy(api, at),
    ]);
    const compared = await comparedIn(api, read, show);
    return {
      item: { id, title },
      ...read,
      comments,
      compared,
      show,
      from: Number(query.from) || 1,
    };
  },
  View,
  follows: ({ event_type, payload }, { params }) =>
    payload.case_id === params.id || event_type === 'attention_changed',
});
