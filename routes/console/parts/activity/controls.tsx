import { useState } from 'preact/hooks';
import type { Session } from '../../../../lib/client/client.ts';
import { Do } from '../form.tsx';
import { SendBack } from '../session-forms.tsx';

/** What the operator can do about a session as it stands. */
export const Controls = ({ of: session }: { of: Session }) => {
  const { case_id, id, status, provider, mode, elsewhere, unconfirmed } = session;
  const call = `POST /api/cases/${case_id}/session`;
  if (elsewhere === true)
    return <p class="box">Another machine runs it: only that one goes on with it.</p>;
  if (unconfirmed !== undefined) return <Unconfirmed of={session} />;
  if (!ACTIVE.has(status)) return null;
  // A page may be old by now: nothing is done to another session than it shows.
  const meant = { session_id: id };
  const runs = status === 'planning' || status === 'working';
  return (
    <div class="controls">
      {runs && <Press call={`${call}/pause`} body={meant} word="Pause" keys="p" />}
      {status === 'paused' && (
        <Press call={`${call}/resume`} body={meant} word="Resume" keys="r" isFirst />
      )}
      {status === 'working' && provider === 'manual' && (
        <Press
          call={`POST /cases/${case_id}/sessions/${id}/finish`}
          word="Finish"
          keys="f"
          isFirst
        />
      )}
      <Abort call={`${call}/abort`} body={meant} />
      {status === 'paused' && provider === 'runbook' && mode === 'work' && (
        <CutOff call={`${call}/resume`} body={meant} />
      )}
      {status === 'plan_ready' && <PlanWaits {...session} />}
    </div>
  );
};

const Unconfirmed = ({ of: { case_id, id, unconfirmed } }: { of: Session }) => (
  <div class="box">
    <p>
      {unconfirmed === 'approved' ? 'Approved' : 'Started'} elsewhere, not on this machine.{' '}
      <a href="/dashboard/settings/trust">
        {unconfirmed === 'approved' ? 'Approve again to run it' : 'Confirm it to run it'}
      </a>
      .
    </p>
    <Abort call={`POST /api/cases/${case_id}/session/abort`} body={{ session_id: id }} />
  </div>
);

// A session that waits for its turn is not the one that these calls are about.
const ACTIVE: ReadonlySet<string> = new Set(['planning', 'plan_ready', 'working', 'paused']);

interface CallProps {
  call: string;
  body?: object;
}

interface PressProps extends CallProps {
  word: string;
  keys: string;
  isFirst?: boolean;
}

const Press = ({ call, body, word, keys, isFirst = false }: PressProps) => (
  <Do call={call} body={body}>
    <button type="submit" class={isFirst ? 'primary' : ''} data-key={keys}>
      {word}
    </button>
  </Do>
);

const Abort = (call: CallProps) => {
  const [isOpen, setOpen] = useState(false);
  const onToggle = ({ currentTarget }: { currentTarget: { open: boolean } }) =>
    setOpen(currentTarget.open);
  return (
    <details class="abort" onToggle={onToggle}>
      <summary class="button" data-key="x">
        Abort
      </summary>
      <Do {...call} class="line">
        <span>This cannot be undone. What it did stays in the worktree.</span>
        <button type="submit" class="danger" {...(isOpen && { 'data-key': 'y' })}>
          Abort this session
        </button>
      </Do>
    </details>
  );
};

const CutOff = (call: CallProps) => (
  <details>
    <summary>It was cut off inside a block?</summary>
    <Do {...call} class="line">
      <span>Part of the block was done, and nobody knows which.</span>
      <button type="submit" name="from" value="again">
        Run the block again
      </button>
      <button type="submit" name="from" value="next">
        Go on with the next
      </button>
    </Do>
  </details>
);

const PlanWaits = ({ case_id, id }: Session) => {
  const at = `/cases/${case_id}/sessions/${id}`;
  return (
    <div class="send-back">
      <a href={`/dashboard${at}/plan`} class="button primary" data-key="v">
        Read the plan
      </a>
      <SendBack at={at} keys="w" />
    </div>
  );
};

const ENDED: ReadonlySet<string> = new Set(['completed', 'failed', 'aborted']);

/** A message to the session; to one that has ended it begins another, which is shown then. */
export const Say = ({ of: session }: { of: Session }) => {
  const { case_id, id, status, provider, elsewhere, unconfirmed } = session;
  const isOver = ENDED.has(status);
  const isUnheard = !isOver && (provider === 'runbook' || provider === 'manual');
  // A plan that waits is sent back where it is read.
  if (isUnheard || status === 'plan_ready' || elsewhere === true || unconfirmed !== undefined)
    return null;
  const call = `POST /cases/${case_id}/sessions/${id}/messages`;
  const label = isOver ? 'What is to be done next' : (WORDS[status] ?? '');
  const field = <input name="text" required aria-label={label} placeholder={label} data-key="m" />;
  if (isOver)
    return (
      <Do {...{ call }} then={`/dashboard/cases/${case_id}/sessions/{id}`} keep class="line grow">
        {field}
        <Choice name="approve" words="Work from it as the approved plan" />
        <button type="submit">Begin a session</button>
      </Do>
    );
  return (
    <Do {...{ call }} keep class="line grow">
      {field}
      <Choice name="now" words="Interrupt" />
      <button type="submit">Send</button>
    </Do>
  );
};

const Choice = ({ name, words }: { name: string; words: string }) => (
  <label>
    <input type="checkbox" name={`${name}:json`} value="true" /> {words}
  </label>
);

const WORDS: Partial<Record<Session['status'], string>> = {
  queued: 'Message for when it begins',
  planning: 'Message to the agent that plans',
  working: 'Message to the agent: approved as you write it',
  paused: 'Message for when it is resumed',
};
