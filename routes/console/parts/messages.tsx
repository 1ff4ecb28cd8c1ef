import type { SessionMessage } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';

/** What the operator said to a session. */
export const Messages = ({ all }: { all: readonly SessionMessage[] }) => {
  if (all.length === 0) return null;
  return (
    <details class="messages" open={all.length < 4}>
      <summary>
        {all.length === 1 ? '1 message of yours' : `${all.length} messages of yours`}
      </summary>
      <ol>
        {all.map(({ id, at, mode, text, delivered_at }) => (
          <li key={id}>
            <span class="quiet">
              {`${at.slice(0, 16).replace('T', ' ')} UTC, ${mode === 'plan' ? 'Plan mode' : 'Work mode'}${delivered_at === null ? ', not read by an agent' : ''}`}
            </span>
            <pre class="as-written">{visible(text)}</pre>
          </li>
        ))}
      </ol>
    </details>
  );
};
