import { useContext, useEffect, useState } from 'preact/hooks';
import { readComments } from '../../../../base/comments.ts';
import type { Session } from '../../../../lib/client/client.ts';
import { Do } from '../do.tsx';
import { InComments } from './comments-box.tsx';
import { draftsOf } from './comments-state.ts';

interface DecideProps {
  session: Session;
  /** The page's own path. */
  at: string;
}

/** The foot of a plan that waits: what is said to it. */
export const Decide = ({ session, at }: DecideProps) => {
  const { sid, text } = useContext(InComments);
  const [isHeld, setHeld] = useState(false);
  useEffect(() => setHeld(false), [text]);
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
      <div
        onSubmit={(event: Event) => {
          const drafts = Object.keys(draftsOf(sid));
          setHeld(drafts.length > 0);
          if (drafts.length === 0) return;
          event.preventDefault();
          event.stopPropagation();
        }}
      >
        <Do call={`POST ${call}/approve`} body={{ plan_sha256: session.plan_sha256 }}>
          <button type="submit" class={count > 0 ? '' : 'primary'} data-key="a">
            {`Approve ${session.plan_sha256?.slice(0, 8) ?? 'this'}`}
          </button>
        </Do>
      </div>
      {isHeld && (
        <p class="box warn" role="alert">
          Nothing was approved: you began a comment on this plan. Save it, or cancel it.
        </p>
      )}
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
