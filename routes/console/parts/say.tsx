import type { Session } from '../../../lib/client/client.ts';
import { Do } from './do.tsx';

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
