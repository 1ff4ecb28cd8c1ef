import { useState } from 'preact/hooks';
import type { AttentionItem } from '../../../../lib/client/client.ts';
import { readComments } from '../../../../store/base/comments.ts';
import type { SessionRef } from '../activity/stream.ts';
import { browserApi, isBrowser } from '../form.tsx';
import { ChangedSinceOpened, useOpened } from '../opened.tsx';
import { LoadFailed } from '../problems.tsx';
import { SendBack } from '../session-forms.tsx';
import { useLoaded } from '../use-loaded.ts';
import { usePlanParts } from './body.tsx';
import { Permissions, PlanCommands, UnaskedCommands } from './boundary.tsx';
import { loadComments } from './comments-file.ts';
import { Approve } from './decide.tsx';
import { HiddenTextWarnings, PlanHead } from './head.tsx';
import { hashOf, type PlanRead, readPlan } from './read.ts';

/** A plan to review in the inbox. Without scripts a link to its page. */
export const PlanInPlace = (item: AttentionItem) => {
  const { case_id = '', session_id = '' } = item;
  const [isOpen, setOpen] = useState(false);
  // Each load of the inbox may be for a change of the plan or of its comments.
  const read = useLoaded(() => readWithComments({ id: case_id, sid: session_id }), item, isOpen);
  const page = `/dashboard/cases/${case_id}/sessions/${session_id}/plan`;
  if (!isBrowser) return <a href={page}>Review plan</a>;
  return (
    <details class="in-place" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary data-key="p">Review plan</summary>
      {read.failed && <LoadFailed what="The plan" retry={read.retry} />}
      {isOpen && (read.value || !read.failed) && <Plan {...read} page={page} />}
    </details>
  );
};

interface Read extends PlanRead {
  /** The number of comments that were not sent. */
  unsent: number;
}

const readWithComments = async (of: SessionRef): Promise<Read> => {
  const [read, { text }] = await Promise.all([
    readPlan(browserApi, of),
    loadComments(browserApi, of),
  ]);
  return { ...read, unsent: readComments(text).unsent.length };
};

const Plan = ({ value, page }: { value: Read | undefined; page: string }) => {
  const open = useOpened(value && hashOf(value));
  if (value === undefined) return <p class="quiet">Loading the plan…</p>;
  const { session, plan, boundary, ask } = value;
  if (session.status !== 'plan_ready' || plan === undefined)
    return <p class="quiet">This plan is no longer waiting for review.</p>;
  return (
    <>
      {open && <ChangedSinceOpened what="The plan" where="below" open={open} />}
      <PlanHead {...value} />
      <HiddenTextWarnings of={session.warnings} />
      {boundary && <Permissions {...boundary} />}
      {boundary?.unasked && <UnaskedCommands {...boundary.unasked} ask={ask} at={page} />}
      <PlanCommands text={plan.text} />
      <Text {...value} plan={plan} page={page} isOther={open !== undefined} />
    </>
  );
};

interface TextProps extends Pick<Read, 'session' | 'boundary' | 'ask' | 'unsent'> {
  plan: NonNullable<PlanRead['plan']>;
  page: string;
  /** The plan changed since it was opened. */
  isOther: boolean;
}

const Text = (given: TextProps) => {
  const { session, plan, page, isOther, unsent } = given;
  const { parts, pages } = usePlanParts(plan.text, false);
  const isWhole = pages.length === 1;
  return (
    <>
      <div class="plan markdown">
        {parts.slice(0, pages[0]?.end).map(({ line, shown }) => (
          <div key={line}>{shown()}</div>
        ))}
      </div>
      {!isWhole && <p class="box warn">Only the beginning of this long plan is shown.</p>}
      {!isOther && (
        <div class="answers">
          <Approve {...given} isWhole={isWhole} at={page} />
          {unsent > 0 && <a href={page}>Show comments</a>}
          <SendBack at={`/cases/${session.case_id}/sessions/${session.id}`} keys="r" />
        </div>
      )}
    </>
  );
};
