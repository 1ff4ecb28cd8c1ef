import { useContext, useState } from 'preact/hooks';
import type { AttentionItem } from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import { InFrame, InReach } from '../form.tsx';
import { SendBack } from '../session-forms.tsx';
import { useLoaded } from '../use-loaded.ts';
import { usePlanParts } from './body.tsx';
import { Leave, PlanCommands, Unasked } from './boundary.tsx';
import { Approve } from './decide.tsx';
import { Hidden, PlanHead } from './head.tsx';
import { type PlanRead, readPlan } from './read.ts';

/** A plan that waits, to be read and answered where it is listed. Without scripts its page is for that. */
export const PlanInPlace = ({ id: key, case_id = '', session_id = '' }: AttentionItem) => {
  const api = useContext(InReach);
  const { problem } = useContext(InFrame);
  const [isOpen, setOpen] = useState(false);
  // What was refused may be another plan by now: it is read again.
  const read = useLoaded(
    () => readPlan(api as Api, { id: case_id, sid: session_id }),
    `${key} ${problem?.detail ?? ''}`,
    isOpen,
  );
  const page = `/dashboard/cases/${case_id}/sessions/${session_id}/plan`;
  if (api === undefined) return <a href={page}>Read the plan</a>;
  return (
    <details
      class="in-place"
      onToggle={({ currentTarget }: { currentTarget: { open: boolean } }) =>
        setOpen(currentTarget.open)
      }
    >
      <summary data-key="p">Read the plan</summary>
      {read.failed && (
        <p class="box error" role="alert">
          {'The plan could not be read, so it cannot be approved here. '}
          <button type="button" onClick={read.again}>
            Try again
          </button>
        </p>
      )}
      {isOpen && !read.failed && <Plan {...read} page={page} />}
    </details>
  );
};

const Plan = ({ value, page }: { value: PlanRead | undefined; page: string }) => {
  const hash = value?.boundary?.unasked?.approval_sha256 ?? value?.session.plan_sha256 ?? undefined;
  const [begun, setBegun] = useState(hash);
  if (begun === undefined && hash !== undefined) setBegun(hash);
  if (value === undefined) return <p class="quiet">Loading the plan…</p>;
  const { session, plan, boundary, ask } = value;
  if (session.status !== 'plan_ready' || plan === undefined)
    return <p class="quiet">This plan does not wait any more.</p>;
  // A key that was meant for the version before answers nothing here.
  const isOther = begun !== undefined && begun !== hash;
  return (
    <>
      {isOther && (
        <p class="box warn" role="alert">
          {'The plan changed while you read it. This is the version that waits now. '}
          <button type="button" onClick={() => setBegun(hash)}>
            Answer this version
          </button>
        </p>
      )}
      <PlanHead {...value} />
      <Hidden of={session.warnings} />
      {boundary && <Leave {...boundary} />}
      {boundary?.unasked && <Unasked {...boundary.unasked} ask={ask} at={page} />}
      <PlanCommands text={plan.text} />
      <Text {...{ session, plan, boundary, ask, page, isOther }} />
    </>
  );
};

interface TextProps extends Pick<PlanRead, 'session' | 'boundary' | 'ask'> {
  plan: NonNullable<PlanRead['plan']>;
  page: string;
  /** It is not the version that was opened. */
  isOther: boolean;
}

const Text = ({ session, plan, boundary, ask, page, isOther }: TextProps) => {
  const { parts, sheets } = usePlanParts(plan.text, false);
  const isWhole = sheets.length === 1;
  return (
    <>
      <div class="plan markdown">
        {parts.slice(0, sheets[0]?.end).map(({ line, shown }) => (
          <div key={line}>{shown()}</div>
        ))}
      </div>
      {!isWhole && <p class="box warn">This is the beginning of a long plan.</p>}
      {!isOther && (
        <div class="answers">
          <Approve {...{ session, plan, boundary, ask, isWhole }} at={page} />
          <SendBack at={`/cases/${session.case_id}/sessions/${session.id}`} keys="r" />
        </div>
      )}
    </>
  );
};
