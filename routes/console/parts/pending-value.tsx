import type { WaitingValue } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';

/** A value that waits to be trusted, beside the one that holds. */
export const Waiting = ({ value, trusted_value, file, line }: WaitingValue) => (
  <dl class="facts">
    <dt>Wants to be</dt>
    <dd>
      <Json of={value} />
    </dd>
    <dt>Holds now</dt>
    <dd>
      <Json of={trusted_value} />
    </dd>
    <dt>Stands in</dt>
    <dd>
      <code>{line === undefined ? visible(file) : `${visible(file)}:${line}`}</code>
    </dd>
  </dl>
);

/** A value as it is written. */
export const Json = ({ of: value }: { of: unknown }) =>
  value === null ? (
    <span class="quiet">nothing</span>
  ) : (
    <code class="as-written">
      {visible(typeof value === 'string' ? value : JSON.stringify(value, null, 2))}
    </code>
  );
