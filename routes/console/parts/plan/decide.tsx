import { useContext, useEffect, useState } from 'preact/hooks';
import { counted } from '../../../../lib/text/wording.ts';
import { readComments } from '../../../../store/base/comments.ts';
import { ApiForm, CallButton } from '../form.tsx';
import { ChangedSinceOpened } from '../opened.tsx';
import { AbortSession } from '../session-forms.tsx';
import { withAskList } from './boundary.tsx';
import { CommentsContext, goToUnsaved, Quote } from './comments.tsx';
import { readDrafts } from './comments-file.ts';
import { hashOf, isTextOf, type PlanRead } from './read.ts';

export interface DecideProps extends Pick<PlanRead, 'session' | 'plan' | 'boundary' | 'ask'> {
  /** The page shows the whole text. */
  isWhole: boolean;
  /** The address of the plan. */
  at: string;
  /** Opens the version that came since the plan was opened. */
  open: (() => void) | undefined;
}

/** The actions on a plan that waits for approval. */
export const Decide = (given: DecideProps) => {
  const { session, at, open } = given;
  const { text } = useContext(CommentsContext);
  const count = readComments(text).unsent.length;
  const call = `/cases/${session.case_id}/sessions/${session.id}`;
  return (
    <section class="decide" aria-label="Decision">
      {count > 0 && (
        <CallButton call={`POST ${call}/revise`} button="primary" keys="s">
          {`Send ${counted(count, 'comment')}`}
        </CallButton>
      )}
      {open === undefined ? (
        <Approve {...given} unsent={count} />
      ) : (
        <ChangedSinceOpened what="The plan" where="above" open={open} />
      )}
      <a class="button" href={`${at}?show=edit`} data-key="e">
        Edit
      </a>
      <AbortSession case_id={session.case_id} id={session.id} />
      {count === 0 && (
        <details class="send-back">
          <summary>Request changes without comments</summary>
          <ApiForm call={`POST ${call}/revise`} keep class="fields">
            <textarea
              name="comment"
              required
              aria-label="Changes to make"
              placeholder="Changes to make"
            />
            <button type="submit">Request changes</button>
          </ApiForm>
        </details>
      )}
    </section>
  );
};

const activityOf = ({ case_id, id }: PlanRead['session']) => ({
  href: `/dashboard/cases/${case_id}/sessions/${id}`,
  name: 'Show activity',
});

interface ApproveProps extends Omit<DecideProps, 'open'> {
  /** The number of comments that were not sent. */
  unsent: number;
}

/**
 * Approves the shown text and the listed commands by one hash. Without the whole text on the page there is no approve
 * button.
 */
export const Approve = ({ session, plan, boundary, ask, isWhole, at, unsent }: ApproveProps) => {
  const { case_id, id, plan_sha256 } = session;
  const { approval_sha256, plan_sha256: listed = plan_sha256 } = boundary?.unasked ?? {};
  const hash = hashOf({ session, boundary });
  const unasked = approval_sha256 === undefined ? {} : { approval_sha256, ask };
  const [held, setHeld] = useState<Held>();
  useEffect(() => setHeld(undefined), [hash]);
  const isWell = isTextOf(plan, plan_sha256) && listed === plan_sha256;
  if (!isWell || boundary === undefined)
    return (
      <p class="box warn" role="note">
        {isWell
          ? 'What the session may do cannot be read. Reload the page.'
          : 'The plan changed while it was loaded. Reload the page.'}
      </p>
    );
  if (!isWhole)
    return (
      <a class="button primary" href={withAskList(`${at}?show=whole`, ask)} data-key="a">
        Show whole plan to approve
      </a>
    );
  const onSubmit = (event: Event): void => {
    const [place] = Object.keys(readDrafts(id));
    setHeld(place === undefined ? undefined : { place, isHere: goToUnsaved() });
    if (place === undefined) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div onSubmit={onSubmit}>
        <ApiForm
          call={`POST /cases/${case_id}/sessions/${id}/approve`}
          body={{ plan_sha256, ...unasked }}
          done={{ text: 'Approved.', on: activityOf(session) }}
        >
          <ApproveButton unsent={unsent} hash={hash?.slice(0, 8) ?? ''} />
        </ApiForm>
      </div>
      {held && <Unapproved {...held} at={at} />}
    </>
  );
};

/** With unsent comments, the disclosure says so and the button inside approves, without scripts too. */
const ApproveButton = ({ unsent, hash }: { unsent: number; hash: string }) => {
  const keys = { 'data-key': 'a', 'data-reads': 'div.plan, .plan-whole, .diff-lines' };
  if (unsent === 0)
    return (
      <button type="submit" class="primary" {...keys}>
        {`Approve ${hash}`}
      </button>
    );
  const comments = counted(unsent, 'comment');
  return (
    <details class="abort">
      <summary class="button" {...keys}>
        {`Approve without ${comments}…`}
      </summary>
      <p>
        {unsent === 1 ? 'The comment was' : `The ${comments} were`} not sent, and the agent does not
        read {unsent === 1 ? 'it' : 'them'} after an approval.
      </p>
      <button type="submit" class="danger">
        {`Approve ${hash} without ${comments}`}
      </button>
    </details>
  );
};

/** An unsaved comment that prevents the approval. */
interface Held {
  /** Its draft's place, which begins with the quote. */
  place: string;
  /** It is on this page. */
  isHere: boolean;
}

const Unapproved = ({ place, isHere, at }: Held & { at: string }) => (
  <div class="box warn" role="alert">
    The plan was not approved: it has an unsaved comment. Save or cancel the comment first.
    {!isHere && (
      <>
        {' '}
        <a href={at}>Show the comment</a>, on: <Quote text={place} />
      </>
    )}
  </div>
);
