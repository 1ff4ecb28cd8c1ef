import { join } from 'node:path';
import { replaceFile } from './disk/durable.ts';
import { untilDone } from './disk/until-done.ts';
import { checklistOf, type Item } from './item/item.ts';
import { checklistIn, parseChecklist, tasksIn } from './item/read-checklist.ts';
import { changingItem, createOwn } from './items/changing.ts';
import { grant } from './items/granting.ts';
import { reconcileInTurn } from './items/reconcile.ts';
import { checklistFile } from './layout.ts';
import type { ChecklistEntry } from './records/proof.ts';
import type { Store } from './store.ts';
import { hasFrontMatter, joinFrontMatter, parseFrontMatter } from './text/front-matter.ts';
import { explained, readRegularFile, unreadable } from './text/record-file.ts';
import { appendToList, renderFrontMatter } from './text/splice.ts';
import { decodeRecord } from './text/text.ts';

/** Adds one to proof/checklist.md, which is made when there is none. Every other byte of it stays. */
export const appendToChecklist = (
  store: Store,
  caseId: string,
  entry: ChecklistEntry,
): Promise<Item | undefined> =>
  changingItem(store, caseId, async (item) => {
    if (checklistOf(item).some(({ id }) => id === entry.id)) return item;
    const text = renderFrontMatter({ items: [entry] }, CHECKLIST_NOTE);
    const path = checklistFile(join(store.layout.root, item.dir));
    const made = await createOwn(store, item, path, text);
    if (!made) await edit(store, item, (text) => withItem(text, entry));
    grant(store, item, { checklist: [...checklistOf(item), entry] });
    await reconcileInTurn(store, item);
    return item;
  });

const CHECKLIST_NOTE = '\nWhat has to be proven before this Work item can be resolved.\n';

const withItem = (text: string, entry: ChecklistEntry): string => {
  if (!hasFrontMatter(text)) return withFrontMatter(text, entry);
  const source = parseFrontMatter(text);
  if (source.data.items !== undefined) checklistIn(source);
  return joinFrontMatter({ ...source, yaml: appendToList(source, 'items', entry) });
};

// A line of the text could not say the type, and would be another item for the same words.
const withFrontMatter = (text: string, entry: ChecklistEntry): string => {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const head = renderFrontMatter({ items: [entry] }, '');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return `${bom}${head.replaceAll('\n', eol)}${text.slice(bom.length)}`;
};

/** Sets the mark of a task line, and changes no other byte. False where the list has no task line with that id. */
export const tickTask = async (
  store: Store,
  caseId: string,
  id: string,
  done: boolean,
): Promise<{ item: Item; isThere: boolean } | undefined> =>
  changingItem(store, caseId, async (item) => {
    let isThere = false;
    await edit(store, item, (text) => {
      const task = tasksIn(text).find((one) => one.id === id);
      isThere = task !== undefined;
      if (task === undefined || task.done === done) return text;
      return `${text.slice(0, task.at)}${done ? 'x' : ' '}${text.slice(task.at + 1)}`;
    });
    const ticked = (entry: ChecklistEntry) => (entry.id === id ? { ...entry, done } : entry);
    if (isThere) grant(store, item, { checklist: checklistOf(item).map(ticked) });
    await reconcileInTurn(store, item);
    return { item, isThere };
  });

// What is written is read before: what could not be read back is not written.
const edit = async (store: Store, item: Item, change: (text: string) => string): Promise<void> => {
  const file = `${item.dir}/proof/checklist.md`;
  const { layout } = store;
  const path = join(layout.root, file);
  const { problem } = item.files.checklist ?? {};
  if (problem !== undefined) throw unreadable(file, problem);
  await untilDone(file, async () => {
    const bytes = readRegularFile(layout.root, path);
    if (bytes === undefined) return true;
    const next = explained(file, () => {
      const text = decodeRecord(bytes);
      parseChecklist(text);
      const changed = change(text);
      parseChecklist(changed);
      return Buffer.from(changed);
    });
    return bytes.equals(next) || replaceFile(layout, path, bytes, next);
  });
};
