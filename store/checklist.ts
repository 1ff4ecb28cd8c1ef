import { join } from 'node:path';
import { createFile } from './disk/durable.ts';
import { assertOwn, changing } from './items/changing.ts';
import { grant } from './items/granting.ts';
import { checklistOf, type Item } from './items/item.ts';
import { checklistIn } from './items/read-proofs.ts';
import { reconcileInTurn } from './items/reconcile.ts';
import { checklistFile } from './layout.ts';
import type { ChecklistEntry } from './records/proof.ts';
import type { Store } from './store.ts';
import { editRecord, explained, unreadable } from './text/record-file.ts';
import { appendToList, renderFrontMatter } from './text/splice.ts';

/** Adds one line to proof/checklist.md, which is made when there is none. */
export const addToChecklist = (
  store: Store,
  caseId: string,
  entry: ChecklistEntry,
): Promise<Item | undefined> =>
  changing(store, caseId, async (item) => {
    const { problem } = item.files.checklist ?? {};
    if (problem !== undefined) throw unreadable(`${item.dir}/proof/checklist.md`, problem);
    const path = checklistFile(join(store.layout.root, item.dir));
    const made = await createFile(
      store.layout,
      path,
      renderFrontMatter({ items: [entry] }, CHECKLIST_NOTE),
      { assertMeant: () => assertOwn(store, item) },
    );
    if (!made)
      await editRecord(store.layout, path, ({ source }) => {
        explained(`${item.dir}/proof/checklist.md`, () => checklistIn(source));
        return { yaml: appendToList(source, 'items', entry) };
      });
    grant(store, item, { checklist: [...checklistOf(item), entry] });
    await reconcileInTurn(store, item);
    return item;
  });

const CHECKLIST_NOTE = '\nWhat has to be proven before this Work item can be resolved.\n';
