import type { Review } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { ApiForm, CallButton } from '../form.tsx';
import { labelOf } from '../labels.ts';
import { HostLink } from '../links.tsx';
import { Markdown } from '../markdown.tsx';
import { RelativeTime } from '../relative-time.tsx';

interface ReviewsProps {
  /** The Work item's id. */
  id: string;
  /** Blocking reviews first. */
  reviews: readonly Review[];
}

/** Reviews, threads and failed checks of the pull request. */
export const PullReviews = ({ id, reviews }: ReviewsProps) => {
  const queued = reviews.filter(({ feedback }) => feedback === 'queued').length;
  const blocking = reviews.filter((one) => one.blocking);
  return (
    <>
      <h2>Reviews and checks</h2>
      {queued > 0 && <Address id={id} count={queued} />}
      {blocking.length === 0 && <p class="quiet">Nothing blocks the pull request.</p>}
      <Rows of={blocking} />
      {reviews.length > blocking.length && (
        <details class="in-place">
          <summary data-key="e">{`${reviews.length - blocking.length} not blocking`}</summary>
          <Rows of={reviews.filter((one) => !one.blocking)} />
        </details>
      )}
    </>
  );
};

const Address = ({ id, count }: { id: string; count: number }) => (
  <ApiForm
    call={`POST /api/cases/${id}/pr/address-feedback`}
    then={`/dashboard/cases/${id}/sessions/{id}`}
    keep
    class="line grow address"
  >
    <input name="comment?" aria-label="Message to the session" placeholder="Message (optional)" />
    <button type="submit" class="primary" data-key="s">
      {`Start session on ${count} queued`}
    </button>
  </ApiForm>
);

const Rows = ({ of: reviews }: { of: readonly Review[] }) => (
  <ul class="rows reviews">
    {reviews.map((review) => (
      <Row key={review.id} {...review} />
    ))}
  </ul>
);

const Row = (review: Review) => {
  const { id, kind, state, blocking, author, url, submitted_at, outdated, on_host } = review;
  return (
    <li class="row" data-row={id} tabIndex={-1}>
      <div class="head">
        <span class={`tag ${blocking ? 'failed' : ''}`}>{labelOf(state)}</span>
        <span class="title">
          <HostLink url={url}>{titleOf(review)}</HostLink>
        </span>
        {outdated && <span class="tag">Outdated</span>}
        {!on_host && <span class="tag">Deleted on the host</span>}
        {kind !== 'check' && <span class="quiet">{visible(author ?? 'unknown')}</span>}
        {submitted_at !== null && <RelativeTime at={submitted_at} />}
      </div>
      {review.body.trim() !== '' && <Markdown text={review.body} />}
      {review.comments.slice(1).map(({ author: by, body, created_at }, at) => (
        <div key={at} class="reply">
          <p class="quiet">
            {visible(by ?? 'unknown')} {created_at !== null && <RelativeTime at={created_at} />}
          </p>
          <Markdown text={body} />
        </div>
      ))}
      {review.check !== null && <Check {...review.check} />}
      <Decide {...review} />
    </li>
  );
};

const titleOf = ({ kind, check, path, line, start_line }: Review): string => {
  if (check !== null) return `${visible(check.name)}: ${visible(check.conclusion)}`;
  if (path === null) return kind === 'review' ? 'Review' : 'Thread';
  const from = start_line !== null && start_line !== line ? `${start_line}-` : '';
  return visible(line === null ? path : `${path}:${from}${line}`);
};

const Check = ({ step, log, log_missing }: NonNullable<Review['check']>) => (
  <>
    {step !== null && (
      <p>
        Step {step.number} failed: <strong>{visible(step.name)}</strong>
      </p>
    )}
    {log !== null && (
      <details class="in-place" open>
        <summary data-key="f">End of the log</summary>
        <pre class="as-written">
          <code>{visible(log)}</code>
        </pre>
      </details>
    )}
    {log_missing !== null && <p class="quiet">{visible(log_missing)}</p>}
  </>
);

const Decide = (review: Review) => {
  const { id, case_id, feedback, session_id, resolved_at, state } = review;
  const at = `/api/cases/${case_id}/pr/reviews/${encodeURIComponent(id)}`;
  const isOver = resolved_at !== null || ['resolved', 'superseded', 'dismissed'].includes(state);
  return (
    <div class="answers">
      {!isOver && (feedback === null || feedback === 'addressed') && (
        <CallButton
          call={`POST ${at}/add-to-feedback`}
          button="primary"
          keys="q"
          label={`Queue for a session: ${titleOf(review)}`}
        >
          Queue for a session
        </CallButton>
      )}
      {feedback !== null && <span class="tag plan">{FEEDBACK[feedback]}</span>}
      {session_id !== null && (
        <a href={`/dashboard/cases/${case_id}/sessions/${session_id}`}>Session</a>
      )}
      {resolved_at !== null && <span class="quiet">Resolved here</span>}
      {!isOver && (
        <CallButton call={`POST ${at}/resolve`} keys="x" label={`Resolve: ${titleOf(review)}`}>
          Resolve
        </CallButton>
      )}
    </div>
  );
};

const FEEDBACK: Readonly<Record<NonNullable<Review['feedback']>, string>> = {
  queued: 'Queued',
  in_session: 'In a session',
  addressed: 'Addressed',
};
