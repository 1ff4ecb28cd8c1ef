import type { AttentionItem } from '../../../lib/client/client.ts';

/** What people call what waits. */
export const KINDS: Readonly<Record<AttentionItem['kind'], string>> = {
  plan: 'Plan',
  permission: 'Permission',
  question: 'Question',
  done: 'Done',
  failed: 'Failed',
  blocked: 'Blocked',
  paused: 'Paused',
  waiting: 'Waiting',
  manual: 'Yours',
  conflict: 'Conflict',
  review: 'Review',
  feedback: 'Feedback',
  sync: 'Sync',
  webhook: 'Webhook',
  held: 'Held',
  trust: 'Trust',
  file: 'File',
};
