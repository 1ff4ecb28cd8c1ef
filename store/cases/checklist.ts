import { join } from 'node:path';
import { sha256 } from '../base/sha256.ts';
import { dropFromList } from '../front-matter/drop-from-list.ts';
import { hasFrontMatter, joinFrontMatter, parseFrontMatter } from '../front-matter/front-matter.ts';
import { readRegularFile, unreadable, withReadableErrors } from '../front-matter/record-file.ts';
import { appendToList, renderFrontMatter, spliceFrontMatter } from '../front-matter/splice.ts';
import { decodeRecord } from '../front-matter/text.ts';
import { replaceFile } from '../fs/durable.ts';
import { untilWritten } from '../fs/retry.ts';
import { checklistFile } from '../layout.ts';
import { acceptChange } from '../reconcile/accept-change.ts';
import { changeItem, createItemFile } from '../reconcile/change-item.ts';
import { checklistOf, type Item } from '../reconcile/item.ts';
import { checklistIn, parseChecklist, tasksIn } from '../reconcile/read-checklist.ts';
import { reconcileLocked, reconcileWritten } from '../reconcile/reconcile.ts';
import type { ChecklistEntry, Waiver } from '../records/proof.ts';
import type { Store } from '../store.ts';

/** Adds an item to proof/checklist.md, which is created if missing. All other bytes stay. */
export const appendToChecklist = (
  store: Store,
  caseId: string,
  entry: ChecklistEntry,
): Promise<Item | undefined> =>
  changeItem(store, caseId, async (item) => {
    if (checklistOf(item).some(({ id }) => id === entry.id)) return item;
    const text = renderFrontMatter({ items: [entry] }, CHECKLIST_NOTE);
    const path = checklistFile(join(store.layout.root, item.dir));
    const made = await createItemFile(store, item, path, text);
    if (!made) await editChecklist(store, item, (text) => withItem(text, entry));
    acceptChange(store, item, { checklist: [...checklistOf(item), entry] });
    await reconcileWritten(store, item);
    return item;
  });

const CHECKLIST_NOTE = '\nWhat has to be proven before this Work item can be resolved.\n';

/** Removes an item from the checklist; all other lines stay. False if there is no item with that id. */
export const dropFromChecklist = async (
  store: Store,
  caseId: string,
  { id, look }: { id: string; look: Precondition },
): Promise<boolean | undefined> => {
  const edit = (text: string) => withoutItem(text, id);
  const accepts: Accepts = (before) => before.filter((entry) => entry.id !== id);
  return (await changeChecklist(store, caseId, { edit, look, accepts }))?.isThere;
};

const withoutItem = (text: string, id: string): string | undefined => {
  const source = hasFrontMatter(text) ? parseFrontMatter(text) : undefined;
  const isListed = source?.data.items !== undefined && source.data.items !== null;
  const at = isListed ? checklistIn(source).findIndex((one) => one.id === id) : -1;
  if (source !== undefined && at >= 0) return dropFromList(source, 'items', at);
  const task = tasksIn(text).find((one) => one.id === id);
  return task && withoutItems(withoutLine(text, task.at));
};

const withoutLine = (text: string, at: number): string => {
  const [from, to] = [text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at) + 1];
  const bom = from === 0 && text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return text.slice(0, from) + bom + (to === 0 ? '' : text.slice(to));
};

// A checklist without any item is unreadable, so an empty `items:` says that there is none.
const withoutItems = (text: string): string => {
  if (tasksIn(text).length > 0) return text;
  if (!hasFrontMatter(text)) return withFrontMatter(text, { items: [] });
  const source = parseFrontMatter(text);
  return source.data.items === undefined ? spliceFrontMatter(source, { items: [] }) : text;
};

const withItem = (text: string, entry: ChecklistEntry): string => {
  if (!hasFrontMatter(text)) return withFrontMatter(text, { items: [entry] });
  const source = parseFrontMatter(text);
  if (source.data.items !== undefined) checklistIn(source);
  return joinFrontMatter({ ...source, yaml: appendToList(source, 'items', entry) });
};

