import {
  type Boundary,
  Problem,
  type Session,
  type WorktreeBase,
} from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import type { CommentsFile } from './comments-file.ts';

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
  /** Commands that were taken out of the list of those that run without asking. */
  ask: readonly string[];
  /** By how many commits the base branch has moved since, where that can be read. */
  behind: number | null;
  /** What its worktree began from, where that can be read. */
  base: WorktreeBase | undefined;
}

export const readPlan = async (api: Api, of: Of, ask?: string): Promise<PlanRead> => {
  const session = await api.call('GET /cases/{id}/sessions/{sid}', of);
  const [plan, surroundings] = await Promise.all([
    planOf(api, session),
    readAround(api, session, ask),
  ]);
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
const planOf = async (api: Api, session: Session): Promise<PlanRead['plan']> =>
  session.plan_sha256 === null
    ? undefined
    : readText(api, session, session.approved_sha256 === null ? 'current' : 'approved');

/** Whether a text is the one with this hash. */
export const isTextOf = (plan: CommentsFile | undefined, sha256: string | null): boolean =>
  sha256 !== null && plan?.etag?.includes(sha256.slice(0, 32)) === true;

export const ENDED: ReadonlySet<Session['status']> = new Set(['completed', 'failed', 'aborted']);

/** What a plan would run in. What cannot be read of it keeps nobody from reading the plan. */
const readAround = async (
  { call }: Pick<Api, 'call'>,
  { case_id, id, base_commit, status }: Session,
  ask?: string,
): Promise<Pick<PlanRead, 'boundary' | 'ask' | 'behind' | 'base'>> => {
  if (ENDED.has(status)) return { boundary: undefined, ask: [], behind: null, base: undefined };
  const [within, health, base] = await Promise.all([
    boundaryOf({ call }, { id: case_id, sid: id }, ask),
    base_commit === null
      ? null
      : call('GET /api/worktrees/{case_id}/health', { case_id }).catch(() => null),
    call('GET /api/worktrees/{case_id}/base', { case_id }).catch(() => undefined),
  ]);
  return { ...within, behind: health?.behind ?? null, base };
};

// Where the plan has a command no more that was taken out, all are listed.
const boundaryOf = async (
  { call }: Pick<Api, 'call'>,
  of: Of,
  ask?: string,
): Promise<Pick<PlanRead, 'boundary' | 'ask'>> => {
  const query = ask === undefined ? {} : { ask };
  try {
    const boundary = await call('GET /cases/{id}/sessions/{sid}/boundary', { ...of, query });
    return { boundary, ask: ask?.split('\n') ?? [] };
  } catch {
    return ask === undefined ? { boundary: undefined, ask: [] } : boundaryOf({ call }, of);
  }
};
