import type { AttentionItem, Case, Session } from '../../../lib/client/client.ts';

/** The states of a Work item. */
export const STATE_LABELS: Readonly<Record<Case['state'], string>> = {
  OPEN: 'Open',
  INVESTIGATING: 'Investigating',
  IMPLEMENTING: 'Implementing',
  VERIFYING: 'Verifying',
  BLOCKED: 'Blocked',
  RESOLVED: 'Resolved',
  NON_ISSUE: 'No issue',
};

/** A value of the API as a label: `changes_requested` is “Changes requested”. */
export const labelOf = (value: string): string => {
  const text = value.replaceAll('_', ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
};

/** What a session does, and the provider and model that do it. */
export const sessionName = ({
  type,
  provider,
  model,
}: Pick<Session, 'type' | 'provider' | 'model'>): string =>
  `${type}, ${model === undefined ? provider : `${provider} ${model}`}`;

/** A place in a file, as editors and terminals accept it: `path:line:column`. */
export const placeIn = (path: string, ...position: readonly (number | undefined)[]): string =>
  [path, ...position.filter((one) => one !== undefined)].join(':');

/** Whether a session has ended for good. */
export const hasEnded = (status: Session['status']): boolean =>
  status === 'completed' || status === 'failed' || status === 'aborted';

/** The kind of an item in the inbox. */
export const attentionLabel = (kind: AttentionItem['kind']): string => {
  if (kind === 'manual') return 'Manual work';
  return kind === 'held' ? 'Unconfirmed' : labelOf(kind);
};
