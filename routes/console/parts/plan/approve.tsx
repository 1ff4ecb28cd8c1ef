import { useEffect, useState } from 'preact/hooks';
import { Do } from '../do.tsx';
import { draftsOf } from './comments-state.ts';
import { isTextOf, type PlanRead } from './read.ts';
import { withAsked } from './unasked.tsx';

interface ApproveProps extends Pick<PlanRead, 'session' | 'plan' | 'boundary' | 'ask'> {
  /** All of the text is on this page. */
  isWhole: boolean;
  /** The page of the plan. */
  at: string;
  isPrimary?: boolean;
}

/**
 * Approves the text that is shown, and the commands that are listed, by one hash. Without all of that text on the page there
 * is no such button.
 */
export const Approve = (given: ApproveProps) => {
  const { session, plan, boundary, ask, isWhole, at, isPrimary = true } = given;
  const { case_id, id, plan_sha256 } = session;
  const { approval_sha256, plan_sha256: listed = plan_sha256 } = boundary?.unasked ?? {};
  const hash = approval_sha256 ?? plan_sha256;
  const unasked = approval_sha256 === undefined ? {} : { approval_sha256, ask };
  const [isHeld, setHeld] = useState(false);
  useEffect(() => setHeld(false), [hash]);
  if (!isTextOf(plan, plan_sha256) || listed !== plan_sha256)
    return (
      <p class="box warn" role="note">
        The plan changed while it was read. Reload the page to read it again.
      </p>
    );
  if (!isWhole)
    return (
      <a class="button primary" href={withAsked(`${at}?show=whole`, ask)} data-key="a">
        Show the whole plan to approve it
      </a>
    );
  const onSubmit = (event: Event): void => {
    const isBegun = Object.keys(draftsOf(id)).length > 0;
    setHeld(isBegun);
    if (!isBegun) return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <div onSubmit={onSubmit}>
        <Do
          call={`POST /cases/${case_id}/sessions/${id}/approve`}
          body={{ plan_sha256, ...unasked }}
        >
          <button type="submit" class={isPrimary ? 'primary' : ''} data-key="a">
            {`Approve ${hash?.slice(0, 8)}`}
          </button>
        </Do>
      </div>
      {isHeld && (
        <p class="box warn" role="alert">
          Nothing was approved: you began a comment on this plan. Save it, or cancel it.
        </p>
      )}
    </>
  );
};
