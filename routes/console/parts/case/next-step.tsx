import type {
  Case,
  Data,
  PlanningGate,
  ProofGate,
  Session,
} from '../../../../lib/client/client.ts';
import { type Attention, AttentionRows } from '../attention-rows.tsx';
import { hasEnded, labelOf } from '../labels.ts';
import { MergeCommand } from '../pull/merge.tsx';

/** The progress of a Work item. */
export interface CaseProgress {
  state: Case['state'];
  /** Newest first. */
  sessions: readonly Pick<Session, 'id' | 'status'>[];
  planning: PlanningGate['status'];
  isProven: ProofGate['satisfied'];
  pull: NonNullable<Data<'GET /api/cases/{id}/github'>>['pr'];
  isMerged: boolean;
  /** The branch has work that is not merged, and there is no code host to merge it. */
  isToMerge: boolean;
}

/** The next step: a label, the reason, and a path below the Work item's page. */
interface Step {
  word: string;
  why: string;
  at: string;
  /** The step is a command in a shell. */
  isCommand?: true;
}

/** The next step of a Work item without inbox items; undefined if it is closed and merged. */
export const nextStep = (way: CaseProgress): Step | undefined => {
  const { state, sessions, planning, isToMerge } = way;
  if (state === 'NON_ISSUE') return undefined;
  if (state === 'RESOLVED') return isToMerge ? MERGE : undefined;
  const open = sessions.find(({ status }) => !hasEnded(status) && status !== 'queued');
  if (open !== undefined)
    return step(
      'Show session',
      `The session is ${labelOf(open.status).toLowerCase()}.`,
      `/sessions/${open.id}`,
    );
  if (planning === 'pending' || planning === 'stale')
    return step('Review planning files', 'Sessions start once they are approved.', '/planning');
  const waits = sessions.find(({ status }) => status === 'queued');
  if (waits !== undefined)
    return step('Show session', 'The session is queued.', `/sessions/${waits.id}`);
  if (sessions[0]?.status !== 'completed')
    return step(
      'Start session',
      'It plans first. Nothing runs before you approve the plan.',
      '#sessions',
    );
  return afterWork(way);
};

const afterWork = ({ state, isProven, isMerged, isToMerge, pull }: CaseProgress): Step => {
  if (!isProven)
    return step('Add a proof', 'The session is completed, but no proof is verified.', '/proof');
  if (isMerged) return step('Set state', 'The work is merged.', '#state');
  if (state === 'VERIFYING')
    return step('Show proof', 'The proof was verified before the last session ended.', '/proof');
  if (isToMerge) return MERGE;
  return pull === null
    ? step('Open pull request', 'The proof is verified. There is no pull request yet.', '/pr')
    : ofPull(pull.state);
};

const MERGE: Step = {
  ...{ word: 'Merge', at: '/pr', isCommand: true },
  why: 'The branch is not merged, and no remote is on a code host. Run this in a shell:',
};

const step = (word: string, why: string, at: string): Step => ({ word, why, at });

const ofPull = (state: NonNullable<CaseProgress['pull']>['state']): Step => {
  if (state === 'draft') return step('Show pull request', 'The pull request is a draft.', '/pr');
  if (state === 'open') return step('Show pull request', 'The pull request is open.', '/pr');
  return step('Set state', `The pull request is ${state}.`, '#state');
};

/** The inbox items of a Work item, or else its next step. */
export const NextStep = ({
  id,
  waits,
  ...way
}: CaseProgress & { id: string; waits: Attention }) => {
  const next = nextStep(way);
  const merge = next?.isCommand === true && <MergeStep id={id} {...next} />;
  if (waits.items.length > 0)
    return (
      <>
        <section class="next" aria-label="Needs you">
          <AttentionRows {...waits} isOfPage />
        </section>
        {merge}
      </>
    );
  if (merge || next === undefined) return merge || null;
  const { word, why, at } = next;
  return (
    <section class="next line" aria-label="Next step">
      <a
        class="button primary"
        href={at.startsWith('#') ? at : `/dashboard/cases/${id}${at}`}
        data-key="a"
      >
        {word}
      </a>
      <span class="quiet">{why}</span>
    </section>
  );
};

const MergeStep = ({ id, word, why, at }: Step & { id: string }) => (
  <section class="next line" aria-label="Next step">
    <a href={`/dashboard/cases/${id}${at}`}>{word}</a>
    <span class="quiet">{why}</span>
    <MergeCommand id={id} />
  </section>
);
