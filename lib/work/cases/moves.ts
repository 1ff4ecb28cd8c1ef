import type { CaseChange } from '../../../store/cases/cases.ts';
import { publicState } from '../../../store/reconcile/item.ts';
import type { Case, CaseMatter, State, StateName } from '../../../store/records/case.ts';

/** The fields that a rule about states reads. */
export type CaseStanding = Pick<Case, 'state' | 'outcome'> & Pick<CaseMatter, 'blocked_from'>;

/** The states that close a Work item, each with its default outcome. */
const CLOSED: Partial<Record<State, string>> = { RESOLVED: 'resolved', NON_ISSUE: 'non_issue' };

export const isClosed = (state: State): boolean => CLOSED[state] !== undefined;

/**
 * Moves from any state to any other. A Work item that blocks remembers its state before; a closed one has an outcome,
 * an open one has none. Undefined when nothing changes.
 */
export const moveTo = (
  current: CaseStanding,
  name: StateName,
  outcome?: string,
): CaseChange | undefined => {
  const state = publicState(name);
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

/** Returns a BLOCKED Work item to the state before, because the decision was made or is no longer needed. */
export const unblock = (current: CaseStanding): CaseChange | undefined =>
  current.state === 'BLOCKED' ? moveTo(current, current.blocked_from ?? 'OPEN') : undefined;
