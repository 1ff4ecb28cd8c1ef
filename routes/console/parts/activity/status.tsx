import type { AttentionItem, Session } from '../../../../lib/client/client.ts';
import { ownError, utcOf } from '../../../../lib/text/wording.ts';
import { visible } from '../../../../store/base/visible.ts';
import { Answers } from '../answers.tsx';
import { Fact } from '../facts.tsx';
import { Path } from '../links.tsx';
import { RelativeTime } from '../relative-time.tsx';
import type { Activity } from './activity.ts';

/** What a session waits for, why it is paused, and what it used. */
export const SessionStatus = ({
  of: session,
  tail,
}: {
  of: Session;
  tail: Activity | undefined;
}) => {
  const { pause_reason, resume_at } = session;
  const error = ownError(session);
  const waiting = waitingOf(session, tail);
  return (
    <div class="standing">
      {error !== null && <p class="box error">{visible(error)}</p>}
      {pause_reason !== undefined && (
        <p class="box warn">
          {PAUSED[pause_reason]}
          {resume_at !== undefined && ` It can resume at ${utcOf(resume_at)}.`}
        </p>
      )}
      <div role="status">
        {waiting !== undefined && (
          <p class="box">
            {`Waiting for ${WHOM[waiting.for]}, since `}
            <time dateTime={waiting.since}>{`${waiting.since.slice(11, 19)} UTC`}</time>
            {' ('}
            <RelativeTime at={waiting.since} />
            {`): ${visible(waiting.message)}`}
          </p>
        )}
      </div>
      <p class="quiet usage">{usageOf(session, tail)}</p>
    </div>
  );
};

const WHOM = { agent: 'the agent', model: 'its model', operator: 'you' };

const PAUSED = {
  operator: 'You paused the session.',
  usage_limit: 'The usage limit of the model is reached.',
  model_unavailable: 'The model is unavailable.',
  login: 'The model rejected the credential.',
  interrupted: 'The session was interrupted. All changes are kept.',
};

const isRunning = ({ status }: Session): boolean => status === 'planning' || status === 'working';

const waitingOf = (session: Session, tail: Activity | undefined): Session['waiting'] => {
  if (!isRunning(session) || tail?.isOver === true) return undefined;
  // The session's record has open requests; the stream has all other waits.
  if (session.waiting?.for === 'operator' || tail?.waiting === undefined) return session.waiting;
  return tail.waiting ?? undefined;
};

const usageOf = (session: Session, tail: Activity | undefined): string => {
  const turn = isRunning(session) ? tail?.usage : undefined;
  const all = [session.usage, turn].filter((usage) => usage != null);
  const sum = (name: 'input_tokens' | 'output_tokens' | 'cost_usd'): number | undefined => {
    const reported = all.map((usage) => usage[name]).filter((number) => number !== null);
    return reported.length === 0 ? undefined : reported.reduce((one, other) => one + other, 0);
  };
  const [input, output, cost] = [sum('input_tokens'), sum('output_tokens'), sum('cost_usd')];
  const { used, size } = tail?.context ?? {};
  const words = [
    cost !== undefined && `$${cost.toFixed(cost < 0.1 ? 4 : 2)}`,
    input !== undefined && `${input.toLocaleString('en')} input tokens`,
    output !== undefined && `${output.toLocaleString('en')} output tokens`,
    used !== undefined && size && `${Math.round((used / size) * 100)}% of the context used`,
  ].filter(Boolean);
  if (words.length === 0) return 'No usage reported.';
  const least = all.some(({ at_least }) => at_least === true) ? 'At least ' : 'Used ';
  return least + words.join(' · ');
};

/** The open requests of the agent, with their answers. */
export const OpenRequests = ({ of: asks }: { of: readonly AttentionItem[] }) =>
  asks.length === 0 ? null : (
    <ol class="rows asks" aria-label="Open requests">
      {asks.map((ask) => (
        <li key={ask.id} class="row" data-row={ask.id} tabIndex={-1}>
          <p class="message">{visible(ask.message)}</p>
          <Answers {...ask} />
        </li>
      ))}
    </ol>
  );

interface PlacesProps {
  of: Session;
  /** The worktree, if known. */
  worktree: string | undefined;
}

/** The paths of the session's files. */
export const SessionPaths = ({ of: { path, branch }, worktree }: PlacesProps) => (
  <section aria-label="Paths">
    <dl class="facts">
      {worktree !== undefined && (
        <Fact name="Worktree">
          <Path name="the worktree's path" path={worktree} />
        </Fact>
      )}
      {branch !== null && (
        <Fact name="Branch">
          <Path name="the branch" path={branch} />
        </Fact>
      )}
      <Fact name="Record">
        <Path name="the record's path" path={`${path}/session.md`} />
      </Fact>
      <Fact name="Transcript">
        <Path name="the transcript's path" path={`${path}/events.ndjson`} />
      </Fact>
    </dl>
  </section>
);
