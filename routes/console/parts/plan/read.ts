import {
  type Boundary,
  Problem,
  type Session,
  type WorktreeBase,
} from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import type { CommentsFile } from './comments-state.ts';

interface Of {
  id: string;
  sid: string;
}

/** What has to be seen of a plan before it is approved. */
export interface PlanRead {
  session: Session;
  /** What was approved, else the plan as it is. */
  plan: CommentsFile | undefined;
  /** Undefined where it cannot be read, or nothing runs any more. */
  boundary: Boundary | undefined;
  /** By how many commits the base branch has moved since, where that can be read. */
  behind: number | null;
  /** What its worktree began from, where that can be read. */
  base: WorktreeBase | undefined;
}

export const readPlan = async (api: Api, of: Of): Promise<PlanRead> => {
  const session = await api.call('GET /cases/{id}/sessions/{sid}', of);
  const [plan, surroundings] = await Promise.all([planOf(api, session), readAround(api, session)]);
  return { session, plan, ...surroundings };
};

export type Which = 'current' | 'approved' | 'sent_back';

/** One of the texts of a session; undefined where there is none. */
export const readText = async (
  { request }: Api,
  { case_id, id }: Session,
  which: Which,
): Promise<CommentsFile | undefined> => {
  try {
    const { data, etag } = await request('GET /cases/{id}/sessions/{sid}/plan', {
      ...{ id: case_id, sid: id },
      query: { which },
    });
    return { text: data ?? '', etag };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
};

/** The text that was approved, else plan.md. What is not there is not asked for. */
export const planOf = async (api: Api, session: Session): Promise<PlanRead['plan']> =>
  session.plan_sha256 === null
    ? undefined
    : readText(api, session, session.approved_sha256 === null ? 'current' : 'approved');

/** Whether a text is the one with this hash. */
export const isTextOf = (plan: CommentsFile | undefined, sha256: string | null): boolean =>
  sha256 !== null && plan?.etag?.includes(sha256.slice(0, 32)) === true;

export const ENDED: ReadonlySet<Session['status']> = new Set(['completed', 'failed', 'aborted']);

/** What a plan would run in. What cannot be read of it keeps nobody from reading the plan. */
export const readAround = async (
  { call }: Api,
  { case_id, id, base_commit, status }: Session,
): Promise<Pick<PlanRead, 'boundary' | 'behind' | 'base'>> => {
  if (ENDED.has(status)) return { boundary: undefined, behind: null, base: undefined };
  const [boundary, health, base] = await Promise.all([
    call('GET /cases/{id}/sessions/{sid}/boundary', { id: case_id, sid: id }).catch(
      () => undefined,
    ),
    base_commit === null
      ? null
      : call('GET /api/worktrees/{case_id}/health', { case_id }).catch(() => null),
    call('GET /api/worktrees/{case_id}/base', { case_id }).catch(() => undefined),
  ]);
  return { boundary, behind: health?.behind ?? null, base };
};
