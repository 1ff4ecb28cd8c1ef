import type { Case, Session } from '../../../lib/client/client.ts';
import { approverText, utcOf } from '../../../lib/text/wording.ts';
import { visible } from '../../../store/base/visible.ts';
import { type Api, definePage, followsItem } from '../common/page.ts';
import { SessionPage } from '../parts/frames.tsx';
import { hasEnded } from '../parts/labels.ts';
import { useOpened } from '../parts/opened.tsx';
import { PlanBody, usePlanParts } from '../parts/plan/body.tsx';
import { Permissions, PlanCommands, UnaskedCommands } from '../parts/plan/boundary.tsx';
import { CommentsContext } from '../parts/plan/comments.tsx';
import { type CommentsFile, loadComments, useComments } from '../parts/plan/comments-file.ts';
import { Decide, type DecideProps } from '../parts/plan/decide.tsx';
import { EditPlan, Unsaved } from '../parts/plan/edit.tsx';
import { HiddenTextWarnings, PlanHead } from '../parts/plan/head.tsx';
import {
  hashOf,
  isTextOf,
  type PlanRead,
  readPlan,
  readText,
  type Which,
} from '../parts/plan/read.ts';
import { AbortSession } from '../parts/session-forms.tsx';
import { TextDiff } from '../parts/text-diff.tsx';

interface PlanShown extends PlanRead {
  item: Pick<Case, 'id' | 'title'>;
  /** The texts to compare, if that is requested and both exist. */
  compared: { before: string; after: string } | undefined;
  comments: CommentsFile;
  show: Show;
  /** The first line of the shown part of a long plan. */
  from: number;
}

type Show = 'plan' | 'diff' | 'source' | 'whole' | 'edit' | 'since';

const View = (shown: PlanShown) => {
  const { item, session, comments, plan, show } = shown;
  const now = useComments({ id: item.id, sid: session.id }, comments);
  const at = pathOf(session);
  const waits = session.status === 'plan_ready';
  const open = useOpened(waits ? hashOf(shown) : undefined);
  const edits = (show === 'edit' && waits) || isWrittenByOperator(session);
  return (
    <SessionPage item={item} of={session} tab="Plan">
      <CommentsContext.Provider value={{ sid: session.id, ...now }}>
        <PlanHead {...shown} />
        <HiddenTextWarnings of={session.warnings} />
        <ApprovalStatus session={session} plan={plan} at={at} />
        {comments.failure !== undefined && (
          <p class="box error" role="note">{`Comments are read-only: ${comments.failure}`}</p>
        )}
        {!edits && <Unsaved sid={session.id} at={at} plan={plan?.text ?? ''} waits={waits} />}
        {edits ? <Edit {...shown} at={at} /> : <PlanOrNothing {...shown} at={at} open={open} />}
      </CommentsContext.Provider>
    </SessionPage>
  );
};

const pathOf = ({ case_id, id }: Session): string =>
  `/dashboard/cases/${case_id}/sessions/${id}/plan`;

const isWrittenByOperator = ({ status, provider }: Session): boolean =>
  status === 'planning' && provider === 'manual';

type PlanViewProps = PlanShown & { at: string };
type PlanTextProps = PlanViewProps & Pick<DecideProps, 'open'>;

const Edit = ({ session, plan, at }: PlanViewProps) => (
  <>
    {isWrittenByOperator(session) && (
      <p>Write what you will do. You approve it after you saved it.</p>
    )}
    <EditPlan session={session} at={at} plan={plan?.text ?? ''} etag={plan?.etag} />
    {isWrittenByOperator(session) && <AbortSession case_id={session.case_id} id={session.id} />}
  </>
);

const PlanOrNothing = (shown: PlanTextProps) => {
  const { session, plan, boundary, ask, at } = shown;
  if (plan === undefined)
    return (
      <p class="empty">
        {hasEnded(session.status)
          ? 'The session ended without a plan.'
          : 'No plan yet. It appears here once it is ready.'}
      </p>
    );
  return (
    <>
      {boundary && <Permissions {...boundary} />}
      {boundary?.unasked && <UnaskedCommands {...boundary.unasked} ask={ask} at={at} />}
      <Views {...shown} />
      <Text {...shown} text={plan.text} />
    </>
  );
};

