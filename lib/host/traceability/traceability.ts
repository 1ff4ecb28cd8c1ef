import { inSlices } from '../../../base/slices.ts';
import { type Item, proofsOf, recordOf } from '../../../store/item/item.ts';
import { allItems } from '../../../store/items/items.ts';
import { linkOf } from '../../../store/links/links.ts';
import { readPull } from '../../../store/pulls/pulls.ts';
import type { Dangling, Traceability } from '../../../store/records/traceability.ts';
import { sessionsOf } from '../../../store/sessions/sessions.ts';
import type { Store } from '../../../store/store.ts';
import { messageOf } from '../../agents/run-end.ts';
import { createGraph, type Traced } from './graph.ts';

/** How all records of the workspace are linked, as its files are now. It asks no host, and gives way to requests. */
export const traceability = async (store: Store): Promise<Traceability> => {
  const graph = createGraph();
  const generated_at = store.clock().toISOString();
  await inSlices(allItems(store), (item) => graph.add(tracedOf(store, item)));
  return { workspace: store.layout.root, generated_at, ...graph.end() };
};

const tracedOf = (store: Store, item: Item): Traced => {
  const { id, title, state } = recordOf(item);
  const unreadable: Pick<Dangling, 'kind' | 'reason'>[] = [];
  const read = <T>(kind: Dangling['kind'], reader: () => T): T | undefined => {
    try {
      return reader();
    } catch (error) {
      unreadable.push({ kind, reason: messageOf(error) });
      return undefined;
    }
  };
  return {
    item: { id, title, state },
    issue: read('issue-imported_as-case', () => linkOf(store, item))?.issue,
    pull: read('case-has-pr', () => readPull(store, id)),
    sessions: (sessionsOf(store, id) ?? []).map(({ session }) => session),
    proofs: proofsOf(item).map(({ file }) => file.matter),
    unreadable,
  };
};
