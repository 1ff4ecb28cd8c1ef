import type { Review } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';
import { HostLink } from '../links.tsx';
import { Markdown } from '../markdown.tsx';
import { Since } from '../relative-time.tsx';

interface ReviewsProps {
  /** Of the Work item. */
  id: string;
  /** What blocks first. */
  reviews: readonly Review[];
}

/** What is said of the pull request: reviews, threads on lines, checks that fail. */
export const PullReviews = ({ id, reviews }: ReviewsProps) => {
  const queued = reviews.filter(({ feedback }) => feedback === 'queued').length;
  const blocking = reviews.filter((one) => one.blocking);
  return (
    <>
      <h2>Reviews and checks</h2>
      {queued > 0 && <Address id={id} count={queued} />}
      {blocking.length === 0 && <p class="quiet">Nothing that is known here blocks it.</p>}
      <Rows of={blocking} />
      {reviews.length > blocking.length && (
        <details class="in-place">
          <summary data-key="e">{`${reviews.length - blocking.length} that block nothing`}</summary>
          <Rows of={reviews.filter((one) => !one.blocking)} />
        </details>
      )}
    </>
  );
};

const Address = ({ id, count }: { id: string; count: number }) => (
  <Do
    call={`POST /api/cases/${id}/pr/address-feedback`}
    then={`/dashboard/cases/${id}/sessions/{id}`}
    keep
    class="line grow address"
  >
    <input
      name="comment?"
      aria-label="What you say to the session"
      placeholder="What you say to it (may be empty)"
    />
    <button type="submit" class="primary" data-key="s">
      {`Start a session on ${count} queued`}
    </button>
  </Do>
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
        <span class={`tag ${blocking ? 'failed' : ''}`}>{state.replace('_', ' ')}</span>
        <span class="title">
          <HostLink url={url}>{titleOf(review)}</HostLink>
        </span>
        {outdated && <span class="tag">outdated</span>}
        {!on_host && <span class="tag">gone on the host</span>}
        {kind !== 'check' && <span class="quiet">{visible(author ?? 'somebody')}</span>}
        {submitted_at !== null && <Since at={submitted_at} />}
      </div>
      {review.body.trim() !== '' && <Markdown text={review.body} />}
      {review.comments.slice(1).map(({ author: by, body, created_at }, at) => (
        <div key={at} class="reply">
          <p class="quiet">
            {visible(by ?? 'somebody')} {created_at !== null && <Since at={created_at} />}
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
        <summary data-key="f">The end of its log</summary>
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
        <Do call={`POST ${at}/add-to-feedback`}>
          <button
            type="submit"
            class="primary"
            data-key="q"
            aria-label={`Queue for a session: ${titleOf(review)}`}
          >
            Queue for a session
          </button>
        </Do>
      )}
      {feedback !== null && <span class="tag plan">{FEEDBACK[feedback]}</span>}
      {session_id !== null && (
        <a href={`/dashboard/cases/${case_id}/sessions/${session_id}`}>its session</a>
      )}
      {resolved_at !== null && <span class="quiet">resolved here</span>}
      {!isOver && (
        <Do call={`POST ${at}/resolve`}>
          <button type="submit" data-key="x" aria-label={`Resolve: ${titleOf(review)}`}>
            Resolve
          </button>
        </Do>
      )}
    </div>
  );
};

const FEEDBACK: Readonly<Record<NonNullable<Review['feedback']>, string>> = {
  queued: 'queued',
  in_session: 'a session has it',
  addressed: 'addressed',
};
