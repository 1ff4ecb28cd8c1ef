/** When all has settled: memory, journal and answers say what the files say, and nothing is left lying about. */
import { readCase } from '../../store/cases/cases.ts';
import { memoryFilesOf } from '../../store/cases/memory.ts';
import { type Item, proofsOf as proofsIn } from '../../store/reconcile/item.ts';
import { allItems, itemIn, itemOf } from '../../store/reconcile/items.ts';
import { isSeen } from './answers.ts';
import { type Life, leftovers } from './daemon.ts';
import { caseIn, proofIn, sha256 } from './texts.ts';
import { CASE, dirOf, homesOf, itemDirs, MEMORY, PROOF, Violation, type World } from './world.ts';

/** Throws unless the daemon knows exactly what is there. */
export const checkQuiet = async (world: World, life: Life): Promise<void> => {
  const { store, reported } = life;
  if (reported.length > 0) throw new Violation(`It went wrong: ${reported.join('; ')}`);
  if (leftovers(world.root).length > 0) throw new Violation('Something is left in .dossier/tmp');
  const problems = new Set(store.problems.all().map(({ file }) => file));
  for (const dir of itemDirs(world)) checkKnown(world, life, { dir, problems });
  for (const item of allItems(store)) await checkItem(world, life, item);
  for (const file of problems) checkProblem(world, life, file);
};

interface Known {
  dir: string;
  problems: Set<string>;
}

// A directory with a case.md is a Work item, or it is said why not.
const checkKnown = (world: World, { store }: Life, { dir, problems }: Known): void => {
  const path = `${dir}/case.md`;
  const told = caseIn(world.files.get(path) ?? '');
  const item = itemIn(store, dir);
  if (problems.has(path)) return;
  if (told === undefined) throw new Violation(`${path} cannot be read, and nobody says so`);
  if (item === undefined) throw new Violation(`${path} is not known`);
  if (item.id !== told.id) throw new Violation(`${path} is known by another id, ${item.id}`);
};

const checkItem = async (world: World, { store }: Life, item: Item): Promise<void> => {
  const { id, dir, seen } = item;
  const path = `${dir}/case.md`;
  const text = world.files.get(path);
  if (!hasFiles(world, dir)) throw new Violation(`${id} is known in ${dir}, where nothing is`);
  if (item.files.case.problem !== undefined || text === undefined) return;
  const told = caseIn(text);
  if (told === undefined || seen === undefined) throw new Violation(`${path} was never told`);
  if (!isSeen(told, seen.case)) throw new Violation(`${path} was not told as it is: ${text}`);
  if (store.journal.seen.get(id) !== seen) throw new Violation(`${id} is told elsewhere`);
  const record = await readCase(store, id);
  if (record === undefined || record.title !== told.title || record.state !== told.state)
    throw new Violation(`${path} is shown as ${JSON.stringify(record)}`);
  if (record.description !== told.description) throw new Violation(`${path}: another description`);
  checkProofs(world, item);
  checkMemory(world, { store }, item);
};

const hasFiles = ({ files }: World, dir: string): boolean =>
  [...files.keys()].some((path) => path.startsWith(`${dir}/`));

const checkProofs = (world: World, item: Item): void => {
  if ([...item.files.proofs.values()].some(({ problem }) => problem !== undefined)) return;
  const expected = [...world.files].flatMap(([path, text]) => {
    const told = PROOF.test(path) && dirOf(path) === item.dir ? proofIn(text) : undefined;
    return told === undefined ? [] : [`${told.id} ${told.verified} ${sha256(told.content)}`];
  });
  const known = proofsIn(item).map(
    ({ file: { matter, content_sha256 } }) => `${matter.id} ${matter.verified} ${content_sha256}`,
  );
  const told = Object.entries(item.seen?.proofs ?? {}).map(
    ([id, { matter, content }]) => `${id} ${matter.verified} ${content}`,
  );
  for (const [name, list] of Object.entries({ known, told }))
    if (list.toSorted().join() !== [...new Set(expected)].toSorted().join())
      throw new Violation(`${item.dir}: the proofs ${name} are ${list}, on disk are ${expected}`);
};

const checkMemory = (world: World, { store }: Pick<Life, 'store'>, { id, dir }: Item): void => {
  const expected = [...world.files]
    .filter(([path]) => MEMORY.test(path) && dirOf(path) === dir)
    .map(([path, text]) => `${path.split('/').at(-1)} ${sha256(text)}`);
  const shown = (memoryFilesOf(store, id) ?? []).map((each) => `${each.filename} ${each.sha256}`);
  if (shown.toSorted().join() !== expected.toSorted().join())
    throw new Violation(`${dir}: memory is shown as ${shown}, on disk is ${expected}`);
};

// What is said to be wrong is wrong.
const checkProblem = (world: World, { store }: Life, file: string): void => {
  const text = world.files.get(file);
  if (text === undefined) return;
  if (PROOF.test(file) && proofIn(text) !== undefined)
    throw new Violation(`${file} is said to be unreadable: ${text}`);
  const { id } = (CASE.test(file) ? caseIn(text) : undefined) ?? { id: undefined };
  // Where a file cannot be read, nobody knows whose it is, nor who lives elsewhere for it.
  if (id === undefined || itemDirs(world).some((dir) => isUnreadable(world, dir))) return;
  if (homesOf(world, id).length < 2) throw new Violation(`${file} is said to be unusable: ${text}`);
  if (itemOf(store, id) === undefined)
    throw new Violation(`${file} is a second one, and there is no first`);
};

const isUnreadable = ({ files }: World, dir: string): boolean =>
  caseIn(files.get(`${dir}/case.md`) ?? '') === undefined;
