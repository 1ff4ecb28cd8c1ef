import { StoreError } from '../../../../store/base/errors.ts';
import { readApproved } from '../../../../store/sessions/plan-versions.ts';
import { readPlan } from '../../../../store/sessions/session-texts.ts';
import { type StoredSession, whereIs } from '../../../../store/sessions/sessions.ts';
import type { Store } from '../../../../store/store.ts';
import { ServiceError } from '../../../errors.ts';

/**
 * The text that runs: approved.md, if it is what was approved. Throws `approval_mismatch` when it is not. A session that an
 * older version approved has no such file, and plan.md must be what it was then, else `plan_changed`.
 */
export const approvedPlan = (store: Store, kept: StoredSession): string => {
  const { approved_sha256, plan_sha256 } = kept.session;
  const dir = whereIs(store, kept);
  if (approved_sha256 === null) {
    const plan = readPlan(store, dir);
    if (plan === undefined || plan.sha256 !== plan_sha256) throw approvedPlanChanged();
    return plan.content;
  }
  const approved = readPlainly(() => readApproved(store, dir));
  if (approved === undefined) throw mismatch('approved.md is not there any more');
  if (approved.sha256 !== approved_sha256) throw mismatch('approved.md is not what was approved');
  return approved.content;
};

const readPlainly = <T>(read: () => T): T => {
  try {
    return read();
  } catch (error) {
    if (error instanceof StoreError) throw mismatch('approved.md is not a plain file any more');
    throw error;
  }
};

const mismatch = (what: string): ServiceError =>
  new ServiceError(
    'approval_mismatch',
    `${what} (its SHA-256 is in session.md), and nothing else runs in its place. Put the approved text back, or abort the session and plan anew.`,
  );

const approvedPlanChanged = (): ServiceError =>
  new ServiceError(
    'plan_changed',
    'plan.md is no longer what was approved. Put the approved text back, or abort the session and plan anew.',
  );
