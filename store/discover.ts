import { join } from 'node:path';
import { type Item, type ItemFiles, readItem } from './item.ts';
import { moveItem, putItem } from './items.ts';
import { caseFile } from './layout.ts';
import { fileProblem, notAdopted, Problem } from './problem.ts';
import { reconcile, reconcileInTurn } from './reconcile.ts';
import { amendRecord } from './record-file.ts';
import type { Store } from './store.ts';
import { walk } from './walk.ts';

/** Finds Work items that were made, copied or moved by hand under `from`, relative to the workspace. */
export const discover = async (store: Store, from = 'cases'): Promise<void> => {
  const known = (dir: string): boolean => store.items.byDir.has(dir);
  for (const { dir, kind } of walk(store.layout.root, from, known)) {
    store.watch(dir, kind);
    if (kind === 'item') await meet(store, dir);
  }
};

/** Looks at a directory that holds a case.md: a known item, a new one, one that moved here, or one that cannot be. */
export const meet = async (store: Store, dir: string): Promise<void> => {
  const known = store.items.byDir.get(dir);
  if (known !== undefined) await reconcile(store, known.id);
  if (known !== undefined && known.files.case.problem?.code !== 'wrong_id') return;
  const files = await adopted(store, dir);
  const id = files?.case.value?.matter.id;
  if (files === undefined || id === undefined) return estrange(store, dir, files?.case.problem);
  const now = store.items.byDir.get(dir);
  if (now === undefined) await store.turns.take(id, () => settleDown(store, dir, id, files));
  else if (now.id !== id && store.items.byId.has(id)) await changePlaces(store, now, dir, id);
};

// A directory that was made by hand gets what it lacks before it is known by an id.
const adopted = async (store: Store, dir: string): Promise<ItemFiles | undefined> => {
  const { root } = store.layout;
  const files = readItem(root, dir, { seen: store.formerly.get(dir) });
  const changes = files?.case.value?.adopt;
  if (files === undefined || changes === undefined) return files;
  const fix = { sha: files.case.sha, changes };
  try {
    await amendRecord(store.layout, caseFile(join(root, dir)), fix);
  } catch (error) {
    return { ...files, case: { ...files.case, value: undefined, problem: notAdopted(error) } };
  }
  return readItem(root, dir);
};

const estrange = (
  store: Store,
  dir: string,
  problem = new Problem('missing_file', 'There is no case.md here'),
): void => {
  store.items.strangers.set(dir, fileProblem(`${dir}/case.md`, problem));
};

const settleDown = async (
  store: Store,
  dir: string,
  id: string,
  files: ItemFiles,
): Promise<void> => {
  const other = store.items.byId.get(id);
  const seen = store.journal.seen.get(id);
  const first = other?.dir ?? seen?.dir;
  if (first !== undefined && first !== dir && holds(store, first, id))
    return estrange(store, dir, duplicate(first));
  const item = other ?? { id, dir, files, seen, told: undefined, answer: undefined };
  if (other === undefined) putItem(store.items, item);
  else moveItem(store.items, other, dir);
  await reconcileInTurn(store, item);
};

const duplicate = (first: string): Problem =>
  new Problem(
    'duplicate_id',
    `${first} has the same id. Remove the id line here to make this a Work item of its own`,
  );

const holds = ({ layout }: Store, dir: string, id: string): boolean =>
  readItem(layout.root, dir)?.case.value?.matter.id === id;

// Two directories were renamed into one another: the id in the file says who lives where.
const changePlaces = async (store: Store, known: Item, dir: string, id: string): Promise<void> => {
  const other = store.items.byId.get(id) as Item;
  const from = other.dir;
  if (holds(store, from, id)) return;
  moveItem(store.items, other, dir);
  if (store.items.byDir.get(from) === undefined) moveItem(store.items, known, from);
  store.items.byDir.set(dir, other);
  await Promise.all([reconcile(store, id), reconcile(store, known.id)]);
};
