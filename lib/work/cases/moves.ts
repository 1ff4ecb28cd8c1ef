import type { CaseChange } from '../../../store/cases/cases.ts';
import { plainState } from '../../../store/reconcile/item.ts';
import type { Case, CaseMatter, State, StateName } from '../../../store/records/case.ts';

/** What a rule about states looks at. */
export type CaseStanding = Pick<Case, 'state' | 'outcome'> & Pick<CaseMatter, 'blocked_from'>;

/** The states that end a Work item, and the outcome each stands for when none is given. */
const CLOSED: Partial<Record<State, string>> = { RESOLVED: 'resolved', NON_ISSUE: 'non_issue' };

export const isClosed = (state: State): boolean => CLOSED[state] !== undefined;

/**
 * Any state to any other. A Work item that blocks remembers where it comes from; one that closes has an outcome; one
 * that is open has none. Undefined when nothing changes.
 */
export const moveTo = (
  current: CaseStanding,
  name: StateName,
  outcome?: string,
): CaseChange | undefined => {
  const state = plainState(name);
  const wanted = {
    state,
    outcome: outcomeOf(current, state, outcome),
    blocked_from: blockedFrom(current, state),
  };
  const same = wanted.state === current.state && wanted.outcome === current.outcome;
  return same ? undefined : (wanted as CaseChange);
};

const outcomeOf = (
  current: CaseStanding,
  state: State,
  given: string | undefined,
): string | null => {
  const usual = CLOSED[state];
  if (usual === undefined) return null;
  return given ?? (current.state === state ? current.outcome : null) ?? usual;
};

const blockedFrom = (current: CaseStanding, state: State): State | undefined => {
  if (state !== 'BLOCKED') return undefined;
  return current.state === 'BLOCKED' ? current.blocked_from : current.state;
};

/** The operator's decision was made, or is no longer needed: back to where the Work item was before. */
export const unblock = (current: CaseStanding): CaseChange | undefined =>
  current.state === 'BLOCKED' ? moveTo(current, current.blocked_from ?? 'OPEN') : undefined;
