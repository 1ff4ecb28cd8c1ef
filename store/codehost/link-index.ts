import { join } from 'node:path';
import { inSlices } from '../base/async.ts';
import { type ReadEntry, readEntry } from '../front-matter/entry.ts';
import { parserOf } from '../front-matter/parse.ts';
import { type FileProblem, fileProblem, Problem } from '../front-matter/problem.ts';
import { entryProblem } from '../front-matter/problems.ts';
import { unreadable } from '../front-matter/record-file.ts';
import { linkFile } from '../layout.ts';
import type { Item } from '../reconcile/item.ts';
import { allItems, itemOf } from '../reconcile/items.ts';
import { type IssueLinkMatter, LinkMatter } from '../records/link.ts';
import { remembered, type Store } from '../store.ts';

/**
 * The links between Work items and issues, from the last reading of each link.md: after the start, at hints and sweeps, and
 * after each write.
 */
interface LinkIndex {
  /** Whether the links of all Work items were read since the start. */
  complete: boolean;
  readonly byItem: Map<string, ReadEntry<LinkMatter>>;
  readonly byIssue: Map<string, Set<string>>;
}

const linksOf = remembered(
  (): LinkIndex => ({ complete: false, byItem: new Map(), byIssue: new Map() }),
);

export type IssueName = Pick<IssueLinkMatter, 'host' | 'repository' | 'number'>;

/** The key of an issue. Names of hosts and repositories are case-insensitive. */
export const issueKey = ({ host = DEFAULT_HOST, repository, number }: IssueName): string =>
  `${host}/${repository}#${number}`.toLowerCase();

export const DEFAULT_HOST = 'github.com';

/** Reads the link of a new or moved Work item, unless all links are still to be read. */
export const indexNewLink = (store: Store, item: Item): void => {
  if (linksOf(store).complete) refreshLink(store, item);
};

const parse = parserOf(LinkMatter);

/** Reads link.md of a Work item into the index. */
export const refreshLink = (store: Store, item: Item): void => {
  const { byItem } = linksOf(store);
  const before = byItem.get(item.id);
  const path = linkFile(join(store.layout.root, item.dir));
  const entry = readEntry(path, { before, parse });
  if (entry === undefined) {
    dropLink(store, item.id);
    return;
  }
  byItem.set(item.id, entry);
  moveInIndex(store, item.id, { from: keyIn(before), to: keyIn(entry) });
  setLinkProblems(store, item);
};

const dropLink = (store: Store, id: string): void => {
  const { byItem } = linksOf(store);
  const before = byItem.get(id);
  if (!byItem.delete(id)) return;
  moveInIndex(store, id, { from: keyIn(before), to: undefined });
  store.problems.set(ownerOf(id), []);
};

/** Removes the links of Work items that are gone. */
export const dropLinks = (store: Store): void => {
  for (const id of linksOf(store).byItem.keys())
    if (itemOf(store, id) === undefined) dropLink(store, id);
};

/** link.md of a Work item as last read. */
export const cachedLink = (store: Store, id: string): ReadEntry<LinkMatter> | undefined =>
  linksOf(store).byItem.get(id);

const keyIn = (entry: ReadEntry<LinkMatter> | undefined): string | undefined =>
  entry?.value?.issue && issueKey(entry.value.issue);

interface IndexMove {
  from: string | undefined;
  to: string | undefined;
}

const moveInIndex = (store: Store, id: string, { from, to }: IndexMove): void => {
  if (from === to) return;
  const { byIssue } = linksOf(store);
  if (to !== undefined) byIssue.set(to, new Set([...(byIssue.get(to) ?? []), id]));
  if (from === undefined) return;
  byIssue.get(from)?.delete(id);
  if (byIssue.get(from)?.size === 0) byIssue.delete(from);
  // The others of the same issue may have no duplicate any more.
  for (const other of itemIdsOf(store, from)) setLinkProblems(store, itemOf(store, other) as Item);
};

interface LastLink {
  issue: IssueLinkMatter | undefined;
  problems: FileProblem[];
}

/** The last readable link of a Work item, and its problems now. Throws `unreadable_record` if it was never readable. */
export const lastLink = (store: Store, id: string): LastLink => {
  const item = itemOf(store, id);
  if (item === undefined) return { issue: undefined, problems: [] };
  refreshLink(store, item);
  const entry = linksOf(store).byItem.get(id);
  const file = `${item.dir}/link.md`;
  if (entry?.problem !== undefined && entry.value === undefined)
    throw unreadable(file, entry.problem);
  return { issue: entry?.value?.issue, problems: entryProblem(file, entry) };
};

/** The Work items that are linked to an issue, oldest first. More than one is a problem, which is reported. */
export const linkedTo = async (store: Store, issue: IssueName): Promise<string[]> => {
  if (!linksOf(store).complete) await refreshAll(store);
  return itemIdsOf(store, issueKey(issue));
};

/** The links of all Work items, as they are on disk now; of an unreadable one the last readable value. */
export const allLinks = async (store: Store): Promise<Map<string, IssueLinkMatter>> => {
  await refreshAll(store);
  return new Map(await linksWhere(store, () => true));
};

/** The Work items with a matching link, from the index. Reads the disk only the first time. */
export const linksWhere = async (
  store: Store,
  isIt: (issue: IssueLinkMatter) => boolean,
): Promise<[id: string, issue: IssueLinkMatter][]> => {
  if (!linksOf(store).complete) await refreshAll(store);
  return [...linksOf(store).byItem].flatMap(([id, { value }]): [string, IssueLinkMatter][] =>
    value?.issue !== undefined && itemOf(store, id) !== undefined && isIt(value.issue)
      ? [[id, value.issue]]
      : [],
  );
};

const refreshAll = async (store: Store): Promise<void> => {
  await inSlices(allItems(store), (item) => refreshLink(store, item));
  linksOf(store).complete = true;
};

const itemIdsOf = (store: Store, key: string): string[] =>
  [...(linksOf(store).byIssue.get(key) ?? [])]
    .flatMap((id) => itemOf(store, id) ?? [])
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
    .map(({ id }) => id);

const ageOf = ({ id, files }: Item): string => `${files.case.value?.matter.created_at} ${id}`;

const setLinkProblems = (store: Store, { id, dir }: Item): void => {
  const entry = linksOf(store).byItem.get(id);
  const key = keyIn(entry);
  const first = key === undefined ? undefined : itemIdsOf(store, key)[0];
  const other = first === undefined ? undefined : itemOf(store, first);
  const file = `${dir}/link.md`;
  const twin =
    other === undefined || first === id ? [] : [duplicateLinkProblem(file, `${other.dir}/link.md`)];
  store.problems.set(ownerOf(id), [...entryProblem(file, entry), ...twin]);
};

/** `first` is the link.md of the older Work item. */
export const duplicateLinkProblem = (file: string, first: string): FileProblem =>
  fileProblem(
    file,
    new Problem(
      'duplicate_link',
      `${first} is linked to the same issue. Both are synced; remove one of the two links`,
    ),
  );

const ownerOf = (id: string): string => `${id}/link`;
