import { useEffect, useState } from 'preact/hooks';
import type { Conflict, ConflictFile, Data } from '../../../../lib/client/client.ts';
import { counted } from '../../../../lib/text/wording.ts';
import { visible } from '../../../../store/base/visible.ts';
import { ApiForm, AskedCall, CallButton } from '../form.tsx';
import { labelOf } from '../labels.ts';
import { RelativeTime } from '../relative-time.tsx';
import { KINDS, pageOf, unsavedOf } from './files.tsx';

interface StartProps {
  /** The Work item's id. */
  id: string;
  /** The last rebase. */
  last: Conflict | undefined;
}

/** Starts a rebase, and pushes the result of the last one. */
export const NewRebase = ({ id, last }: StartProps) => (
  <>
    {last !== undefined && isToPush(last) && (
      <div class="box">
        <strong>The branch is rebased onto {visible(last.onto)}</strong> and not pushed yet.
        <CallButton
          call={`POST /api/cases/${id}/conflicts/push-rebased`}
          class="answers"
          button="primary"
          keys="p"
        >
          Push rebased branch
        </CallButton>
      </div>
    )}
    <h2>Rebase</h2>
    <p class="quiet">
      The current state is saved first. A conflict stops the rebase here until you apply a
      resolution or abort.
    </p>
    <ApiForm call={`POST /api/cases/${id}/pr/rebase`} keep class="fields">
      <label>
        Onto
        <input name="onto?" maxLength={200} placeholder="Base of the worktree" data-key="n" />
      </label>
      <label class="check">
        <input type="checkbox" name="keep_changes:json" value="true" /> Stash uncommitted changes
        and restore them
      </label>
      <button type="submit" data-key="a">
        Rebase
      </button>
    </ApiForm>
  </>
);

const isToPush = ({ outcome, pushed_at }: Conflict): boolean =>
  (outcome === 'clean' || outcome === 'resolved') && pushed_at === null;

interface UnderWayProps {
  of: Conflict;
  files: readonly ConflictFile[];
}

/** The rebase in progress, with its actions. */
export const RebaseUnderWay = ({ of: conflict, files }: UnderWayProps) => {
  const { case_id, step, branch, onto, timestamp, log } = conflict;
  const at = `/api/cases/${case_id}/conflicts`;
  const isWaiting = step === 'conflicted' || step === 'interrupted';
  return (
    <section aria-label="Rebase in progress">
      <div class={isWaiting ? 'box warn' : 'box'}>
        <strong>{STEPS[step ?? 'rebasing']}</strong> <code>{visible(branch)}</code> onto{' '}
        <code>{visible(onto)}</code>, since <RelativeTime at={timestamp} />
        <ul class="rebase-log">
          {lastOf(log).map((line, n) => (
            <li key={n}>{visible(line)}</li>
          ))}
        </ul>
      </div>
      {isWaiting && (
        <div class="answers">
          <Apply id={case_id} files={files} />
          <CallButton
            call={`POST ${at}/resolve-with-agent`}
            then={`/dashboard/cases/${case_id}/sessions/{id}`}
            keys="s"
          >
            Ask an agent for a resolution
          </CallButton>
          <AskedCall ask="Abort…" call={`POST ${at}/abort`}>
            Restore the state before the rebase
          </AskedCall>
        </div>
      )}
    </section>
  );
};

/** Stages the files as they are saved, so not while one has unsaved text. */
const Apply = ({ id, files }: { id: string; files: readonly ConflictFile[] }) => {
  const [unsaved, setUnsaved] = useState<readonly ConflictFile[]>([]);
  useEffect(() => setUnsaved((told) => (told.length === 0 ? told : unsavedOf(id, files))), [files]);
  const onSubmit = (event: Event): void => {
    const found = unsavedOf(id, files);
    setUnsaved(found);
    if (found.length === 0) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div onSubmit={onSubmit}>
      <ApiForm call={`POST /api/cases/${id}/conflicts/apply`} class="apply">
        <AsTheyAre files={files} />
        <button type="submit" class="primary" data-key="a">
          Stage files and continue
        </button>
      </ApiForm>
      {unsaved.length > 0 && (
        <p class="box warn" role="alert">
          Nothing was staged. There is unsaved text, here or in another tab: save or discard it
          first.
          {unsaved.map(({ path }) => (
            <a key={path} href={pageOf(id, path)}>
              {' '}
              <code>{visible(path)}</code>
            </a>
          ))}
        </p>
      )}
    </div>
  );
};

const STEPS: Readonly<Record<NonNullable<Conflict['step']>, string>> = {
  starting: 'Rebase starting:',
  rebasing: 'Rebasing:',
  conflicted: 'Rebase stopped at conflicts:',
  applying: 'Applying a resolution:',
  aborting: 'Aborting the rebase:',
  interrupted: 'Rebase interrupted:',
};

// Each log line begins with a timestamp, which is not shown, and may name kinds of conflicts.
const lastOf = (log: string): string[] =>
  log
    .trim()
    .split('\n')
    .slice(-4)
    .map((line) => line.replace(/^- \S+Z /, '').replace(/(?<=: )[a-z_]+(?=[,)])/g, kindText));

const kindText = (name: string): string =>
  Object.hasOwn(KINDS, name) ? KINDS[name as ConflictFile['kind']].toLowerCase() : name;

// Git leaves one side of these files in place, so the operator confirms each.
const AsTheyAre = ({ files }: { files: readonly ConflictFile[] }) => {
  const whole = files.filter(({ kind }) => kind !== 'both_modified' && kind !== 'both_added');
  if (whole.length === 0) return null;
  return (
    <fieldset class="as-they-are">
      <legend>Correct as git left them</legend>
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

/** The earlier rebases and their outcomes. */
export const ConflictHistory = ({ history, metrics }: HistoryProps) => (
  <>
    <h2>Rebases</h2>
    {history.length === 0 ? (
      <p class="quiet">No rebases.</p>
    ) : (
      <p class="quiet">
        {`${counted(metrics?.rebases ?? 0, 'rebase')}, ${metrics?.conflicts ?? 0} with conflicts.`}
      </p>
    )}
    <ol class="bare timeline">
      {history.toReversed().map(({ id, timestamp, outcome, step, onto, file_count, pushed_at }) => (
        <li key={id} class="line">
          <RelativeTime at={timestamp} />
          <span class={`tag ${outcome === 'resolved' || outcome === 'clean' ? 'verified' : ''}`}>
            {labelOf(outcome ?? step ?? 'in progress')}
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