const Text = (shown: PlanTextProps & { text: string }) => {
  const { session, show, from, compared, text, at } = shown;
  const asSource = show === 'source';
  const isByParts = compared === undefined && show !== 'whole';
  const { parts, pages } = usePlanParts(isByParts ? text : '', asSource);
  const waits = session.status === 'plan_ready';
  return (
    <>
      {compared === undefined ? <PlanCommands text={text} /> : <TextDiff {...compared} />}
      {isByParts && (
        <PlanBody
          text={text}
          asSource={asSource}
          parts={parts}
          pages={pages}
          from={from}
          at={asSource ? `${at}?show=source` : at}
          takes={waits}
        />
      )}
      {show === 'whole' && <pre class="as-written plan-whole">{visible(text)}</pre>}
      {waits && <Decide {...shown} isWhole={!isByParts || pages.length === 1} />}
    </>
  );
};

const Views = ({ session, show, at }: PlanViewProps) => {
  const views: [Show, string][] = [
    ['plan', 'Rendered'],
    ...(session.sent_back === true ? [['diff', 'Changes'] as [Show, string]] : []),
    ...(session.plan_edited === true ? [['since', 'Edits since approval'] as [Show, string]] : []),
    ['source', 'Source'],
    ...(show === 'whole' ? [['whole', 'Whole'] as [Show, string]] : []),
  ];
  const here = views.some(([view]) => view === show) ? show : 'plan';
  return (
    <nav class="plan-views line" aria-label="View of the plan">
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

/** Whether the plan is approved, or why it cannot be. */
const ApprovalStatus = ({ session, plan, at }: Pick<PlanViewProps, 'session' | 'plan' | 'at'>) => {
  const { approved_at, approved_sha256, plan_edited, status } = session;
  if (approved_at === null)
    return status !== 'planning' || isWrittenByOperator(session) ? null : (
      <p class="box">The agent is planning. The plan appears here once it is ready.</p>
    );
  if (approved_sha256 !== null && !isTextOf(plan, approved_sha256))
    return (
      <p class="box error" role="alert">
        approved.md differs from the approved plan, so nothing runs. Restore the approved text, or
        abort the session and start another.
      </p>
    );
  return (
    <p class={plan_edited === true ? 'box warn' : 'box'}>
      {`Approved by ${approverText(session)} at ${utcOf(approved_at)}. This text ${hasEnded(status) ? 'ran' : 'runs'}. `}
      {plan_edited === true && (
        <>
          plan.md was changed since. The change is not approved and does not run.{' '}
          <a href={`${at}?show=since`}>Compare the approved plan with plan.md</a>
        </>
      )}
    </p>
  );
};

const SHOWS = ['diff', 'source', 'whole', 'edit', 'since'] as const;

/** Loads the texts to compare. Texts that do not exist are not requested. */
const comparedIn = async (
  api: Api,
  { session, plan }: PlanRead,
  show: Show,
): Promise<PlanShown['compared']> => {
  const textOf = async (which: Which) => (await readText(api, session, which))?.text ?? '';
  const text = plan?.text ?? '';
  if (session.plan_sha256 === null) return undefined;
  if (show === 'diff' && session.sent_back === true)
    return { before: await textOf('sent_back'), after: text };
  if (show === 'since' && session.plan_edited === true)
    return { before: text, after: await textOf('current') };
  return undefined;
};

/** The plan of a session, to review, comment on and approve. */
export const page = definePage<PlanShown>({
  title: ({ item }) => `Plan of ${item.title}`,
  load: async (api, { params: { id = '', sid = '' }, query }) => {
    const show = SHOWS.find((one) => one === query.show) ?? 'plan';
    const at = { id, sid };
    const [{ title }, read, comments] = await Promise.all([
      api.call('GET /cases/{id}', { id }),
      readPlan(api, at, query.ask || undefined),
      loadComments(api, at),
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
  follows: (event, at) => followsItem(event, at) || event.event_type === 'attention_changed',
});
