import { waitingKeys } from './api-keys.ts';
import { claimedWorktrees, confirmWorktrees } from './claimed-worktrees.ts';
import type { Layout } from './layout.ts';
import type { WaitingValue } from './records/trust.ts';
import { openTrustLog } from './trust/open-log.ts';
import { lookForWaiting } from './waiting/look.ts';

/** What waits for the operator in a workspace, read by who is not its daemon. Writes nothing. */
export const waitingOnDisk = (layout: Layout): WaitingValue[] => [
  ...lookForWaiting(layout),
  ...waitingKeys(layout),
  ...claimedWorktrees(layout),
];

/** Makes what was looked at hold, while no daemon runs. Throws a StateDirError where that cannot be kept. */
export const trustOnDisk = async (
  layout: Layout,
  values: readonly WaitingValue[],
): Promise<void> => {
  const isPlace = ({ kind }: WaitingValue): boolean => kind === 'worktree';
  const granted = values.filter((value) => !isPlace(value));
  openTrustLog(layout).grant(granted.map(({ key, value }) => ({ key, value: value ?? undefined })));
  await confirmWorktrees(layout, values.filter(isPlace));
};
