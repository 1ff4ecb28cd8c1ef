import type { PullTransition } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Since } from '../since.tsx';

/** What became of the pull request, newest first. */
export const PullTimeline = ({ events }: { events: readonly PullTransition[] }) => (
  <>
    <h2>What became of it</h2>
    {events.length === 0 ? (
      <p class="quiet">Nothing is known. Ask the host now.</p>
    ) : (
      <ol class="timeline">
        {events.toReversed().map(({ seq, event, actor, head_sha, occurred_at, source }) => (
          <li key={seq} class="line">
            <Since at={occurred_at} />
            <span>{event.replace('_', ' ')}</span>
            {actor !== null && <span class="quiet">by {visible(actor)}</span>}
            {head_sha !== null && <code class="quiet">{visible(head_sha).slice(0, 10)}</code>}
            <span class="quiet">{SOURCES[source]}</span>
          </li>
        ))}
      </ol>
    )}
  </>
);

const SOURCES: Readonly<Record<PullTransition['source'], string>> = {
  service: 'from here',
  sync: '',
  webhook: 'the host told of it',
};
