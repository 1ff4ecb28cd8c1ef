import type { AttentionItem } from '../../../store/records/attention.ts';
import type { Case } from '../../../store/records/case.ts';

/** The Work item of an entry. */
export type AboutCase = Pick<Case, 'id' | 'title' | 'state'>;

/** An entry without the fields of its Work item. */
export type AttentionEntry = Omit<AttentionItem, 'case_id' | 'title'>;

/** The request that resolves an entry. */
export const post = (path: string, body?: unknown): AttentionEntry['answer'] => ({
  method: 'POST',
  path,
  ...(body !== undefined && { body }),
});

/** An entry with the fields of its Work item. */
export const attentionItem = (
  { id: case_id, title }: AboutCase,
  { id, kind, ...rest }: AttentionEntry,
): AttentionItem => ({ id, kind, case_id, ...rest, title });
