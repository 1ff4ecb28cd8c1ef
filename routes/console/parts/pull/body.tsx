import type { BodyUpdate, PullDraft, PullRequest } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { ApiForm, CallButton } from '../form.tsx';
import { Markdown } from '../markdown.tsx';
import { RelativeTime } from '../relative-time.tsx';
import { Patch } from '../text-diff.tsx';

interface BodyProps {
  pull: PullRequest;
  /** Oldest first. */
  updates: readonly BodyUpdate[];
}

/** The text of the pull request, and suggested updates. */
export const PullBody = ({ pull: { case_id, body, state }, updates }: BodyProps) => (
  <>
    <h2>Description</h2>
    {updates
      .filter(({ status }) => status === 'queued')
      .map((update) => (
        <Update key={update.id} {...update} />
      ))}
    {body.trim() === '' ? (
      <p class="quiet">The description is empty.</p>
    ) : (
      <details class="in-place">
        <summary data-key="b">Last version from the code host</summary>
        <div class="pull-body">
          <Markdown text={body} />
        </div>
      </details>
    )}
    {(state === 'draft' || state === 'open') && (
      <details class="in-place">
        <summary data-key="w">Suggest an update</summary>
        <ApiForm
          call={`POST /api/cases/${case_id}/pr-body/suggest-update`}
          keep
          class="fields below"
        >
          <label>
            New description (empty: generated from sessions and proofs)
            <textarea name="body?" class="code" />
          </label>
          <button type="submit">Show changes</button>
        </ApiForm>
      </details>
    )}
  </>
);

const Update = ({ id, case_id, body_sha256, diff, created_at }: BodyUpdate) => (
  <section class="row update" data-row={id} tabIndex={-1} aria-label="Suggested description">
    <p class="line">
      <span class="tag plan">Suggested</span>
      <RelativeTime at={created_at} />
    </p>
    <Patch diff={diff} />
    <div class="answers">
      <CallButton
        call={`POST /api/cases/${case_id}/pr-body/updates/${id}/approve`}
        body={{ body_sha256 }}
        button="primary"
        keys="y"
      >
        Publish description
      </CallButton>
    </div>
  </section>
);

interface NoneProps {
  /** The Work item's id. */
  id: string;
  draft: PullDraft | undefined;
}

/** A form to create the pull request, and its draft. */
export const NoPull = ({ id, draft }: NoneProps) => (
  <>
    <div class="box">
      <strong>No pull request yet.</strong> Opening one commits the changes of the last completed
      session, pushes the branch and creates a draft on the code host. Dossier never merges.
    </div>
    <ApiForm call={`POST /api/cases/${id}/pr/create`} keep class="fields">
      <label>
        Title
        <input name="title?" defaultValue={draft?.title ?? ''} />
      </label>
      <label>
        Base branch
        <input name="base?" maxLength={200} placeholder="Base of the worktree" />
      </label>
      <Changes />
      <button type="submit" class="primary" data-key="a">
        Push and open draft
      </button>
    </ApiForm>
    {draft !== undefined && <Draft id={id} {...draft} />}
  </>
);

const Draft = ({ id, body, labels, edited, composed_at }: PullDraft & { id: string }) => (
  <>
    <h2>Draft description</h2>
    <p class="line quiet">
      {composed_at === null ? 'Generated for this page, not saved.' : 'From pr/draft.md'}
      {edited && <span class="tag held">Edited</span>}
      {labels.map((label) => (
        <span key={label} class="tag">
          {visible(label)}
        </span>
      ))}
    </p>
    <div class="pull-body">
      <Markdown text={body} />
    </div>
    <CallButton
      call={`POST /api/cases/${id}/pr-body/compose`}
      {...(edited && { body: { overwrite: true } })}
    >
      {edited ? 'Generate again and discard edits' : 'Generate and save'}
    </CallButton>
  </>
);

/** Chooses what happens to uncommitted changes. */
export const Changes = () => (
  <label>
    Uncommitted changes
    <select name="changes?">
      <option value="">Commit those of the last session, refuse others</option>
      <option value="commit">Commit all</option>
      <option value="leave">Leave out</option>
    </select>
  </label>
);
