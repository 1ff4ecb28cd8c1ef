import type { Case, CaseUsage, IssueLink } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { CodeFact, Fact } from '../facts.tsx';
import { StateOptions, Suggestions, WORD } from '../fields.tsx';
import { ApiForm, CallButton } from '../form.tsx';
import { labelOf } from '../labels.ts';
import { HostLink } from '../links.tsx';
import { RelativeTime } from '../relative-time.tsx';
import { UsageFact } from './memory.tsx';
import type { WorktreeShown } from './worktree.tsx';

/** The properties of a Work item. */
export const Facts = ({ of: item, usage }: { of: Case; usage: CaseUsage }) => (
  <dl class="facts">
    {item.outcome !== null && <Fact name="Outcome">{item.outcome}</Fact>}
    <Fact name="Project">{visible(item.project)}</Fact>
    <Fact name="Created">
      <RelativeTime at={item.created_at} />
    </Fact>
    <Fact name="Updated">
      <RelativeTime at={item.updated_at} />
    </Fact>
    <CodeFact name="Files" text={item.path} />
    <UsageFact of={usage} />
  </dl>
);

/** Downloads the files of a Work item. */
export const Export = ({ id }: { id: string }) => (
  <p>
    <a href={`/cases/${id}/export`} download>
      Download all files
    </a>
  </p>
);

interface VersionProps {
  of: Case;
  etag: string | undefined;
}

interface DeleteProps extends VersionProps {
  /** The number of sessions. */
  sessions: number;
  worktree: WorktreeShown | undefined;
}

/** Deletes a Work item, after the operator typed “delete”. */
export const Delete = ({ of: { id }, etag, sessions, worktree }: DeleteProps) => (
  <details class="edit delete">
    <summary>Delete…</summary>
    <p class="quiet">
      This deletes {sessions === 1 ? 'its session' : `its ${sessions} sessions`}, its proofs and
      everything else in its directory
      {worktree !== undefined && `, and its worktree (${lostOf(worktree)})`}. Only the git history
      of the workspace, if it has one, keeps the files. Issue and pull request stay on the code
      host.
    </p>
    <ApiForm call={`DELETE /cases/${id}`} if_match={etag} then="/dashboard/board">
      <ConfirmDelete />
      <button type="submit" class="danger">
        Delete Work item
      </button>
    </ApiForm>
    <p class="quiet">Refused if the worktree has work that exists nowhere else.</p>
    <ApiForm call={`DELETE /cases/${id}?force=true`} if_match={etag} then="/dashboard/board">
      <ConfirmDelete what=", saving its work" />
      <button type="submit">Save that work under a recovery ref and delete</button>
    </ApiForm>
  </details>
);

const lostOf = ({ health: { uncommitted = 0 } }: WorktreeShown): string => {
  if (uncommitted === 0) return 'no uncommitted files';
  return uncommitted === 1 ? 'one uncommitted file' : `${uncommitted} uncommitted files`;
};

const ConfirmDelete = ({ what = '' }: { what?: string }) => (
  <label>
    {`Type “delete” to confirm${what}`}
    <input name="_sure" required pattern="delete" autocomplete="off" />
  </label>
);

const OUTCOMES = ['resolved', 'non_issue', 'duplicate', 'wont_fix'];

/** Sets the state and the outcome. */
export const StateForm = ({ of: { id, state, outcome }, etag }: VersionProps) => (
  <ApiForm call={`PUT /cases/${id}/state`} if_match={etag} class="fields">
    <div>
      <label for="state">State</label>
      <select id="state" name="state" data-key="s" aria-label="State">
        <StateOptions chosen={state} />
      </select>
    </div>
    <div>
      <label for="outcome">Outcome when closed</label>
      <input
        id="outcome"
        name="outcome?"
        list="outcomes"
        autocomplete="off"
        {...WORD}
        placeholder="resolved"
        defaultValue={outcome ?? ''}
      />
      <Suggestions id="outcomes" of={OUTCOMES} />
    </div>
    <button type="submit">Set state</button>
  </ApiForm>
);

/** The linked issue, and whether it is in sync. */
export const Issue = ({ id, issue }: { id: string; issue: IssueLink }) => {
  const { repository, number, url, status, synced_at, state, moved_to } = issue;
  return (
    <section aria-label="Issue">
      <h2>Issue</h2>
      <p class="line">
        <HostLink url={url}>{`${visible(repository)}#${number}`}</HostLink>
        {state !== null && <span class="quiet">{state}</span>}
        <span class={`tag ${TAGS[status]}`}>{labelOf(status)}</span>
      </p>
      {moved_to !== undefined && <p class="quiet">Moved to {visible(moved_to)}</p>}
      <p class="line quiet">
        {synced_at === null ? (
          'Not synced yet'
        ) : (
          <>
            Synced <RelativeTime at={synced_at} />
          </>
        )}
      </p>
      <CallButton call={`POST /api/cases/${id}/github/sync`} keys="i">
        Sync issue
      </CallButton>
    </section>
  );
};

const TAGS: Readonly<Record<IssueLink['status'], string>> = {
  linked: 'verified',
  conflict: 'conflict',
  stale: 'held',
  moved: 'held',
  missing: 'failed',
};
