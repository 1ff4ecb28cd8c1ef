import { caseOf, caseStateOf, type Item } from '../reconcile/item.ts';
import type { State } from '../records/case.ts';

export interface Filter {
  state?: State;
  outcome?: string;
  type?: string;
  project?: string;
  /** Milliseconds since the epoch, both ends exclusive. */
  created?: Span;
  updated?: Span;
  /** Each must match the title or the description. */
  words?: readonly RegExp[];
  ids?: ReadonlySet<string>;
  /** In lower case. */
  id_prefix?: string;
}

export interface Span {
  after: number;
  before: number;
}

/** Whether a filter matches every Work item. */
export const matchesAll = (filter: Filter): boolean => Object.keys(filter).length === 0;

export const matchesFilter = (item: Item, filter: Filter): boolean => {
  const { state, outcome, type, project, created, updated, ids, id_prefix = '' } = filter;
  const { matter } = caseOf(item);
  return (
    (ids === undefined || ids.has(item.id)) &&
    item.id.startsWith(id_prefix) &&
    (state === undefined || caseStateOf(item) === state) &&
    (outcome === undefined || matter.outcome === outcome) &&
    (type === undefined || matter.type === type) &&
    (project === undefined || (matter.project ?? 'default') === project) &&
    (created === undefined || isWithin(created, Date.parse(matter.created_at))) &&
    (updated === undefined || isWithin(updated, item.files.case.written_at)) &&
    hasWords(item, filter)
  );
};

// Checked last: the text search is the expensive part.
const hasWords = (item: Item, { words }: Filter): boolean => {
  if (words === undefined) return true;
  const { matter, description } = caseOf(item);
  return words.every((word) => word.test(matter.title) || word.test(description));
};

const isWithin = ({ after, before }: Span, at: number): boolean => at > after && at < before;
