import type { WaitingValue } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { CodeFact, Fact } from './facts.tsx';
import { placeIn } from './labels.ts';

/** A value that waits for trust, and the value in use. */
export const PendingValue = ({ value, trusted_value, file, line }: WaitingValue) => (
  <dl class="facts">
    <Fact name="New value">
      <JsonValue of={value} />
    </Fact>
    <Fact name="Current value">
      <JsonValue of={trusted_value} />
    </Fact>
    <CodeFact name="File" text={placeIn(file, line)} />
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
