import type { AttentionItem } from '../../../store/records/attention.ts';
import type { Case } from '../../../store/records/case.ts';

/** The Work item that something is about. */
export type AboutCase = Pick<Case, 'id' | 'title' | 'state'>;

/** What waits, without what is said of its Work item. */
export type AttentionEntry = Omit<AttentionItem, 'case_id' | 'title'>;

/** The call after which it waits no more. */
export const post = (path: string, body?: unknown): AttentionEntry['answer'] => ({
  ...{ method: 'POST', path },
  ...(body !== undefined && { body }),
});

/** The Work item's own, in whole. */
export const entryOf = ({ id, title }: AboutCase, entry: AttentionEntry): AttentionItem => ({
  ...{ id: entry.id, kind: entry.kind, case_id: id },
  ...entry,
  title,
});
