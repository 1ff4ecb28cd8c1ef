import { itemOf } from '../../store/reconcile/items.ts';
/** Holds every answer of the API against what was on disk while it was made. */
import type { Case } from '../../store/records/case.ts';
import { type ActiveCall, nameOf } from './calls.ts';
import type { Life } from './daemon.ts';
import { judgeDeleted } from './judge.ts';
import { sha256, type ToldCase, tagOf } from './texts.ts';
import {
  aliveIn,
  casesOf,
  dirOf,
  homesEver,
  MEMORY,
  proofsOf,
  type Version,
  Violation,
  type World,
  wasBrokenIn,
} from './world.ts';

/** A call was answered with success. */
export const checkDone = (
  world: World,
  { store }: Pick<Life, 'store'>,
  active: ActiveCall,
  record: Case | undefined,
): void => {
  const { call, id, start } = active;
  const fail = (what: string): never => {
    throw new Violation(`${nameOf(active)} was answered with success, but ${what}`);
  };
  checkAstray(active);
  if (['sweep', 'hint', 'decide'].includes(call.do)) return;
  if (call.do === 'delete') judgeDeleted(world, active);
  if (!wasThere(world, active)) fail('what it asks for was never on disk');
  if (record !== undefined && !isShown(world, active, record))
    fail(`it shows what was not on disk: ${JSON.stringify(record)}`);
  const seen = store.journal.seen.get(id);
  if (active.committed === undefined || seen === undefined || !OF_THE_RECORD.has(call.do)) return;
  const isTold = casesOf(world, id, active.committed).some(({ told }) => isSeen(told, seen.case));
  if (!isTold && !wasBrokenIn(world, itemOf(store, id)?.dir ?? '', start))
    fail('what is there was not told');
};

const checkAstray = (active: ActiveCall): void => {
  if (active.astray !== undefined)
    throw new Violation(`${nameOf(active)} left ${active.astray} in another Work item`);
};

const OF_THE_RECORD = new Set(['title', 'description', 'state']);

const wasThere = (world: World, active: ActiveCall): boolean => {
  const { call, id, proof, start, committed } = active;
  const cases = () => casesOf(world, id, start);
  if (call.do === 'title' || call.do === 'create') {
    const title = call.do === 'title' ? call.value : call.title;
    return cases().some(({ told }) => told.title === title);
  }
  if (call.do === 'description') return cases().some(({ told }) => told.description === call.value);
  if (call.do === 'state') return cases().some(({ told }) => told.state === call.value);
  if (call.do === 'attach') return committed !== undefined;
  if (call.do === 'delete') return isGone(world, active);
  if (call.do === 'verify') return proofsOf(world, proof, start).some(({ told }) => told.verified);
  if (call.do === 'remember')
    return aliveIn(world, start).some(
      ({ path, text }) => MEMORY.test(path) && path.endsWith(call.file) && text === call.text,
    );
  return true;
};

// What somebody removed at the same moment is gone as it was asked.
const isGone = (world: World, { id, start, committed }: ActiveCall): boolean =>
  committed !== undefined || wasAway(world, id, start);

// A record is what was read at some moment of the call; of a file that cannot be read, the last good one.
const isShown = (world: World, { id, start, committed, etag }: ActiveCall, record: Case): boolean =>
  record.problems !== undefined ||
  (committed === undefined && (wasAway(world, id, start) || wasMoved(world, id))) ||
  casesOf(world, id, committed ?? start).some(
    ({ told, version: { text = '' } }) =>
      (etag ?? tagOf(text)) === tagOf(text) &&
      told.title === record.title &&
      told.state === record.state &&
      told.description === record.description,
  );

export const isSeen = (
  told: ToldCase,
  {
    matter,
    description,
  }: { matter: { title: string; type: string; state: string }; description: string },
): boolean =>
  told.title === matter.title &&
  told.type === matter.type &&
  told.state === (matter.state === 'PLANNING' ? 'INVESTIGATING' : matter.state) &&
  sha256(told.description) === description;

/** Whether there was a step, since then, at which no readable case.md had this id. */
export const wasAway = (world: World, id: string, from: number): boolean => {
  const homes = casesOf(world, id, from).map(({ version }) => version);
  let covered = from;
  for (const { from: start, to } of homes.toSorted((a, b) => a.from - b.from))
    if (start <= covered) covered = Math.max(covered, to);
  return covered <= world.now;
};

/** A call was refused, which it may be for what was there while it was made. */
export const checkRefused = (world: World, active: ActiveCall, error: unknown): void => {
  checkAstray(active);
  const { code } = error as { code?: string };
  const { id, start, tag } = active;
  const ever = homesEver(world, id);
  const homes = aliveIn(world, start).filter(
    ({ path, text }) => ever.has(path) && text !== undefined,
  );
  const dirs = [...new Set(homes.map(({ path }) => dirOf(path)))];
  const disturbed =
    wasAway(world, id, start) ||
    wasMoved(world, id) ||
    dirs.some((dir) => wasBrokenIn(world, dir, start) || wasTouched(world, dir, start));
  const reasons: Record<string, boolean> = {
    not_found: wasAway(world, id, world.swept) || active.proof !== '' || disturbed,
    unreadable_record: disturbed,
    file_busy: disturbed,
    may_be_written: disturbed,
    precondition_failed: tag !== undefined && (disturbed || !isOnlyOne(homes, active)),
  };
  if (reasons[code ?? ''] === true) return;
  throw new Violation(`${nameOf(active)} was refused without a reason: ${code} ${error}`, {
    cause: error,
  });
};

// Until a sweep or a hint finds it, nobody knows where it went.
const wasMoved = (world: World, id: string): boolean => {
  const homes = homesEver(world, id);
  return world.versions.some(
    ({ path, text, by, from }) =>
      homes.has(path) && text === undefined && by.kind === 'hand' && from >= world.swept,
  );
};

const wasTouched = (world: World, dir: string, from: number): boolean =>
  aliveIn(world, from).some(
    ({ path, by, from: since }) => path.startsWith(`${dir}/`) && by.kind === 'hand' && since > from,
  );

const isOnlyOne = (homes: Version[], { tag, call, proof }: ActiveCall): boolean =>
  call.do !== 'remember' &&
  proof === '' &&
  homes.every(({ text }) => text !== undefined && tagOf(text) === tag);
