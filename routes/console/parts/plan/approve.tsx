import { useEffect, useState } from 'preact/hooks';
import { Do } from '../do.tsx';
import { draftsOf } from './comments-state.ts';
import { isTextOf, type PlanRead } from './read.ts';

interface ApproveProps extends Pick<PlanRead, 'session' | 'plan'> {
  /** All of the text is on this page. */
  isWhole: boolean;
  /** The page of the plan. */
  at: string;
  isPrimary?: boolean;
}

/** Approves the text that is shown, by its hash. Without all of that text on the page there is no such button. */
export const Approve = ({ session, plan, isWhole, at, isPrimary = true }: ApproveProps) => {
  const { case_id, id, plan_sha256 } = session;
  const [isHeld, setHeld] = useState(false);
  useEffect(() => setHeld(false), [plan_sha256]);
  if (!isTextOf(plan, plan_sha256))
    return (
      <p class="box warn" role="note">
        The plan changed while it was read. Reload the page to read it again.
      </p>
    );
  if (!isWhole)
    return (
      <a class="button primary" href={`${at}?show=whole`} data-key="a">
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
        <Do call={`POST /cases/${case_id}/sessions/${id}/approve`} body={{ plan_sha256 }}>
          <button type="submit" class={isPrimary ? 'primary' : ''} data-key="a">
            {`Approve ${plan_sha256?.slice(0, 8)}`}
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
