import type { Conflict, Data } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Since } from '../since.tsx';

interface HistoryProps {
  /** Oldest first. */
  history: readonly Conflict[];
  metrics: Data<'GET /api/cases/{id}/conflicts/metrics'>;
}

/** The rebases before, and what came of them. */
export const ConflictHistory = ({ history, metrics }: HistoryProps) => (
  <>
    <h2>Rebases</h2>
    {history.length === 0 ? (
      <p class="quiet">There was none yet.</p>
    ) : (
      <p class="quiet">
        {`${metrics?.rebases ?? 0} in all, ${metrics?.conflicts ?? 0} of them with conflicts.`}
      </p>
    )}
    <ol class="timeline">
      {history.toReversed().map(({ id, timestamp, outcome, step, onto, file_count, pushed_at }) => (
        <li key={id} class="line">
          <Since at={timestamp} />
          <span class={`tag ${outcome === 'resolved' || outcome === 'clean' ? 'verified' : ''}`}>
            {outcome ?? step ?? 'goes on'}
          </span>
          <span>
            onto <code>{visible(onto)}</code>
          </span>
          {file_count > 0 && (
            <span class="quiet">{file_count === 1 ? 'one file' : `${file_count} files`}</span>
          )}
          {pushed_at !== null && <span class="quiet">pushed</span>}
        </li>
      ))}
    </ol>
  </>
);
