import type { Conflict, ConflictFile } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../do.tsx';
import { Since } from '../since.tsx';

interface UnderWayProps {
  of: Conflict;
  files: readonly ConflictFile[];
}

/** The rebase that is under way, and how it goes on or ends. */
export const RebaseUnderWay = ({ of: conflict, files }: UnderWayProps) => {
  const { case_id, step, branch, onto, timestamp, log } = conflict;
  const at = `/api/cases/${case_id}/conflicts`;
  const isWaiting = step === 'conflicted' || step === 'interrupted';
  return (
    <section aria-label="The rebase">
      <div class={isWaiting ? 'box warn' : 'box'}>
        <strong>{STEPS[step ?? 'rebasing']}</strong> <code>{visible(branch)}</code> onto{' '}
        <code>{visible(onto)}</code>, since <Since at={timestamp} />
        <ul class="log">
          {lastOf(log).map((line, n) => (
            <li key={n}>{visible(line)}</li>
          ))}
        </ul>
      </div>
      {isWaiting && (
        <div class="answers">
          <Do call={`POST ${at}/apply`} class="apply">
            <AsTheyAre files={files} />
            <button type="submit" class="primary" data-key="a">
              Stage the files and go on
            </button>
          </Do>
          <Do
            call={`POST ${at}/resolve-with-agent`}
            then={`/dashboard/cases/${case_id}/sessions/{id}`}
          >
            <button type="submit" data-key="s">
              Let an agent propose it
            </button>
          </Do>
          <details class="ask">
            <summary class="button" data-key="d">
              Abort…
            </summary>
            <Do call={`POST ${at}/abort`}>
              <button type="submit" class="danger">
                Give back the state before
              </button>
            </Do>
          </details>
        </div>
      )}
    </section>
  );
};

const STEPS: Readonly<Record<NonNullable<Conflict['step']>, string>> = {
  starting: 'A rebase begins:',
  rebasing: 'A rebase goes on:',
  conflicted: 'A rebase waits for you:',
  applying: 'A resolution is applied:',
  aborting: 'A rebase is taken back:',
  interrupted: 'A rebase was interrupted, and waits for you:',
};

// Each begins with when it happened.
const lastOf = (log: string): string[] =>
  log
    .trim()
    .split('\n')
    .slice(-4)
    .map((line) => line.replace(/^- \S+Z /, ''));

// Of these one side alone is what git leaves: somebody has to say that it is right.
const AsTheyAre = ({ files }: { files: readonly ConflictFile[] }) => {
  const whole = files.filter(({ kind }) => kind !== 'both_modified' && kind !== 'both_added');
  if (whole.length === 0) return null;
  return (
    <fieldset class="as-they-are">
      <legend>Right as git left them</legend>
      {whole.map(({ path }) => (
        <label key={path} class="check">
          <input type="checkbox" name="resolved[]" value={path} /> <code>{visible(path)}</code>
        </label>
      ))}
    </fieldset>
  );
};
