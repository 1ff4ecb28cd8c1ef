import { readConsentLog } from '../consent/log.ts';
import type { Layout } from '../layout.ts';
import type { TrustedValue, WaitingValue } from '../records/trust.ts';
import { claimedSessions, confirmOnDisk } from './offline.ts';
import { openTrustLog } from '../settings/trust/tightening.ts';
import { createBook, revokeTrusted, trustedValues } from '../settings/trust/trust-log.ts';
import { waitingKeys } from '../workspace/api-keys.ts';
import { claimedWorktrees, confirmWorktrees } from '../worktrees/claimed-worktrees.ts';
import { lookForWaiting } from './offline.ts';

/** What waits for the operator in a workspace, read by who is not its daemon. Writes nothing. */
export const waitingOnDisk = (layout: Layout): WaitingValue[] => [
  ...lookForWaiting(layout),
  ...waitingKeys(layout),
  ...claimedWorktrees(layout),
  ...claimedSessions(layout),
];

/** Makes what was looked at hold, while no daemon runs. Throws a StateDirError where that cannot be kept. */
export const trustOnDisk = async (
  layout: Layout,
  values: readonly WaitingValue[],
): Promise<void> => {
  const consent = openTrustLog(layout);
  const ofKind = (...kinds: WaitingValue['kind'][]) =>
    values.filter(({ kind }) => kinds.includes(kind));
  const plain = ofKind('setting', 'webhook', 'key');
  consent.grant(plain.map(({ key, value }) => ({ key, value: value ?? undefined })));
  confirmOnDisk(layout, consent, ofKind('session', 'approval'));
  await confirmWorktrees(layout, ofKind('worktree'));
};

/** What the operator has trusted, read by who is not the workspace's daemon. */
export const trustedOnDisk = (layout: Layout): TrustedValue[] =>
  trustedValues(readConsentLog(layout));

/** Takes the trust in a key back, while no daemon runs; false where it is not trusted. */
export const revokeOnDisk = (layout: Layout, key: string): boolean =>
  revokeTrusted(createBook(openTrustLog(layout)), key);
