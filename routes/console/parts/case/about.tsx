import type { Case, CaseUsage } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { Since } from '../since.tsx';
import { Used } from './kept.tsx';
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
