import type { AttentionItem } from '../../../lib/client/client.ts';

/** Where what waits is looked at whole. */
export const placeOf = ({ kind, case_id, session_id, answer }: AttentionItem): string => {
  if (kind === 'trust' || kind === 'held') return '/dashboard/settings/trust';
  if (case_id === undefined) return '/dashboard/settings/diagnostics';
  const item = `/dashboard/cases/${case_id}`;
  if (kind === 'conflict') return `${item}/conflicts`;
  if (kind === 'review' || kind === 'feedback') return `${item}/pr`;
  if (session_id === undefined) return item;
  const isPlan = kind === 'plan' || (kind === 'manual' && answer.method === 'PUT');
  return `${item}/sessions/${session_id}${isPlan ? '/plan' : ''}`;
};
