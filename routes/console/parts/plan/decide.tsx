import { useContext, useEffect, useState } from 'preact/hooks';
import type { Session } from '../../../../lib/client/client.ts';
import { readComments } from '../../../../store/base/comments.ts';
import { Do } from '../form.tsx';
import { withAsked } from './boundary.tsx';
import { InComments } from './comments.tsx';
import { draftsOf } from './comments-file.ts';
import { isTextOf, type PlanRead } from './read.ts';

interface DecideProps extends Pick<PlanRead, 'session' | 'plan' | 'boundary' | 'ask'> {
  /** All of the text is on this page. */
  isWhole: boolean;
  /** The page's own path. */
  at: string;
}

/** The foot of a plan that waits: what is said to it. */
export const Decide = ({ session, plan, boundary, ask, isWhole, at }: DecideProps) => {
  const { text } = useContext(InComments);
  const count = readComments(text).unsent.length;
  const call = `/cases/${session.case_id}/sessions/${session.id}`;
  return (
    <section class="decide" aria-label="Your answer to this plan">
      {count > 0 && (
        <Do call={`POST ${call}/revise`}>
          <button type="submit" class="primary" data-key="s">
            {count === 1 ? 'Send 1 comment' : `Send ${count} comments`}
          </button>
        </Do>
      )}
      <Approve {...{ session, plan, boundary, ask, isWhole, at }} isPrimary={count === 0} />
      <a class="button" href={`${at}?show=edit`} data-key="e">
        Edit by hand
      </a>
      <Abort of={session} />
      {count === 0 && (
        <details class="send-back">
          <summary>Send back with one text</summary>
          <Do call={`POST ${call}/revise`} keep class="fields">
            <textarea
              name="comment"
              required
              aria-label="What should be another way"
              placeholder="What should be another way"
            />
            <button type="submit">Send back</button>
          </Do>
        </details>
      )}
    </section>
  );
};

/** Asks first. */
export const Abort = ({ of: { case_id, id } }: { of: Session }) => (
  <details
    class="plan-abort"
    onToggle={({ currentTarget }: { currentTarget: HTMLDetailsElement }) => {
      if (currentTarget.open) currentTarget.querySelector('button')?.focus();
    }}
  >
    <summary class="button" data-key="x">
      Abort
    </summary>
    <Do call={`POST /api/cases/${case_id}/session/abort`} body={{ session_id: id }} class="line">
      <span>The session ends, and nothing of it runs.</span>
      <button type="submit" class="danger">
        Yes, abort
      </button>
    </Do>
  </details>
);

interface ApproveProps extends Pick<PlanRead, 'session' | 'plan' | 'boundary' | 'ask'> {
  /** All of the text is on this page. */
  isWhole: boolean;
  /** The page of the plan. */
  at: string;
  isPrimary?: boolean;
}

/**
 * Approves the text that is shown, and the commands that are listed, by one hash. Without all of that text on the page there
 * is no such button.
 */
export const Approve = (given: ApproveProps) => {
  const { session, plan, boundary, ask, isWhole, at, isPrimary = true } = given;
  const { case_id, id, plan_sha256 } = session;
  const { approval_sha256, plan_sha256: listed = plan_sha256 } = boundary?.unasked ?? {};
  const hash = approval_sha256 ?? plan_sha256;
  const unasked = approval_sha256 === undefined ? {} : { approval_sha256, ask };
  const [isHeld, setHeld] = useState(false);
  useEffect(() => setHeld(false), [hash]);
  if (!isTextOf(plan, plan_sha256) || listed !== plan_sha256)
    return (
      <p class="box warn" role="note">
        The plan changed while it was read. Reload the page to read it again.
      </p>
    );
  if (!isWhole)
    return (
      <a class="button primary" href={withAsked(`${at}?show=whole`, ask)} data-key="a">
        Show the whole plan to approve it
      </a>
    );
  const onSubmit = (event: Event): void => {
    const isBegun = Object.keys(draftsOf(id)).length > 0;
    setHeld(isBegun);
    if (!isBegun) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div onSubmit={onSubmit}>
        <Do
          call={`POST /cases/${case_id}/sessions/${id}/approve`}
          body={{ plan_sha256, ...unasked }}
        >
          <button type="submit" class={isPrimary ? 'primary' : ''} data-key="a">
            {`Approve ${hash?.slice(0, 8)}`}
          </button>
        </Do>
      </div>
      {isHeld && (
        <p class="box warn" role="alert">
          Nothing was approved: you began a comment on this plan. Save it, or cancel it.
        </p>
      )}
    </>
  );
};
