import type { Case, CaseUsage, IssueLink } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';
import { STATES } from '../frames.tsx';
import { HostLink } from '../links.tsx';
import { Since } from '../relative-time.tsx';
import { Used } from './memory.tsx';
import type { WorktreeStatus } from './worktree.tsx';

/** What is known of a Work item beside its text. */
export const Facts = ({ of: item, usage }: { of: Case; usage: CaseUsage }) => (
  <dl class="facts">
    {item.outcome !== null && (
      <>
        <dt>Outcome</dt>
        <dd>{item.outcome}</dd>
      </>
    )}
    <dt>Project</dt>
    <dd>{visible(item.project)}</dd>
    <dt>Made</dt>
    <dd>
      <Since at={item.created_at} />
    </dd>
    <dt>Changed</dt>
    <dd>
      <Since at={item.updated_at} />
    </dd>
    <dt>Files</dt>
    <dd>
      <code>{visible(item.path)}</code>
    </dd>
    <Used of={usage} />
  </dl>
);

/** All its files, to be kept elsewhere. */
export const Export = ({ id }: { id: string }) => (
  <p>
    <a href={`/cases/${id}/export`} download>
      Download all its files
    </a>
  </p>
);

interface DeleteProps {
  of: Case;
  etag: string | undefined;
  /** How many there are. */
  sessions: number;
  worktree: WorktreeStatus | undefined;
}

/** Takes it away for good: who wants that says so in letters. */
export const Delete = ({ of: { id }, etag, sessions, worktree }: DeleteProps) => (
  <details class="edit delete">
    <summary>Delete…</summary>
    <p class="quiet">
      It goes with {sessions === 1 ? 'its session' : `its ${sessions} sessions`}, its proofs and all
      else in its directory
      {worktree !== undefined && `, and with its worktree, of which ${lostOf(worktree)}`}; there is
      no way back. What it has on the code host stays.
    </p>
    <Do call={`DELETE /cases/${id}`} if_match={etag} then="/dashboard/board">
      <Sure />
      <button type="submit" class="danger">
        Delete it now
      </button>
    </Do>
    <p class="quiet">Where its worktree holds work that is nowhere else, that is refused.</p>
    <Do call={`DELETE /cases/${id}?force=true`} if_match={etag} then="/dashboard/board">
      <Sure what="that" />
      <button type="submit">Delete it, and keep that work under a recovery ref</button>
    </Do>
  </details>
);

const lostOf = ({ files = [] }: WorktreeStatus): string => {
  if (files.length === 0) return 'all is committed';
  return files.length === 1
    ? 'one file is not committed'
    : `${files.length} files are not committed`;
};

const Sure = ({ what = 'it' }: { what?: string }) => (
  <label>
    {`Type “delete” to do ${what}`}
    <input {...{ name: '_sure', required: true, pattern: 'delete', autocomplete: 'off' }} />
  </label>
);

const OUTCOMES = ['resolved', 'non_issue', 'duplicate', 'wont_fix'];

/** The state of a Work item, to be set to another. */
export const StateForm = ({
  of: { id, state, outcome },
  etag,
}: {
  of: Case;
  etag: string | undefined;
}) => (
  <Do call={`PUT /cases/${id}/state`} if_match={etag} class="fields">
    <div>
      <label for="state">State</label>
      <select id="state" name="state" data-key="s">
        {Object.entries(STATES).map(([value, name]) => (
          <option key={value} value={value} selected={value === state}>
            {name}
          </option>
        ))}
      </select>
    </div>
    <div>
      <label for="outcome">Outcome, when it closes</label>
      <input
        {...{
          id: 'outcome',
          name: 'outcome?',
          list: 'outcomes',
          maxLength: 64,
          autocomplete: 'off',
        }}
        {...{ pattern: '[a-z][a-z0-9_\\-]*', title: 'Lower-case letters, digits, - and _' }}
        placeholder="resolved"
        defaultValue={outcome ?? ''}
      />
      <datalist id="outcomes">
        {OUTCOMES.map((word) => (
          <option key={word} value={word} />
        ))}
      </datalist>
    </div>
    <button type="submit">Set the state</button>
  </Do>
);

/** The issue that a Work item came from, and how both stand to each other. */
export const Issue = ({ id, issue }: { id: string; issue: IssueLink }) => {
  const { repository, number, url, status, synced_at, state, moved_to } = issue;
  return (
    <section aria-label="Issue">
      <h2>Issue</h2>
      <p class="line">
        <HostLink url={url}>{`${visible(repository)}#${number}`}</HostLink>
        {state !== null && <span class="quiet">{state}</span>}
        <span class={`tag ${TAGS[status]}`}>{status}</span>
      </p>
      {moved_to !== undefined && <p class="quiet">Moved to {visible(moved_to)}</p>}
      <p class="line quiet">
        {synced_at === null ? (
          'Not synced yet'
        ) : (
          <>
            Synced <Since at={synced_at} />
          </>
        )}
      </p>
      <Do call={`POST /api/cases/${id}/github/sync`}>
        <button type="submit" data-key="i">
          Sync with the issue
        </button>
      </Do>
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
