import type { Conflict, ConflictFile, Data } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Do } from '../form.tsx';
import { Since } from '../relative-time.tsx';

interface StartProps {
  /** Of the Work item. */
  id: string;
  /** The rebase before. */
  last: Conflict | undefined;
}

/** Where no rebase is under way: to begin one, and to push what the last one made. */
export const NewRebase = ({ id, last }: StartProps) => (
  <>
    {last !== undefined && isToPush(last) && (
      <div class="box">
        <strong>The branch was rebased onto {visible(last.onto)}</strong> and has not been pushed
        since.
        <Do call={`POST /api/cases/${id}/conflicts/push-rebased`} class="answers">
          <button type="submit" class="primary" data-key="p">
            Push the rebased branch
          </button>
        </Do>
      </div>
    )}
    <h2>Rebase the branch</h2>
    <p class="quiet">
      How everything was before is kept first. Where a conflict is met, it waits here until you
      apply a resolution or abort.
    </p>
    <Do call={`POST /api/cases/${id}/pr/rebase`} class="fields">
      <label>
        Onto
        <input name="onto?" maxLength={200} placeholder="the base of the worktree" data-key="n" />
      </label>
      <label class="check">
        <input type="checkbox" name="keep_changes:json" value="true" /> Set changes that are not
        committed aside, and bring them back
      </label>
      <button type="submit" data-key="a">
        Rebase
      </button>
    </Do>
  </>
);

const isToPush = ({ outcome, pushed_at }: Conflict): boolean =>
  (outcome === 'clean' || outcome === 'resolved') && pushed_at === null;

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
