import { useContext, useState } from 'preact/hooks';
import type { AttentionItem } from '../../../../lib/client/client.ts';
import { readComments } from '../../../../store/base/comments.ts';
import type { SessionRef } from '../activity/stream.ts';
import { browserApi, isBrowser, PageContext } from '../form.tsx';
import { LoadFailed } from '../problems.tsx';
import { SendBack } from '../session-forms.tsx';
import { useLoaded } from '../use-loaded.ts';
import { usePlanParts } from './body.tsx';
import { Permissions, PlanCommands, UnaskedCommands } from './boundary.tsx';
import { loadComments } from './comments-file.ts';
import { Approve } from './decide.tsx';
import { HiddenTextWarnings, PlanHead } from './head.tsx';
import { type PlanRead, readPlan } from './read.ts';

/** A plan to review in the inbox. Without scripts a link to its page. */
export const PlanInPlace = ({ id: key, case_id = '', session_id = '' }: AttentionItem) => {
  const { problem } = useContext(PageContext);
  const [isOpen, setOpen] = useState(false);
  // After a refused form the plan may have changed.
  const read = useLoaded(
    () => readWithComments({ id: case_id, sid: session_id }),
    `${key} ${problem?.detail ?? ''}`,
    isOpen,
  );
  const page = `/dashboard/cases/${case_id}/sessions/${session_id}/plan`;
  if (!isBrowser) return <a href={page}>Review plan</a>;
  return (
    <details class="in-place" onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary data-key="p">Review plan</summary>
      {read.failed && <LoadFailed what="The plan" retry={read.retry} />}
      {isOpen && !read.failed && <Plan {...read} page={page} />}
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
  const hash = value?.boundary?.unasked?.approval_sha256 ?? value?.session.plan_sha256 ?? undefined;
  const [openedHash, setOpenedHash] = useState(hash);
  if (openedHash === undefined && hash !== undefined) setOpenedHash(hash);
  if (value === undefined) return <p class="quiet">Loading the plan…</p>;
  const { session, plan, boundary, ask } = value;
  if (session.status !== 'plan_ready' || plan === undefined)
    return <p class="quiet">This plan is no longer waiting for review.</p>;
  // An approve button would react to a key meant for the previous version.
  const isOther = openedHash !== undefined && openedHash !== hash;
  return (
    <>
      {isOther && (
        <p class="box warn" role="alert">
          {'The plan changed while you read it. The new version is shown below. '}
          <button type="button" onClick={() => setOpenedHash(hash)}>
            Review new version
          </button>
        </p>
      )}
      <PlanHead {...value} />
      <HiddenTextWarnings of={session.warnings} />
      {boundary && <Permissions {...boundary} />}
      {boundary?.unasked && <UnaskedCommands {...boundary.unasked} ask={ask} at={page} />}
      <PlanCommands text={plan.text} />
      <Text {...value} plan={plan} page={page} isOther={isOther} />
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
