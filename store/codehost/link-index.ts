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
 * Which Work items are linked to which issue, as their link.md said when it was last looked at: after the start, at
 * every hint, at every sweep and after each write.
 */
interface LinkIndex {
  /** Whether all Work items were looked at since the start. */
  complete: boolean;
  readonly byItem: Map<string, ReadEntry<LinkMatter>>;
  readonly byIssue: Map<string, Set<string>>;
}

const linksOf = remembered(
  (): LinkIndex => ({ complete: false, byItem: new Map(), byIssue: new Map() }),
);

export type IssueName = Pick<IssueLinkMatter, 'host' | 'repository' | 'number'>;

/** The same for the same issue, however it is written: names of hosts and repositories know no case. */
export const issueKey = ({ host = DEFAULT_HOST, repository, number }: IssueName): string =>
  `${host}/${repository}#${number}`.toLowerCase();

export const DEFAULT_HOST = 'github.com';

/** Looks at the link of a Work item that is new or elsewhere now; at the start that has time. */
export const noteNewLink = (store: Store, item: Item): void => {
  if (linksOf(store).complete) noteLink(store, item);
};

const parse = parserOf(LinkMatter);

/** Looks at link.md of a Work item. */
export const noteLink = (store: Store, item: Item): void => {
  const { byItem } = linksOf(store);
  const before = byItem.get(item.id);
  const path = linkFile(join(store.layout.root, item.dir));
  const entry = readEntry(path, { before, parse });
  if (entry === undefined) {
    dropLink(store, item.id);
    return;
  }
  byItem.set(item.id, entry);
  rehang(store, item.id, { from: keyOf(before), to: keyOf(entry) });
  tellProblems(store, item);
};

const dropLink = (store: Store, id: string): void => {
  const { byItem } = linksOf(store);
  const before = byItem.get(id);
  if (!byItem.delete(id)) return;
  rehang(store, id, { from: keyOf(before), to: undefined });
  store.problems.set(ownerOf(id), []);
};

/** Forgets those of Work items that are gone. */
export const dropLinks = (store: Store): void => {
  for (const id of linksOf(store).byItem.keys())
    if (itemOf(store, id) === undefined) dropLink(store, id);
};

/** link.md of a Work item as it was last looked at. */
export const linkSeen = (store: Store, id: string): ReadEntry<LinkMatter> | undefined =>
  linksOf(store).byItem.get(id);

const keyOf = (entry: ReadEntry<LinkMatter> | undefined): string | undefined =>
  entry?.value?.issue && issueKey(entry.value.issue);

interface Rehanging {
  from: string | undefined;
  to: string | undefined;
}

const rehang = (store: Store, id: string, { from, to }: Rehanging): void => {
  if (from === to) return;
  const { byIssue } = linksOf(store);
  if (to !== undefined) byIssue.set(to, new Set([...(byIssue.get(to) ?? []), id]));
  if (from === undefined) return;
  byIssue.get(from)?.delete(id);
  if (byIssue.get(from)?.size === 0) byIssue.delete(from);
  // One that had a twin has none any more.
  for (const other of idsAt(store, from)) tellProblems(store, itemOf(store, other) as Item);
};

export interface LastLink {
  issue: IssueLinkMatter | undefined;
  problems: FileProblem[];
}

/** The link of a Work item as it was last readable, and what is wrong with it now. Throws `unreadable_record` without. */
export const lastLink = (store: Store, id: string): LastLink => {
  const item = itemOf(store, id);
  if (item === undefined) return { issue: undefined, problems: [] };
  noteLink(store, item);
  const entry = linksOf(store).byItem.get(id);
  const file = `${item.dir}/link.md`;
  if (entry?.problem !== undefined && entry.value === undefined)
    throw unreadable(file, entry.problem);
  return { issue: entry?.value?.issue, problems: entryProblem(file, entry) };
};

/** The Work items that are linked to an issue, oldest first. More than one is a fault, which is told. */
export const linkedTo = async (store: Store, issue: IssueName): Promise<string[]> => {
  if (!linksOf(store).complete) await lookAtAll(store);
  return idsAt(store, issueKey(issue));
};

/** The links of all Work items, as they are on disk this moment. Of one that cannot be read the last good one. */
export const allLinks = async (store: Store): Promise<Map<string, IssueLinkMatter>> => {
  await lookAtAll(store);
  return new Map(await linksWhere(store, () => true));
};

/** The Work items whose link is such a one, as memory knows it. Looks at the disk only the first time. */
export const linksWhere = async (
  store: Store,
  isIt: (issue: IssueLinkMatter) => boolean,
): Promise<[id: string, issue: IssueLinkMatter][]> => {
  if (!linksOf(store).complete) await lookAtAll(store);
  return [...linksOf(store).byItem].flatMap(([id, { value }]): [string, IssueLinkMatter][] =>
    value?.issue !== undefined && itemOf(store, id) !== undefined && isIt(value.issue)
      ? [[id, value.issue]]
      : [],
  );
};

const lookAtAll = async (store: Store): Promise<void> => {
  await inSlices(allItems(store), (item) => noteLink(store, item));
  linksOf(store).complete = true;
};

const idsAt = (store: Store, key: string): string[] =>
  [...(linksOf(store).byIssue.get(key) ?? [])]
    .flatMap((id) => itemOf(store, id) ?? [])
    .sort((a, b) => (ageOf(a) < ageOf(b) ? -1 : 1))
    .map(({ id }) => id);

const ageOf = ({ id, files }: Item): string => `${files.case.value?.matter.created_at} ${id}`;

const tellProblems = (store: Store, { id, dir }: Item): void => {
  const entry = linksOf(store).byItem.get(id);
  const key = keyOf(entry);
  const first = key === undefined ? undefined : idsAt(store, key)[0];
  const other = first === undefined ? undefined : itemOf(store, first);
  const file = `${dir}/link.md`;
  const twin = other === undefined || first === id ? [] : [twinOf(file, `${other.dir}/link.md`)];
  store.problems.set(ownerOf(id), [...entryProblem(file, entry), ...twin]);
};

/** `first` is the link.md of the other one. */
export const twinOf = (file: string, first: string): FileProblem =>
  fileProblem(
    file,
    new Problem(
      'duplicate_link',
      `${first} is linked to the same issue. Both are synced; remove one of the two links`,
    ),
  );

const ownerOf = (id: string): string => `${id}/link`;
