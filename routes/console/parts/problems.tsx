import { useContext } from 'preact/hooks';
import type { SessionCommands } from '../../../lib/client/client.ts';
import { visible } from '../../../store/base/visible.ts';
import { PageContext } from './form.tsx';
import { placeIn } from './labels.ts';

/** The problems of the files that the page is about. */
export const FileProblems = () => (
  <>
    {useContext(PageContext).fileProblems?.map(({ file, code, message, line }) => (
      <div key={`${file} ${code} ${message}`} class="box warn">
        <p>{visible(message)}</p>
        <code class="quiet">{visible(placeIn(file, line))}</code>
        {!SAYS_ITSELF.has(code) && (
          <p class="quiet">Fix the file in an editor. It is read again once it is saved.</p>
        )}
      </div>
    ))}
  </>
);

const SAYS_ITSELF: ReadonlySet<string> = new Set([
  'gate_not_satisfied',
  'held',
  'patch_changed',
  'patch_missing',
  'trust_needed',
]);

/** The commands of a session that failed. */
export const FailedCommands = ({ of }: { of: SessionCommands | undefined }) => {
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

/** What could not be loaded, with a button to try again. */
export const LoadFailed = ({ what, retry }: { what: string; retry: () => void }) => (
  <p class="box error" role="alert">
    {`${what} could not be loaded. `}
    <button type="button" onClick={retry}>
      Try again
    </button>
  </p>
);

/** Why the form was refused. */
export const FormError = ({ error }: { error: string | undefined }) =>
  error === undefined ? null : (
    <p class="box error" role="alert">
      {error}
    </p>
  );
