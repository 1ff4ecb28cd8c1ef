/** Somebody deletes a file of the worktree or of the Work item by hand, at any call of a session that is finished. */
import assert from 'node:assert/strict';
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { sweepWorkspace } from '../../store/reconcile/sweep.ts';
import { writeFiles } from '../helpers/repository.ts';
import type { Running } from '../helpers/service.ts';
import { diceOf } from './dice.ts';
import { type Door, doorTo } from './door.ts';
import { type Kept, putBack } from './images.ts';
import { eventsOf, judgeJournal } from './judge.ts';
import { OPERATIONS } from './operations.ts';
import { onStage } from './stage.ts';
import { ask, end, live, must, untilStatus, type World, workspaceOf } from './world.ts';

export interface Deleted {
  path: string;
  /** Before which call, and which one that was. */
  nth: number;
  call: string;
  answer: string;
  wrong: string | undefined;
}

export interface HandSearch {
  seed: number;
  most: number;
  /** Only this, as it is printed. */
  only?: { path: string; nth: number } | undefined;
  tell?: (deleted: Deleted) => void;
}

/** What the session has done: the diff that is kept of it, and that is on disk before it is completed. */
const WORK = { 'a.txt': 'changed\n', 'new.txt': 'new\n', 'dir/deep/c.txt': 'deep\n' };

const FINISH = OPERATIONS.find(({ name }) => name === 'finish work by hand')!;

export const searchHands = ({ seed, most, only, tell }: HandSearch): Promise<Deleted[]> =>
  onStage(async ({ root, images }) => {
    const all: Deleted[] = [];
    const door = await doorTo(root);
    const kept = await images('sessions');
    const { paths, calls } = await rehearse(door, kept);
    const dice = diceOf(seed);
    for (let n = 0; n < (only === undefined ? most : 1); n += 1) {
      const chosen = only ?? { path: dice.pick(paths), nth: 1 + dice.below(calls) };
      const path = paths.find((one) => plainPath(one) === plainPath(chosen.path)) ?? '';
      const deleted = await finishWhile(door, kept, { path, nth: chosen.nth });
      all.push(deleted);
      tell?.(deleted);
    }
    return all;
  });

// Each run has ids and times of its own.
const plainPath = (path: string): string =>
  path.replaceAll(/-[0-9a-f]{8}\b/g, '').replaceAll(/\d{4}-\d\d-\d\dT[\d.-]+Z/g, 'then');

const begin = async (kept: Kept): Promise<{ life: Running; worktree: string }> => {
  const { world } = kept;
  putBack(kept);
  const life = await live(world.root);
  await FINISH.prepare?.(life, world);
  const at = `GET /api/cases/${world.manual.id}/worktree`;
  const { path: worktree } = await must<{ path: string }>(life, at);
  writeFiles(worktree, WORK);
  return { life, worktree };
};

/** The files that there are, relative to the root, and how many calls of the file system it takes. */
const rehearse = async (door: Door, kept: Kept): Promise<{ paths: string[]; calls: number }> => {
  const { world } = kept;
  const { life, worktree } = await begin(kept);
  try {
    const item = join(workspaceOf(world.root), (await itemOf(life, world)).path);
    const paths = [...filesIn(worktree), ...filesIn(item)].map((path) =>
      path.slice(world.root.length + 1),
    );
    door.arm();
    await FINISH.run(life, world);
    const { counts } = door.disarm();
    return { paths, calls: [...counts.values()].reduce((sum, count) => sum + count, 0) };
  } finally {
    door.disarm();
    await end(life);
  }
};

const itemOf = (life: Running, { manual }: World): Promise<{ path: string }> =>
  must<{ path: string }>(life, `GET /cases/${manual.id}`);

const filesIn = (dir: string): string[] =>
  readdirSync(dir, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name !== '.git')
    .map((entry) => join(entry.parentPath, entry.name));

const finishWhile = async (
  door: Door,
  kept: Kept,
  { path, nth }: { path: string; nth: number },
): Promise<Deleted> => {
  const { world } = kept;
  const { life, worktree } = await begin(kept);
  const deleted: Deleted = { path: plainPath(path), nth, call: '', answer: '', wrong: undefined };
  try {
    door.arm({ nth, act: () => rmSync(join(world.root, path), { force: true }) });
    const { status, text } = (await FINISH.run(life, world)) as { status: number; text: string };
    deleted.call = door.disarm().failed[0] ?? 'after the last';
    deleted.answer = `${status}`;
    await judge(life, kept, { path, worktree, status, text });
  } catch (error) {
    deleted.wrong = error instanceof Error ? error.message : String(error);
  } finally {
    door.disarm();
    await end(life);
  }
  return deleted;
};

interface Met {
  path: string;
  worktree: string;
  status: number;
  text: string;
}

// A record that was deleted is told as missing; whatever else was deleted changes nothing of how it ends.
const judge = async (life: Running, { world }: Kept, met: Met): Promise<void> => {
  const { path, worktree, status, text } = met;
  const isRecord = /\/(case|session|plan)\.md$|\/lock\.md$|\.ndjson$/.test(path);
  assert.notEqual(status, 500, text);
  const at = `/cases/${world.manual.id}/sessions/${world.manual.sid}`;
  if (!isRecord) {
    const { error } = await must<{ error: unknown }>(life, `GET ${at}`);
    assert.equal(status, 200, `${text} ${JSON.stringify(error)}`);
    await untilStatus(life, at, 'completed');
  }
  const stays = Object.keys(WORK).filter((name) => !path.endsWith(`/${name}`));
  const left = filesIn(worktree).map((file) => file.slice(worktree.length + 1));
  assert.deepEqual(
    stays.filter((name) => !left.includes(name)),
    [],
    'what nobody deleted is gone',
  );
  await sweepWorkspace(life.service.store);
  await life.restart();
  assert.notEqual((await ask(life, `GET ${at}`)).status, 500);
  await judgeJournal(await eventsOf(life), life);
  if (!isRecord) await FINISH.next(life, world);
};

/** For whoever has to look. */
export const linesOfDeleted = ({ path, nth, call, answer, wrong }: Deleted): string[] => [
  `${path} deleted before ${call}, ${answer}: ${wrong}`,
  `  again: npm run crash -- --only hands --file '${path}' --nth ${nth}`,
];
