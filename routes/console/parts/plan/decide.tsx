import { useContext } from 'preact/hooks';
import type { Session } from '../../../../lib/client/client.ts';
import { readComments } from '../../../../store/base/comments.ts';
import { Do } from '../do.tsx';
import { Approve } from './approve.tsx';
import { InComments } from './comments-box.tsx';
import type { PlanRead } from './read.ts';

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
