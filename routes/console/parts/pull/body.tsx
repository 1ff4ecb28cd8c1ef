import type { BodyUpdate, PullRequest } from '../../../../lib/client/client.ts';
import { Do } from '../do.tsx';
import { Markdown } from '../markdown.tsx';
import { Since } from '../since.tsx';
import { PullDiff } from './diff.tsx';

interface BodyProps {
  pull: PullRequest;
  /** Oldest first. */
  updates: readonly BodyUpdate[];
}

/** What the pull request says, and what it is suggested to say. */
export const PullBody = ({ pull: { case_id, body, state }, updates }: BodyProps) => (
  <>
    <h2>What it says</h2>
    {updates
      .filter(({ status }) => status === 'queued')
      .map((update) => (
        <Update key={update.id} {...update} />
      ))}
    {body.trim() === '' ? (
      <p class="quiet">Nothing.</p>
    ) : (
      <details class="in-place">
        <summary data-key="b">As it was last read from the host</summary>
        <div class="pull-body">
          <Markdown text={body} />
        </div>
      </details>
    )}
    {(state === 'draft' || state === 'open') && (
      <details class="in-place">
        <summary data-key="w">Suggest another text</summary>
        <Do call={`POST /api/cases/${case_id}/pr-body/suggest-update`} keep class="fields below">
          <label>
            The whole text; empty: the draft of sessions and proofs
            <textarea name="body?" class="code" />
          </label>
          <button type="submit">Show what would change</button>
        </Do>
      </details>
    )}
  </>
);

const Update = ({ id, case_id, body_sha256, diff, created_at }: BodyUpdate) => (
  <section class="row update" data-row={id} tabIndex={-1} aria-label="A suggested text">
    <p class="line">
      <span class="tag plan">suggested</span>
      <Since at={created_at} />
    </p>
    <PullDiff diff={diff} />
    <div class="answers">
      <Do call={`POST /api/cases/${case_id}/pr-body/updates/${id}/approve`} body={{ body_sha256 }}>
        <button type="submit" class="primary" data-key="y">
          Publish this text
        </button>
      </Do>
    </div>
  </section>
);