// Task lines cannot carry a type, so new items go to the front matter.
const withFrontMatter = (
  text: string,
  matter: { items?: readonly ChecklistEntry[]; waived?: readonly Waiver[] },
): string => {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const head = renderFrontMatter(matter, '');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return `${bom}${head.replaceAll('\n', eol)}${text.slice(bom.length)}`;
};

/** Adds a waiver to an item, with its author and reason. `isThere` is false if there is no item with that id. */
export const waiveInChecklist = (
  store: Store,
  caseId: string,
  { waiver, look }: { waiver: Waiver; look: Precondition },
): Promise<ChangedChecklist | undefined> => {
  const { item: id, ...waived } = waiver;
  const edit = (text: string): string | undefined => {
    const entry = parseChecklist(text).find((one) => one.id === id);
    return entry === undefined || entry.waived !== undefined
      ? entry && text
      : withWaiver(text, waiver);
  };
  const noted = (entry: ChecklistEntry) =>
    entry.id === id && entry.waived === undefined ? { ...entry, waived } : entry;
  return changeChecklist(store, caseId, { edit, look, accepts: (before) => before.map(noted) });
};

const withWaiver = (text: string, waiver: Waiver): string => {
  if (!hasFrontMatter(text)) return withFrontMatter(text, { waived: [waiver] });
  const source = parseFrontMatter(text);
  return joinFrontMatter({ ...source, yaml: appendToList(source, 'waived', waiver) });
};

/** Sets the mark of a task line; all other bytes stay. `isThere` is false if there is no task line with that id. */
export const tickTask = (
  store: Store,
  caseId: string,
  { id, done, look }: { id: string; done: boolean; look: Precondition },
): Promise<ChangedChecklist | undefined> => {
  const edit = (text: string): string | undefined => {
    const task = tasksIn(text).find((one) => one.id === id);
    if (task === undefined || task.done === done) return task && text;
    return `${text.slice(0, task.at)}${done ? 'x' : ' '}${text.slice(task.at + 1)}`;
  };
  const ticked = (entry: ChecklistEntry) => (entry.id === id ? { ...entry, done } : entry);
  return changeChecklist(store, caseId, { edit, look, accepts: (before) => before.map(ticked) });
};

/** Called with the Work item before the change; throws to refuse. */
type Precondition = (item: Item) => void;

/** The checklist that the operator decides with a change. */
type Accepts = (before: readonly ChecklistEntry[]) => readonly ChecklistEntry[];

interface ChangedChecklist {
  item: Item;
  isThere: boolean;
}

const changeChecklist = (
  store: Store,
  caseId: string,
  change: { edit: (text: string) => string | undefined; look: Precondition; accepts: Accepts },
): Promise<ChangedChecklist | undefined> =>
  changeItem(store, caseId, async (item) => {
    const isThere = await editChecklist(store, item, change.edit, change.look);
    if (isThere) acceptChange(store, item, { checklist: change.accepts(checklistOf(item)) });
    await reconcileWritten(store, item);
    return { item, isThere };
  });

// Returns false if `change` finds nothing to change, or there is no file. The new text is parsed before it is written, so that
// no unreadable checklist is created.
const editChecklist = async (
  store: Store,
  item: Item,
  change: (text: string) => string | undefined,
  look: Precondition = () => undefined,
): Promise<boolean> => {
  const file = `${item.dir}/proof/checklist.md`;
  const { layout } = store;
  const path = join(layout.root, file);
  refuseUnreadable(item, file);
  let isThere = false;
  await untilWritten(file, async () => {
    const bytes = readRegularFile(layout.root, path);
    if (bytes === undefined) return true;
    // The file was saved by another program: the precondition must see what is changed.
    if (sha256(bytes) !== item.files.checklist?.sha) {
      await reconcileLocked(store, item);
      refuseUnreadable(item, file);
      return false;
    }
    look(item);
    const next = withReadableErrors(file, () => {
      const text = decodeRecord(bytes);
      parseChecklist(text);
      const changed = change(text);
      isThere = changed !== undefined;
      parseChecklist(changed ?? text);
      return Buffer.from(changed ?? text);
    });
    return bytes.equals(next) || replaceFile(layout, path, bytes, next);
  });
  return isThere;
};

const refuseUnreadable = ({ files }: Item, file: string): void => {
  const { problem } = files.checklist ?? {};
  if (problem !== undefined) throw unreadable(file, problem);
};
