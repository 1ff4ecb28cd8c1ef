import type { Session } from '../../../../lib/client/client.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Section } from '../facts.tsx';
import { TypeField } from '../fields.tsx';
import { ApiForm } from '../form.tsx';
import { StatusTag } from '../frames.tsx';
import { sessionName } from '../labels.ts';
import { RelativeTime } from '../relative-time.tsx';
import { ModelFields, type ProviderChoice, ProviderField } from './start.tsx';

interface SessionsProps {
  case_id: string;
  sessions: readonly Session[];
  providers: readonly ProviderChoice[];
  /** The worktree exists, so its base is fixed. */
  isBegun: boolean;
}

/** The sessions of a Work item, newest first, and a form for a new one. */
export const Sessions = ({ case_id, sessions, providers, isBegun }: SessionsProps) => (
  <Section id="sessions" title="Sessions">
    {sessions.length === 0 ? (
      <p class="quiet">
        No sessions. A session plans first. Nothing runs before you approve the plan.
      </p>
    ) : (
      <ol class="rows">
        {sessions.map((session) => (
          <Row key={session.id} {...session} />
        ))}
      </ol>
    )}
    <details class="edit" open={sessions.length === 0}>
      <summary data-key="n">
        {sessions.length === 0 ? 'Start a session' : 'Start another session'}
      </summary>
      <ApiForm
        call={`POST /cases/${case_id}/sessions`}
        then={`/dashboard/cases/${case_id}/sessions/{id}`}
        keep
        class="fields start"
      >
        <TypeField id="session-type" known={TYPES} value="implementing" />
        <ProviderField providers={providers} />
        <ModelFields providers={providers} />
        {!isBegun && <BaseField />}
        <button type="submit" class="primary">
          Start
        </button>
        <small class="quiet">It is queued while another session of this Work item runs.</small>
      </ApiForm>
    </details>
  </Section>
);

const BaseField = () => (
  <div>
    <label for="base">Base</label>
    <input id="base" name="base?" list="base-known" placeholder="Default branch" maxLength={200} />
    <datalist id="base-known">
      <option value="current">The checked-out branch</option>
    </datalist>
  </div>
);

const TYPES = ['implementing', 'investigating', 'verifying'];

const Row = ({ id, case_id, ...session }: Session) => (
  <li class="row" data-row={id} tabIndex={-1}>
    <div class="head">
      <StatusTag status={session.status} />
      <a class="title" href={`/dashboard/cases/${case_id}/sessions/${id}`} data-key="o">
        {sessionName(session)}
      </a>
      <RelativeTime at={session.created_at} />
    </div>
    {session.error !== null && <p class="message">{visible(session.error)}</p>}
    {session.commit?.message != null && <p class="quiet">{visible(session.commit.message)}</p>}
  </li>
);
