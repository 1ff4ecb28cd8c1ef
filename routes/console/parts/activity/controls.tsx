import type { Session } from '../../../../lib/client/client.ts';
import { ApiForm, CallButton } from '../form.tsx';
import { hasEnded } from '../labels.ts';
import { AbortSession, SendBack } from '../session-forms.tsx';

/** The actions on a session. */
export const Controls = ({ of: session }: { of: Session }) => {
  const { case_id, id, status, provider, mode, elsewhere, unconfirmed } = session;
  const call = `POST /api/cases/${case_id}/session`;
  if (elsewhere === true)
    return (
      <p class="box">This session runs on another machine. Only that machine can continue it.</p>
    );
  if (unconfirmed !== undefined) return <Unconfirmed of={session} />;
  if (hasEnded(status)) return null;
  // The page may be old: naming the session keeps the call from affecting another one.
  const meant = { session_id: id };
  const runs = status === 'planning' || status === 'working';
  return (
    <div class="controls">
      {runs && (
        <CallButton call={`${call}/pause`} body={meant} keys="p">
          Pause
        </CallButton>
      )}
      {status === 'paused' && (
        <CallButton call={`${call}/resume`} body={meant} button="primary" keys="r">
          Resume
        </CallButton>
      )}
      {status === 'working' && provider === 'manual' && (
        <CallButton call={`POST /cases/${case_id}/sessions/${id}/finish`} button="primary" keys="f">
          Finish
        </CallButton>
      )}
      <AbortSession case_id={case_id} id={id} />
      {status === 'paused' && provider === 'runbook' && mode === 'work' && (
        <CutOff
          call={`${call}/resume`}
          body={meant}
          isOpen={session.pause_reason === 'interrupted'}
        />
      )}
      {status === 'planning' && provider === 'manual' && (
        <PlanLink {...session}>Write plan</PlanLink>
      )}
      {status === 'plan_ready' && <PlanWaits {...session} />}
    </div>
  );
};

const Unconfirmed = ({ of: { case_id, id, unconfirmed } }: { of: Session }) => (
  <div class="box">
    <p>
      {unconfirmed === 'approved' ? 'Approved' : 'Started'} on another machine.{' '}
      <a href="/dashboard/settings/trust">
        {unconfirmed === 'approved' ? 'Approve again to run it here' : 'Confirm to run it here'}
      </a>
      .
    </p>
    <AbortSession case_id={case_id} id={id} />
  </div>
);

// After a kill the session is not resumed without one of these.
const CutOff = ({ isOpen, ...call }: { call: string; body: object; isOpen: boolean }) => (
  <details open={isOpen}>
    <summary>Interrupted inside a block?</summary>
    <ApiForm {...call} class="line">
      <span>The block may have run in part.</span>
      <button type="submit" name="from" value="again">
        Run block again
      </button>
      <button type="submit" name="from" value="next">
        Continue with the next block
      </button>
    </ApiForm>
  </details>
);

const PlanWaits = (session: Session) => (
  <div class="send-back">
    <PlanLink {...session}>Review plan</PlanLink>
    <SendBack at={`/cases/${session.case_id}/sessions/${session.id}`} keys="w" />
  </div>
);

const PlanLink = ({ case_id, id, children }: Session & { children: string }) => (
  <a href={`/dashboard/cases/${case_id}/sessions/${id}/plan`} class="button primary" data-key="v">
    {children}
  </a>
);

/**
 * Sends a message to the session. After its end the message starts a new session. The text stays in its field then; the keys
 * keep what was chosen for the one from being chosen for the other.
 */
export const MessageForm = ({ of: session }: { of: Session }) => {
  const { case_id, id, status, provider, elsewhere, unconfirmed } = session;
  const isOver = hasEnded(status);
  const isUnheard = !isOver && (provider === 'runbook' || provider === 'manual');
  // Changes to a plan are requested where the plan is read.
  if (isUnheard || status === 'plan_ready' || elsewhere === true || unconfirmed !== undefined)
    return null;
  const call = `POST /cases/${case_id}/sessions/${id}/messages`;
  const label = isOver ? 'What to do next' : (WORDS[status] ?? '');
  const field = <input name="text" required aria-label={label} placeholder={label} data-key="m" />;
  if (isOver)
    return (
      <ApiForm
        call={call}
        then={`/dashboard/cases/${case_id}/sessions/{id}`}
        keep
        class="line grow"
      >
        {field}
        <Choice key="approve" name="approve" words="Use it as the approved plan" />
        <button type="submit">Start session</button>
      </ApiForm>
    );
  return (
    <ApiForm call={call} keep class="line grow">
      {field}
      <Choice key="now" name="now" words="Interrupt" />
      <button type="submit">Send</button>
    </ApiForm>
  );
};

const Choice = ({ name, words }: { name: string; words: string }) => (
  <label>
    <input type="checkbox" name={`${name}:json`} value="true" /> {words}
  </label>
);

const WORDS: Partial<Record<Session['status'], string>> = {
  queued: 'Message for when the session starts',
  planning: 'Message to the planning agent',
  working: 'Message to the agent; sending it approves it',
  paused: 'Message for when the session resumes',
};
