import type { SessionCommands } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';

/** The commands of a session that failed, above all else that is said of it. */
export const Failures = ({ of }: { of: SessionCommands | undefined }) => {
  const { message = null, failed = [] } = of ?? {};
  if (message === null) return null;
  return (
    <div class="box error" role="status">
      <strong>{visible(message)}</strong>
      {failed.map(({ command, output }) =>
        output === '' ? null : (
          <details key={command} open={failed.length === 1}>
            <summary>
              <code>{visible(command)}</code>
            </summary>
            <pre class="as-written">
              <code>{visible(output)}</code>
            </pre>
          </details>
        ),
      )}
    </div>
  );
};
