import type { IssueLink } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { HostLink } from '../pull/link.tsx';
import { Since } from '../since.tsx';

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
