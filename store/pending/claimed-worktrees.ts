import { relative } from 'node:path';
import { orElse } from '../base/attempt.ts';
import { trustHash } from '../consent/seal.ts';
import { fileProblem } from '../front-matter/problem.ts';
import type { Layout } from '../layout.ts';
import { itemOf } from '../reconcile/items.ts';
import type { WaitingValue } from '../records/trust.ts';
import type { WorktreeRecord } from '../records/worktree.ts';
import { untrustedProblem } from '../settings/trust/waiting.ts';
import { remembered, type Store } from '../store.ts';
import {
  readAnyWorktree,
  worktreeFile,
  worktreeOwners,
  writeWorktree,
} from '../worktrees/worktrees.ts';

/** The worktree record of a Work item if this machine did not write it, for the operator to confirm; undefined otherwise. */
export const claimedWorktree = (layout: Layout, caseId: string): WaitingValue | undefined => {
  // One that cannot be read is refused where it is used.
  const found = orElse(() => readAnyWorktree(layout, caseId), undefined);
  if (found === undefined || found.isOurs) return undefined;
  const value = claimOf(found.record);
  return {
    key: `worktrees/${caseId}`,
    kind: 'worktree',
    value,
    trusted_value: null,
    file: relative(layout.root, worktreeFile(layout, caseId)),
    case_id: caseId,
    hash: trustHash(value),
    since: found.record.created_at,
  };
};

/** All such records, including those of Work items that are gone. */
export const claimedWorktrees = (layout: Layout): WaitingValue[] =>
  worktreeOwners(layout).flatMap((id) => claimedWorktree(layout, id) ?? []);

const seen = remembered((): { claims: WaitingValue[] } => ({ claims: [] }));

/** The claims as last read. */
export const cachedClaims = (store: Store): readonly WaitingValue[] => seen(store).claims;

/** Reads the claims again, and reports them as problems of their files. */
export const refreshClaims = (store: Store): WaitingValue[] => {
  const claims = claimedWorktrees(store.layout).map((claim) => {
    const title = itemOf(store, claim.case_id ?? '')?.files.case.value?.matter.title;
    return title === undefined ? claim : { ...claim, title };
  });
  if (claims.length + seen(store).claims.length === 0) return claims;
  seen(store).claims = claims;
  const problems = claims.map(({ file, key }) =>
    fileProblem(file, untrustedProblem(store.layout, [key])),
  );
  store.problems.set('worktrees', problems);
  return claims;
};

/** Makes claims that did not change since they were shown this machine's own. Returns the ids of their Work items. */
export const confirmWorktrees = async (
  layout: Layout,
  values: readonly WaitingValue[],
): Promise<string[]> => {
  const confirmed: string[] = [];
  for (const { key, hash } of values) {
    const caseId = key.slice('worktrees/'.length);
    const found = readAnyWorktree(layout, caseId);
    const claim = found?.isOurs === false ? claimOf(found.record) : undefined;
    if (claim === undefined || trustHash(claim) !== hash) continue;
    if (await writeWorktree(layout, claim)) confirmed.push(caseId);
  }
  return confirmed;
};

// Without the markers of another machine's setup or turn: processes with those markers would be ended here.
const claimOf = ({ setup_marker: _marker, turn_dir: _turn, ...record }: WorktreeRecord) => record;
