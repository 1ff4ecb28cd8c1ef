import {
  type Boundary,
  Problem,
  type Session,
  type WorktreeBase,
} from '../../../../lib/client/client.ts';
import type { Api } from '../../common/page.ts';
import type { SessionRef } from '../activity/stream.ts';
import { hasEnded } from '../labels.ts';
import type { CommentsFile } from './comments-file.ts';

/** Everything to show before a plan is approved. */
export interface PlanRead {
  session: Session;
  /** The approved text, or else plan.md. */
  plan: CommentsFile | undefined;
  /** undefined if it cannot be read, or the session has ended. */
  boundary: Boundary | undefined;
  /** Commands taken off the list of those that run without asking. */
  ask: readonly string[];
  /** What the worktree was created from, if known. */
  base: WorktreeBase | undefined;
}

export const readPlan = async (api: Api, of: SessionRef, ask?: string): Promise<PlanRead> => {
  const session = await api.call('GET /cases/{id}/sessions/{sid}', of);
  const [plan, surroundings] = await Promise.all([
    planOf(api, session),
    readAround(api, session, ask),
  ]);
  return { session, plan, ...surroundings };
};

export type Which = 'current' | 'approved' | 'sent_back';

/** A text of a session; undefined if there is none. */
export const readText = async (
  { request }: Api,
  { case_id, id }: Session,
  which: Which,
): Promise<CommentsFile | undefined> => {
  try {
    const { data, etag } = await request('GET /cases/{id}/sessions/{sid}/plan', {
      id: case_id,
      sid: id,
      query: { which },
    });
    return { text: data ?? '', etag };
  } catch (error) {
    if (error instanceof Problem && error.status === 404) return undefined;
    throw error;
  }
};

/** The approved text, or else plan.md. Not requested if there is no plan; one that cannot be read has no hash, either. */
const planOf = async (api: Api, session: Session): Promise<PlanRead['plan']> =>
  session.plan_sha256 === null && session.status !== 'plan_ready'
    ? undefined
    : readText(api, session, session.approved_sha256 === null ? 'current' : 'approved');

/** The hash that an approval names: of the text, with the commands that run without asking; undefined without a plan. */
export const hashOf = ({ session, boundary }: Pick<PlanRead, 'session' | 'boundary'>) =>
  boundary?.unasked?.approval_sha256 ?? session.plan_sha256 ?? undefined;

/** Whether the text has this hash. */
export const isTextOf = (plan: CommentsFile | undefined, sha256: string | null): boolean =>
  sha256 !== null && plan?.etag?.includes(sha256.slice(0, 32)) === true;

/**
 * The boundary and the base of a session. A part that cannot be read is left out, because the plan must stay
 * readable.
 */
const readAround = async (
  { call }: Pick<Api, 'call'>,
  { case_id, id, status }: Session,
  ask?: string,
): Promise<Pick<PlanRead, 'boundary' | 'ask' | 'base'>> => {
  if (hasEnded(status)) return { boundary: undefined, ask: [], base: undefined };
  const [within, base] = await Promise.all([
    boundaryOf({ call }, { id: case_id, sid: id }, ask),
    call('GET /api/worktrees/{case_id}/base', { case_id }).catch(() => undefined),
  ]);
  return { ...within, base };
};

// If the plan no longer has a command of `ask`, the full list is requested.
const boundaryOf = async (
  { call }: Pick<Api, 'call'>,
  of: SessionRef,
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
