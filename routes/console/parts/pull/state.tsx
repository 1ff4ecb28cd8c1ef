import type { PullRequest } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { Told } from '../../common/page.ts';
import { Since } from '../since.tsx';
import { HostLink } from './link.tsx';

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
