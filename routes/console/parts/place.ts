import type { AttentionItem } from '../../../lib/client/client.ts';

/** Where what waits is looked at whole. */
export const placeOf = ({ kind, case_id, session_id, answer }: AttentionItem): string => {
  if (kind === 'trust' || kind === 'held') return '/dashboard/settings/trust';
  if (case_id === undefined) return '/dashboard/settings/diagnostics';
  const item = `/dashboard/cases/${case_id}`;
  if (kind === 'conflict') return `${item}/conflicts`;
  if (kind === 'review' || kind === 'feedback') return `${item}/pr`;
  if (session_id === undefined) return item;
  return `${item}/sessions/${session_id}${tabOf(kind, answer)}`;
};

const tabOf = (kind: AttentionItem['kind'], { method }: AttentionItem['answer']): string => {
  if (kind === 'done') return '/diff';
  return kind === 'plan' || (kind === 'manual' && method === 'PUT') ? '/plan' : '';
};
