import { join } from 'node:path';
import { lockOn } from '../base/locks.ts';
import { isNewDoubt, isSound } from '../front-matter/entry.ts';
import {
  asProblem,
  fileProblem,
  fileProblems,
  notAdopted,
  Problem,
} from '../front-matter/problem.ts';
import { duplicateId } from '../front-matter/problems.ts';
import { editKnown, placeIn } from '../front-matter/record-file.ts';
import { repeat } from '../fs/retry.ts';
import { CASE_FILE, caseFile } from '../layout.ts';
import { attentionOf, type Store } from '../store.ts';
import type { Item } from './item.ts';
import { type ItemFiles, type KnownFiles, readItem } from './item-files.ts';
import { estrange, itemIn, itemOf, moveItem, putItem } from './items.ts';
import { reconcile, reconcileInTurn } from './reconcile.ts';
import { itemsOf } from './state.ts';
import { walk } from './walk.ts';

/** Finds Work items that were made, copied or moved by hand under `from`, relative to the workspace. */
export const discover = async (store: Store, from = 'cases'): Promise<void> => {
  const known = (dir: string): boolean => itemIn(store, dir) !== undefined;
  for (const { dir, kind } of walk(store.layout.root, from, known)) {
    if (kind === 'closed') meetClosed(store, dir);
    else attentionOf(store).watch(dir, kind);
    if (kind === 'item') await meet(store, dir);
  }
};

/** Nobody may look into a directory: whether it is a Work item, or a folder of them, cannot be told. */
export const meetClosed = (store: Store, dir: string): void =>
  estrange(store, dir, [fileProblem(dir, CLOSED)]);

export const CLOSED = asProblem(Object.assign(new Error(), { code: 'EACCES' }));

/** Looks at a directory that holds a case.md: a known item, a new one, one that moved here, or one that cannot be. */
export const meet = async (store: Store, dir: string): Promise<void> => {
  const known = itemIn(store, dir);
  if (known !== undefined) await reconcile(store, known.id, isPatient(store));
  if (known !== undefined && known.files.case.problem?.code !== 'wrong_id') return;
  const files = await adopted(store, dir);
  if (files?.case.doubted_at !== undefined) return doubt(store, dir, files);
  itemsOf(store).doubtful.delete(dir);
  const id = files?.case.value?.matter.id;
  if (files === undefined || id === undefined) return strange(store, dir, files?.case.problem);
  const now = itemIn(store, dir);
  if (now === undefined)
    await store.locks.take(lockOn.item(id), () => settleDown(store, dir, id, files));
  else if (now.id !== id && itemOf(store, id) !== undefined)
    await changePlaces(store, now, dir, id);
};

// A directory that was made by hand gets what it lacks before it is known by an id: one that is nowhere on disk yet would
// be another after a crash. While somebody saves the file over and over, it is nobody's yet.
const adopted = async (store: Store, dir: string): Promise<ItemFiles | undefined> => {
  const { root } = store.layout;
  let files = readItem(root, dir, whatIsKnown(store, dir));
  const done = await repeat(async () => {
    const changes = files?.case.value?.adopt;
    if (files === undefined || changes === undefined || !isSound(files.case)) return { files };
    try {
      await editKnown(store.layout, caseFile(join(root, dir)), files.case.sha, () => ({ changes }));
    } catch (error) {
      return { files: unusable(files, notAdopted(error)) };
    }
    files = readItem(root, dir);
    return undefined;
  });
  if (done !== undefined) return done.files;
  return files && unusable(files, notAdopted('case.md changed again and again'));
};

const unusable = (files: ItemFiles, problem: Problem): ItemFiles => ({
  ...files,
  case: { ...files.case, value: undefined, problem },
});

/** Whether somebody can look again at what may be half saved. */
export const isPatient = (store: Store): boolean => attentionOf(store).lookAgain !== undefined;

const whatIsKnown = (store: Store, dir: string): KnownFiles => {
  const { doubtful, formerly, strangers } = itemsOf(store);
  const files = doubtful.get(dir);
  const patient = isPatient(store) && !strangers.has(dir);
  return { ...(files && { files }), seen: formerly.get(dir), patient };
};

const doubt = (store: Store, dir: string, files: ItemFiles): void => {
  const { doubtful } = itemsOf(store);
  const before = doubtful.get(dir);
  doubtful.set(dir, files);
  if (isNewDoubt(files.case, before?.case)) attentionOf(store).lookAgain?.(dir);
};

const strange = (
  store: Store,
  dir: string,
  problem = new Problem('missing_file', 'There is no case.md here'),
): void => estrange(store, dir, fileProblems(`${dir}/${CASE_FILE}`, problem));

const settleDown = async (
  store: Store,
  dir: string,
  id: string,
  files: ItemFiles,
): Promise<void> => {
  const other = itemOf(store, id);
  const seen = store.journal.seen.get(id);
  const first = other?.dir ?? seen?.dir;
  if (first !== undefined && first !== dir && holds(store, first, id))
    return strange(store, dir, files.case.problem ?? secondOf(store, dir, first));
  const item = other ?? { id, dir, files, seen, told: undefined, answer: undefined };
  if (other === undefined) putItem(store, item);
  else moveItem(store, other, dir);
  itemsOf(store).met(store, item);
  await reconcileInTurn(store, item, isPatient(store));
};

const secondOf = ({ layout }: Store, dir: string, first: string): Problem =>
  duplicateId(first, placeIn(layout.root, caseFile(join(layout.root, dir)), 'id'));

// One that cannot be read, or looked into, at the moment still holds what it held: a copy of it is not the first.
const holds = ({ layout }: Store, dir: string, id: string): boolean => {
  const entry = readItem(layout.root, dir)?.case;
  return entry !== undefined && (entry.value === undefined || entry.value.matter.id === id);
};

// Two directories were renamed into one another: the id in the file says who lives where.
const changePlaces = async (store: Store, known: Item, dir: string, id: string): Promise<void> => {
  const other = itemOf(store, id) as Item;
  const from = other.dir;
  if (holds(store, from, id)) return;
  moveItem(store, other, dir);
  if (itemIn(store, from) === undefined) moveItem(store, known, from);
  itemsOf(store).byDir.set(dir, other);
  await Promise.all([reconcile(store, id), reconcile(store, known.id)]);
};
