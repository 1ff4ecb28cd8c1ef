import type {
  Case,
  Data,
  PlanningGate,
  ProofGate,
  Session,
} from '../../../../lib/client/client.ts';
import { WaitingRows, type Waits } from '../attention-rows.tsx';

/** Where a Work item is on its way. */
export interface Way {
  state: Case['state'];
  /** The newest first. */
  sessions: readonly Pick<Session, 'id' | 'status'>[];
  planning: PlanningGate['status'];
  isProven: ProofGate['satisfied'];
  pull: NonNullable<Data<'GET /api/cases/{id}/github'>>['pr'];
}

/** What is to be done next, below the Work item's page, and why. */
interface Step {
  word: string;
  why: string;
  at: string;
}

const ENDED: ReadonlySet<Session['status']> = new Set(['completed', 'failed', 'aborted']);

/** What an operator would do next where nothing else waits; undefined once all is done. */
export const nextOf = (way: Way): Step | undefined => {
  const { state, sessions, planning, isProven, pull } = way;
  if (state === 'RESOLVED' || state === 'NON_ISSUE') return undefined;
  const open = sessions.find(({ status }) => !ENDED.has(status) && status !== 'queued');
  if (open !== undefined)
    return step('Watch the session', `It is ${open.status}.`, `/sessions/${open.id}`);
  if (planning === 'pending' || planning === 'stale')
    return step(
      'Look at the planning files',
      'No session runs before they are approved.',
      '/planning',
    );
  const waits = sessions.find(({ status }) => status === 'queued');
  if (waits !== undefined)
    return step('Look at the session', 'It waits for its turn.', `/sessions/${waits.id}`);
  if (sessions[0]?.status !== 'completed')
    return step(
      'Start a session',
      'It plans first, and does nothing that you did not approve.',
      '#sessions',
    );
  if (!isProven)
    return step(
      'Prove it',
      'The session completed its work, and no proof of it is verified.',
      '/proof',
    );
  return pull === null
    ? step('Open a pull request', 'It is proven; nothing is proposed yet.', '/pr')
    : ofPull(pull.state);
};

const step = (word: string, why: string, at: string): Step => ({ word, why, at });

const ofPull = (state: NonNullable<Way['pull']>['state']): Step => {
  if (state === 'draft') return step('Look at the pull request', 'It is a draft still.', '/pr');
  if (state === 'open') return step('Look at the pull request', 'It is up for review.', '/pr');
  return step('Set the state', `The pull request is ${state}.`, '#state');
};

/** What a Work item needs now: what waits for the operator, else the next step. */
export const Next = ({ id, waits, ...way }: Way & { id: string; waits: Waits }) => {
  if (waits.items.length > 0)
    return (
      <section class="next" aria-label="What needs you">
        <WaitingRows {...waits} />
      </section>
    );
  const next = nextOf(way);
  if (next === undefined) return null;
  const { word, why, at } = next;
  return (
    <section class="next line" aria-label="What comes next">
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
