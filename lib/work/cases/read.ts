import { jsonText } from '../../../store/base/visible.ts';
import type { Filter } from '../../../store/cases/case-filter.ts';
import { casesMatching as keptCases, serveCase } from '../../../store/cases/cases.ts';
import { readHistory } from '../../../store/git/history.ts';
import { freshItem } from '../../../store/reconcile/fresh-item.ts';
import {
  answerOf,
  caseOf,
  type Item,
  publicState,
  recordOf,
} from '../../../store/reconcile/item.ts';
import { itemOf, leftToCompare, whenCompared } from '../../../store/reconcile/items.ts';
import { isUnread } from '../../../store/reconcile/journaled.ts';
import { Case, type StateName } from '../../../store/records/case.ts';
import type { HistoryEntry } from '../../../store/records/history.ts';
import type { Store } from '../../../store/store.ts';
import { badField, orNotFound, ServiceError } from '../../errors.ts';

export interface Ready {
  body: Buffer;
  etag: string;
}

/** A Work item as serialized JSON, read from its case.md now. */
export const getCase = async (store: Store, id: string): Promise<Ready> =>
  orNotFound(await serveCase(store, id), 'Work item', id);

interface CaseQuery {
  state?: StateName;
  outcome?: string;
  type?: string;
  project?: string;
  created_after?: string;
  created_before?: string;
  updated_after?: string;
  updated_before?: string;
  /** Words that all have to match. */
  search?: string;
  /** Separated by commas. */
  ids?: string;
  id_prefix?: string;
  order?: 'oldest' | 'newest';
  /** Names separated by commas; all fields by default. */
  fields?: string;
}

/** The matching Work items in the requested order, and how one becomes JSON. */
export const listCases = (store: Store, query: CaseQuery) => {
  const jsonOf = query.fields === undefined ? whole : partOf(fieldsIn(query.fields));
  const found = keptCases(store, filterOf(query));
  return { all: query.order === 'newest' ? found.toReversed() : found, jsonOf };
};

// The parts of a query that the journal answers without the files. Any other waits for the files.
const IN_JOURNAL: ReadonlySet<string> = new Set([
  'state',
  'outcome',
  'type',
  'project',
  'created_after',
  'created_before',
  'ids',
  'id_prefix',
  'order',
  'fields',
  'limit',
  'after',
]);

/**
 * Resolves when the requested page can be answered: at once, except while the daemon starts. Then a page is compared with
 * its files before it is sent. A list without a limit, and one that needs texts or times of files, waits for all.
 */
export const comparePage = async (
  store: Store,
  query: CaseQuery & { limit?: number },
  page: () => readonly { id: string }[],
): Promise<void> => {
  if (leftToCompare(store) === undefined) return;
  const isKnown = Object.keys(query).every((name) => IN_JOURNAL.has(name));
  if (query.limit === undefined || !isKnown || store.journal.fresh) return whenCompared(store);
  // What is compared may leave the page for another.
  const unread = () => page().filter(({ id }) => isUnread(store, id));
  for (let left = unread(); left.length > 0; left = unread())
    await Promise.all(left.map(({ id }) => freshItem(store, id)));
};

const filterOf = ({ state, outcome, type, project, ...rest }: CaseQuery): Filter => ({
  ...(state !== undefined && { state: publicState(state) }),
  ...(outcome !== undefined && { outcome }),
  ...(type !== undefined && { type }),
  ...(project !== undefined && { project }),
  ...spanOf('created', rest.created_after, rest.created_before),
  ...spanOf('updated', rest.updated_after, rest.updated_before),
  ...(rest.search !== undefined && { words: wordsIn(rest.search) }),
  ...(rest.ids !== undefined && { ids: new Set(rest.ids.split(',')) }),
  ...(rest.id_prefix !== undefined && { id_prefix: rest.id_prefix.toLowerCase() }),
});

// A regular expression searches without copying the text in lower case.
const wordsIn = (text: string): RegExp[] =>
  (text.match(/\S+/g) ?? []).map(
    (word) => new RegExp(word.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'), 'iu'),
  );

const spanOf = (of: 'created' | 'updated', after?: string, before?: string): Partial<Filter> => {
  if (after === undefined && before === undefined) return {};
  const span = { after: timeOf(after, -Infinity), before: timeOf(before, Infinity) };
  return { [of]: span };
};

const timeOf = (text: string | undefined, open: number): number =>
  text === undefined ? open : Date.parse(text);

const whole = (item: Item): Buffer => answerOf(item).body;

/** Keyed by the full answer, which is replaced when the Work item changes: the last requested fields. */
const parts = new WeakMap<object, { fields: string; body: Buffer }>();

const partOf = (names: readonly Field[]) => {
  const fields = names.join();
  return (item: Item): Buffer => {
    const answer = answerOf(item);
    const kept = parts.get(answer);
    if (kept?.fields === fields) return kept.body;
    const record = recordOf(item);
    const known = names.filter((name) => record[name] !== undefined);
    const body = Buffer.from(
      jsonText(Object.fromEntries(known.map((name) => [name, record[name]]))),
    );
    parts.set(answer, { fields, body });
    return body;
  };
};

type Field = keyof Case;

const FIELDS = Object.keys(Case.properties) as Field[];

// The id is always included, because pagination uses it.
const fieldsIn = (text: string): Field[] => {
  const wanted = new Set(['id', ...text.split(',').map((name) => name.trim())]);
  const unknown = [...wanted].filter((name) => !FIELDS.some((field) => field === name));
  if (unknown.length === 0) return FIELDS.filter((field) => wanted.has(field));
  const message = `contains ${unknown.map((name) => JSON.stringify(name)).join(', ')}: expected names separated by commas, of ${FIELDS.join(', ')}`;
  throw badField('query/fields', message);
};

/** Increases with every change of any Work item, so an answer of the same version is still valid. */
export { versionOf } from '../../../store/reconcile/items.ts';

/**
 * The commits in the workspace's repository that changed a Work item, newest first; none without a repository. Paths
 * are relative to the item's directory.
 */
export const getHistory = async (
  store: Store,
  caseId: string,
  limit = 100,
): Promise<HistoryEntry[]> => {
  const item = orNotFound(itemOf(store, caseId), 'Work item', caseId);
  const since = new Date(caseOf(item).matter.created_at);
  try {
    return await readHistory(store.layout.root, { dir: item.dir, since, limit });
  } catch (cause) {
    throw new ServiceError(
      'git_failed',
      "The workspace's git history could not be read. Run git log on the directory of the Work item instead.",
      { cause },
    );
  }
};
