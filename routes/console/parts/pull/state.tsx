import type { PullRequest, ReadyCheck } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import type { ProblemSummary } from '../../common/page.ts';
import { EditForm } from '../edit-form.tsx';
import { ApiForm, CallButton } from '../form.tsx';
import { labelOf } from '../labels.ts';
import { HostLink } from '../links.tsx';
import { RelativeTime } from '../relative-time.tsx';
import { Changes } from './body.tsx';

/** The state of the pull request, and when it was last read. */
export const PullState = ({
  pull,
  down,
}: {
  pull: PullRequest;
  down: ProblemSummary | undefined;
}) => {
  const { case_id, number, repository, title, url, state, labels, stale, synced_at } = pull;
  return (
    <section class="pull" aria-label="State">
      <h2>
        <HostLink url={url}>{`${visible(title)} #${number}`}</HostLink>
      </h2>
      <p class="line">
        <span class={`tag pull-${state}`}>{labelOf(state)}</span>
        <span class="quiet">{visible(repository)}</span>
        <code>{visible(pull.head_ref)}</code>
        <span class="quiet">into</span>
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
          <strong>The code host could not be reached.</strong> {down.title}: {down.detail} The last
          known state is shown below.
        </div>
      )}
      <p class="line">
        <span class="quiet">
          Synced {synced_at === null ? 'never' : <RelativeTime at={synced_at} />}
        </span>
        {stale && <span class="tag held">Newer state on the host</span>}
        <a class="button" href={`/dashboard/cases/${case_id}/pr?asked=1`} data-key="r">
          Refresh from the code host
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
  ...(mergeable === false ? [{ text: 'Conflicts with the base', kind: 'failed' }] : []),
  ...(head_in_sync === false ? [{ text: 'Host is behind the push', kind: 'held' }] : []),
];

const CHECKS: Readonly<Record<NonNullable<PullRequest['checks']>, Fact>> = {
  success: { text: 'Checks passed', kind: 'verified' },
  failure: { text: 'Checks failed', kind: 'failed' },
  pending: { text: 'Checks running', kind: 'held' },
};

const DECISIONS: Readonly<Record<NonNullable<PullRequest['review_decision']>, Fact>> = {
  approved: { text: 'Approved', kind: 'verified' },
  changes_requested: { text: 'Changes requested', kind: 'failed' },
  review_required: { text: 'Review required', kind: 'held' },
};

interface ReadyProps {
  pull: PullRequest;
  /** The result of a check that was just requested. */
  ready: ReadyCheck | undefined;
}

/** The actions on the pull request, and what blocks a review. */
export const PullReady = ({ pull: { case_id, state, proof_comment }, ready }: ReadyProps) => {
  const at = `/api/cases/${case_id}/pr`;
  if (state === 'closed' || state === 'merged') return null;
  return (
    <section aria-label="Actions">
      {ready !== undefined && <Checks {...ready} />}
      <div class="answers">
        {state === 'draft' && (
          <CallButton call={`POST ${at}/mark-ready`} button="primary" keys="a">
            Mark ready for review
          </CallButton>
        )}
        <CallButton call={`POST ${at}/comment-proof`}>
          {proof_comment === null ? 'Publish proof' : 'Update published proof'}
        </CallButton>
        <details class="in-place push">
          <summary data-key="p">Push</summary>
          <ApiForm call={`POST ${at}/push`} class="fields below">
            <Changes />
            <button type="submit">Push branch</button>
          </ApiForm>
        </details>
      </div>
    </section>
  );
};

const Checks = ({ ready, checks }: ReadyCheck) => (
  <div class={ready ? 'box good' : 'box warn'}>
    <strong>{ready ? 'Ready for review.' : 'Blocking the review:'}</strong>
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

/** Edits title and labels on the code host, and local notes. */
export const PullEdit = ({ pull: { case_id, title, labels, notes, state }, etag }: EditProps) => {
  const call = `PATCH /api/cases/${case_id}/pr`;
  return (
    <details class="in-place">
      <summary data-key="n">Title, labels and notes</summary>
      {(state === 'draft' || state === 'open') && (
        <EditForm
          call={call}
          if_match={etag}
          body={{ labels: [] }}
          keep={`title ${case_id}`}
          class="fields below"
        >
          <label>
            Title on the code host
            <input name="title" required defaultValue={title} />
          </label>
          <fieldset class="labels line">
            <legend>Labels on the code host</legend>
            {labels.map((label) => (
              <label key={label} class="check">
                <input type="checkbox" name="labels[]" value={label} defaultChecked />{' '}
                {visible(label)}
              </label>
            ))}
            <input name="labels[]" maxLength={100} aria-label="New label" size={12} />
          </fieldset>
          <button type="submit">Update on the code host</button>
        </EditForm>
      )}
      <EditForm call={call} if_match={etag} class="fields below">
        <label>
          Local notes
          <textarea name="notes" defaultValue={notes} />
        </label>
        <button type="submit">Save notes</button>
      </EditForm>
    </details>
  );
};
