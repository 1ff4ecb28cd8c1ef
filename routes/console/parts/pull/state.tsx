import type { PullRequest, ReadyCheck } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Told } from '../../common/page.ts';
import { Do } from '../form.tsx';
import { HostLink } from '../links.tsx';
import { Since } from '../relative-time.tsx';
import { Changes } from './body.tsx';

/** How the pull request is, and since when that is known. */
export const PullState = ({ pull, down }: { pull: PullRequest; down: Told | undefined }) => {
  const { case_id, number, repository, title, url, state, labels, stale, synced_at } = pull;
  return (
    <section class="pull" aria-label="How it is">
      <h2>
        <HostLink url={url}>{`${visible(title)} #${number}`}</HostLink>
      </h2>
      <p class="line">
        <span class={`tag pull-${state}`}>{state}</span>
        <span class="quiet">{visible(repository)}</span>
        <code>{visible(pull.head_ref)}</code>
        <span class="quiet">for</span>
        <code>{visible(pull.base_ref)}</code>
        {labels.map((label) => (
          <span key={label} class="tag">
            {visible(label)}
          </span>
        ))}
      </p>
      <p class="line">
        {factsOf(pull).map(({ text, kind }) => (
          <span key={text} class={`tag ${kind}`}>
            {text}
          </span>
        ))}
      </p>
      {down !== undefined && (
        <div class="box warn" role="status">
          <strong>The host could not be asked.</strong> {down.title}: {down.detail} Below is what
          was seen last.
        </div>
      )}
      <p class="line">
        <span class="quiet">
          As of {synced_at === null ? 'nobody knows when' : <Since at={synced_at} />}
        </span>
        {stale && <span class="tag held">the host has told of something newer</span>}
        <a class="button" href={`/dashboard/cases/${case_id}/pr?asked=1`} data-key="r">
          Ask the host now
        </a>
      </p>
    </section>
  );
};

interface Fact {
  text: string;
  kind: string;
}

const factsOf = ({ checks, review_decision, mergeable, head_in_sync }: PullRequest): Fact[] => [
  ...(checks === null ? [] : [CHECKS[checks]]),
  ...(review_decision === null ? [] : [DECISIONS[review_decision]]),
  ...(mergeable === false ? [{ text: 'conflicts with its base', kind: 'failed' }] : []),
  ...(head_in_sync === false ? [{ text: 'the host is behind the push', kind: 'held' }] : []),
];

const CHECKS: Readonly<Record<NonNullable<PullRequest['checks']>, Fact>> = {
  success: { text: 'checks pass', kind: 'verified' },
  failure: { text: 'checks fail', kind: 'failed' },
  pending: { text: 'checks run', kind: 'held' },
};

const DECISIONS: Readonly<Record<NonNullable<PullRequest['review_decision']>, Fact>> = {
  approved: { text: 'approved', kind: 'verified' },
  changes_requested: { text: 'changes requested', kind: 'failed' },
  review_required: { text: 'review required', kind: 'held' },
};

interface ReadyProps {
  pull: PullRequest;
  /** What was found when it was asked for just now. */
  ready: ReadyCheck | undefined;
}

/** What can be done with the pull request, and what is in the way of a review. */
export const PullReady = ({ pull: { case_id, state, proof_comment }, ready }: ReadyProps) => {
  const at = `/api/cases/${case_id}/pr`;
  if (state === 'closed' || state === 'merged') return null;
  return (
    <section aria-label="What can be done">
      {ready !== undefined && <Checks {...ready} />}
      <div class="answers">
        {state === 'draft' && (
          <Do call={`POST ${at}/mark-ready`}>
            <button type="submit" class="primary" data-key="a">
              Mark ready for review
            </button>
          </Do>
        )}
        <Do call={`POST ${at}/comment-proof`}>
          <button type="submit">
            {proof_comment === null ? 'Show the proof there' : 'Bring the proof there up to date'}
          </button>
        </Do>
        <details class="in-place push">
          <summary data-key="p">Push</summary>
          <Do call={`POST ${at}/push`} class="fields below">
            <Changes />
            <button type="submit">Push what the branch has now</button>
          </Do>
        </details>
      </div>
    </section>
  );
};

const Checks = ({ ready, checks }: ReadyCheck) => (
  <div class={ready ? 'box good' : 'box warn'}>
    <strong>{ready ? 'It may be marked ready.' : 'In the way of a review:'}</strong>
    <ul class="ready">
      {checks
        .filter(({ ok }) => !ok)
        .map(({ name, detail }) => (
          <li key={name}>{visible(detail)}</li>
        ))}
    </ul>
  </div>
);

interface EditProps {
  pull: PullRequest;
  etag: string | undefined;
}

/** What an operator may change of a pull request: title and labels there, notes here alone. */
export const PullEdit = ({ pull: { case_id, title, labels, notes, state }, etag }: EditProps) => {
  const call = `PATCH /api/cases/${case_id}/pr`;
  return (
    <details class="in-place">
      <summary data-key="n">Title, labels and notes</summary>
      {(state === 'draft' || state === 'open') && (
        <Do call={call} if_match={etag} body={{ labels: [] }} class="fields below">
          <label>
            Title on the host
            <input name="title" required defaultValue={title} />
          </label>
          <fieldset class="labels line">
            <legend>Labels on the host</legend>
            {labels.map((label) => (
              <label key={label} class="check">
                <input type="checkbox" name="labels[]" value={label} defaultChecked />{' '}
                {visible(label)}
              </label>
            ))}
            <input name="labels[]" maxLength={100} aria-label="A further label" size={12} />
          </fieldset>
          <button type="submit">Change it on the host</button>
        </Do>
      )}
      <Do call={call} if_match={etag} keep class="fields below">
        <label>
          Notes of your own, which stay here
          <textarea name="notes" defaultValue={notes} />
        </label>
        <button type="submit">Keep the notes</button>
      </Do>
    </details>
  );
};
