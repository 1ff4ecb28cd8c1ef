/**
 * The program that strace watches: runs rows of operations, each on a world as it was. `record.js ROOT OUT`: OUT is a
 * directory with the rows and the worlds, for what each row began with and came to.
 */
import { accessSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SAID } from './calls.ts';
import { imageFor, type Kept, keptFrom, putBack } from './images.ts';
import { OPERATIONS, type Operation } from './operations.ts';
import { type HandedOver, readPacked, writePacked } from './packed.ts';
import type { Row } from './rows.ts';
import { describeTree, encodeTree, keyOf, readTree, type Tree } from './tree.ts';
import { letWatch } from './unwatched.ts';
import { look, type Views } from './views.ts';
import { end as endLife, live, type World } from './world.ts';

/** What is handed over of one row. */
export interface Recorded {
  world: World;
  operations: string[];
  /** The tree when the trace begins. */
  base: ReturnType<typeof encodeTree>;
  /** What could be read before the first operation, and after each. */
  views: Views[];
  /** Which of them were answered with success. */
  answered: boolean[];
  /** The tree at the end, in lines. */
  end: string[];
}

const say = (what: string): void => {
  try {
    accessSync(`${SAID}${what}`);
  } catch {
    // It is there for strace alone.
  }
};

const [root = '', out = ''] = process.argv.slice(2);
const { rows, images } = readPacked<HandedOver>(join(out, 'rows'));
const worlds = new Map<string, Kept>(
  Object.entries(images).map(([image, kept]) => [image, keptFrom(kept)]),
);
letWatch(false);

const record = async (row: Row): Promise<Recorded> => {
  const all = row.operations.map((name) => OPERATIONS.find((one) => one.name === name)!);
  const kept = worlds.get(imageFor(all))!;
  putBack(kept);
  const { world } = kept;
  const life = await live(root);
  for (const one of new Set(all)) await one.prepare?.(life, world);
  const views = [await look(life, world)];
  const base = await readStill();
  life.service.store.journal.onEvents((events) => {
    for (const { id } of events) say(`${row.number}/told/${id}`);
  });
  say(`${row.number}/begin`);
  const answered: boolean[] = [];
  for (const [index, one] of all.entries()) {
    say(`${row.number}/sent/${index}`);
    answered.push(await perform(one, life, world, () => say(`${row.number}/answered/${index}`)));
    say(`${row.number}/done/${index}`);
    views.push(await look(life, world));
  }
  const end = describeTree(await readStill());
  say(`${row.number}/end`);
  await endLife(life);
  return { world, operations: row.operations, base: encodeTree(base), views, answered, end };
};

/** The tree once nothing changes it any more: what git does of itself takes a moment. */
const readStill = async (): Promise<Tree> => {
  for (let tree = readTree(root); ; ) {
    await delay(20);
    const now = readTree(root);
    if (keyOf(now) === keyOf(tree)) return now;
    tree = now;
  }
};

const perform = async (
  one: Operation,
  life: Awaited<ReturnType<typeof live>>,
  world: World,
  answered: () => void,
): Promise<boolean> => {
  const { status } = (await one.run(life, world)) as { status: number };
  if (status < 300) answered();
  await one.calm?.(life, world);
  return status < 300;
};

for (const row of rows) {
  const recorded = await record(row);
  writePacked(join(out, `${row.number}`), recorded);
}
process.exit(0);
