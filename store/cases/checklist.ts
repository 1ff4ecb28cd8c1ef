import { join } from 'node:path';
import { sha256 } from '../base/sha256.ts';
import { dropFromList } from '../front-matter/drop-from-list.ts';
import { hasFrontMatter, joinFrontMatter, parseFrontMatter } from '../front-matter/front-matter.ts';
import { explained, readRegularFile, unreadable } from '../front-matter/record-file.ts';
import { appendToList, renderFrontMatter, spliceFrontMatter } from '../front-matter/splice.ts';
import { decodeRecord } from '../front-matter/text.ts';
import { replaceFile } from '../fs/durable.ts';
import { untilDone } from '../fs/until-done.ts';
import { checklistFile } from '../layout.ts';
import { grant } from '../reconcile/accept-change.ts';
import { changingItem, createOwn } from '../reconcile/change-item.ts';
import { checklistOf, type Item } from '../reconcile/item.ts';
import { checklistIn, parseChecklist, tasksIn } from '../reconcile/read-checklist.ts';
import { reconcileInTurn, reconcileWritten } from '../reconcile/reconcile.ts';
import type { ChecklistEntry, Waiver } from '../records/proof.ts';
import type { Store } from '../store.ts';

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
    await reconcileWritten(store, item);
    return item;
  });

const CHECKLIST_NOTE = '\nWhat has to be proven before this Work item can be resolved.\n';

/** Takes one off the list, and changes no other line. False where the list has none with that id. */
export const dropFromChecklist = async (
  store: Store,
  caseId: string,
  { id, look }: { id: string; look: Look },
): Promise<boolean | undefined> =>
  changingItem(store, caseId, async (item) => {
    let isThere = false;
    const drop = (text: string): string => {
      const without = withoutItem(text, id);
      isThere = without !== undefined;
      return without ?? text;
    };
    await edit(store, item, drop, look);
    const rest = checklistOf(item).filter((entry) => entry.id !== id);
    if (isThere) grant(store, item, { checklist: rest });
    await reconcileWritten(store, item);
    return isThere;
  });

const withoutItem = (text: string, id: string): string | undefined => {
  const source = hasFrontMatter(text) ? parseFrontMatter(text) : undefined;
  const isListed = source?.data.items !== undefined && source.data.items !== null;
  const at = isListed ? checklistIn(source).findIndex((one) => one.id === id) : -1;
  if (source !== undefined && at >= 0) return dropFromList(source, 'items', at);
  const task = tasksIn(text).find((one) => one.id === id);
  return task && askingLess(withoutLine(text, task.at));
};

const withoutLine = (text: string, at: number): string => {
  const [from, to] = [text.lastIndexOf('\n', at) + 1, text.indexOf('\n', at) + 1];
  const bom = from === 0 && text.startsWith('\uFEFF') ? '\uFEFF' : '';
  return text.slice(0, from) + bom + (to === 0 ? '' : text.slice(to));
};

// A text that asks for nothing would be one that cannot be read: it says that nothing is asked for.
const askingLess = (text: string): string => {
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

// A line of the text could not say the type, and would be another item for the same words.
const withFrontMatter = (
  text: string,
  matter: { items?: readonly ChecklistEntry[]; waived?: readonly Waiver[] },
): string => {
  const bom = text.startsWith('\uFEFF') ? '\uFEFF' : '';
  const head = renderFrontMatter(matter, '');
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return `${bom}${head.replaceAll('\n', eol)}${text.slice(bom.length)}`;
};

/** Notes that a line is not asked for, by whom and why. False where the list has none with that id. */
export const waiveInChecklist = async (
  store: Store,
  caseId: string,
  { waiver, look }: { waiver: Waiver; look: Look },
): Promise<{ item: Item; isThere: boolean } | undefined> =>
  changingItem(store, caseId, async (item) => {
    const { item: id, ...waived } = waiver;
    let isThere = false;
    const waive = (text: string): string => {
      const entry = parseChecklist(text).find((one) => one.id === id);
      isThere = entry !== undefined;
      return entry === undefined || entry.waived !== undefined ? text : withWaiver(text, waiver);
    };
    await edit(store, item, waive, look);
    const noted = (entry: ChecklistEntry) =>
      entry.id === id && entry.waived === undefined ? { ...entry, waived } : entry;
    if (isThere) grant(store, item, { checklist: checklistOf(item).map(noted) });
    await reconcileWritten(store, item);
    return { item, isThere };
  });

const withWaiver = (text: string, waiver: Waiver): string => {
  if (!hasFrontMatter(text)) return withFrontMatter(text, { waived: [waiver] });
  const source = parseFrontMatter(text);
  return joinFrontMatter({ ...source, yaml: appendToList(source, 'waived', waiver) });
};

/** Is shown the Work item before anything is changed, and may refuse. */
type Look = (item: Item) => void;

/** Sets the mark of a task line, and changes no other byte. False where the list has no task line with that id. */
export const tickTask = async (
  store: Store,
  caseId: string,
  { id, done, look }: { id: string; done: boolean; look: Look },
): Promise<{ item: Item; isThere: boolean } | undefined> =>
  changingItem(store, caseId, async (item) => {
    let isThere = false;
    const tick = (text: string): string => {
      const task = tasksIn(text).find((one) => one.id === id);
      isThere = task !== undefined;
      if (task === undefined || task.done === done) return text;
      return `${text.slice(0, task.at)}${done ? 'x' : ' '}${text.slice(task.at + 1)}`;
    };
    await edit(store, item, tick, look);
    const ticked = (entry: ChecklistEntry) => (entry.id === id ? { ...entry, done } : entry);
    if (isThere) grant(store, item, { checklist: checklistOf(item).map(ticked) });
    await reconcileWritten(store, item);
    return { item, isThere };
  });

// What is written is read before: what could not be read back is not written.
const edit = async (
  store: Store,
  item: Item,
  change: (text: string) => string,
  look: Look = () => undefined,
): Promise<void> => {
  const file = `${item.dir}/proof/checklist.md`;
  const { layout } = store;
  const path = join(layout.root, file);
  refuseUnreadable(item, file);
  await untilDone(file, async () => {
    const bytes = readRegularFile(layout.root, path);
    if (bytes === undefined) return true;
    // Somebody has just saved it: what is looked at is what is changed.
    if (sha256(bytes) !== item.files.checklist?.sha) {
      await reconcileInTurn(store, item);
      refuseUnreadable(item, file);
      return false;
    }
    look(item);
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

const refuseUnreadable = ({ files }: Item, file: string): void => {
  const { problem } = files.checklist ?? {};
  if (problem !== undefined) throw unreadable(file, problem);
};
