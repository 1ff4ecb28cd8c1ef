import type { WaitingValue } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';

/** A value that waits for trust, and the value in use. */
export const PendingValue = ({ value, trusted_value, file, line }: WaitingValue) => (
  <dl class="facts">
    <dt>New value</dt>
    <dd>
      <JsonValue of={value} />
    </dd>
    <dt>Current value</dt>
    <dd>
      <JsonValue of={trusted_value} />
    </dd>
    <dt>File</dt>
    <dd>
      <code>{line === undefined ? visible(file) : `${visible(file)}:${line}`}</code>
    </dd>
  </dl>
);

/** A value as it is written in a file. */
export const JsonValue = ({ of: value }: { of: unknown }) =>
  value === null ? (
    <span class="quiet">none</span>
  ) : (
    <code class="as-written">
      {visible(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
    </code>
  );
