import { waitingKeys } from './api-keys.ts';
import { claimedSessions, confirmOnDisk } from './claimed-sessions.ts';
import { claimedWorktrees, confirmWorktrees } from './claimed-worktrees.ts';
import { readConsentLog } from './consent/log.ts';
import type { Layout } from './layout.ts';
import type { TrustedValue, WaitingValue } from './records/trust.ts';
import { createBook } from './trust/book.ts';
import { openTrustLog } from './trust/open-log.ts';
import { revokeTrusted, trustedValues } from './trust/trusted.ts';
import { lookForWaiting } from './waiting/look.ts';

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
