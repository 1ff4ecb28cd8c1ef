import type { BodyUpdate, PullDraft, PullRequest } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';
import { Markdown } from '../markdown.tsx';
import { Since } from '../relative-time.tsx';
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

interface NoneProps {
  /** Of the Work item. */
  id: string;
  draft: PullDraft | undefined;
}

/** What would be proposed, where nothing is yet. */
export const NoPull = ({ id, draft }: NoneProps) => (
  <>
    <div class="box">
      <strong>There is no pull request yet.</strong> Making one commits what the last completed
      session left, pushes the branch and opens a draft on the host. Nothing is ever merged.
    </div>
    <Do call={`POST /api/cases/${id}/pr/create`} class="fields">
      <label>
        Title
        <input name="title?" defaultValue={draft?.title ?? ''} />
      </label>
      <label>
        For the branch
        <input name="base?" maxLength={200} placeholder="what the worktree began from" />
      </label>
      <Changes />
      <button type="submit" class="primary" data-key="a">
        Push and open a draft
      </button>
    </Do>
    {draft !== undefined && <Draft id={id} {...draft} />}
  </>
);

const Draft = ({ id, body, labels, edited, composed_at }: PullDraft & { id: string }) => (
  <>
    <h2>What it would say</h2>
    <p class="line quiet">
      {composed_at === null
        ? 'Composed for this page, and kept nowhere.'
        : 'As it is in pr/draft.md'}
      {edited && <span class="tag held">edited by hand</span>}
      {labels.map((label) => (
        <span key={label} class="tag">
          {visible(label)}
        </span>
      ))}
    </p>
    <div class="pull-body">
      <Markdown text={body} />
    </div>
    <Do
      call={`POST /api/cases/${id}/pr-body/compose`}
      {...(edited && { body: { overwrite: true } })}
    >
      <button type="submit">
        {edited ? 'Compose it anew, over the edits' : 'Compose and keep it'}
      </button>
    </Do>
  </>
);

/** What becomes of what nobody committed. */
export const Changes = () => (
  <label>
    Changes that are not committed
    <select name="changes?">
      <option value="">Commit what the last session left, refuse anything else</option>
      <option value="commit">Commit all of them</option>
      <option value="leave">Leave them out</option>
    </select>
  </label>
);
