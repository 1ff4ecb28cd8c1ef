/** The property: whatever is written into a workspace, nothing runs, is sent or is loosened before the operator says so. */
import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import type { Settings } from '../../store/records/settings.ts';
import { eventually } from '../helpers/eventually.ts';
import { type Attacker, attack, attackerIn } from './attacks.ts';
import { judge, judgeDoor, judgePlanning, judgeProofs, type Told, toldIn } from './judge.ts';
import { operate } from './operator.ts';
import type { World } from './world.ts';

const quiet = (on: Attacker): Promise<void> =>
  eventually(async () => assert.ok(await on.host.isQuiet(on.key), 'a run goes on'), 30_000);

/** Starts the daemon where it does not run. False where it refuses such a workspace, by which nothing runs either. */
const opens = async ({ host }: Attacker, done: string[]): Promise<boolean> => {
  if (host.isUp()) return true;
  try {
    await host.start();
    done.push('start');
    return true;
  } catch (error) {
    done.push(`no start: ${String(error).slice(0, 200)}`);
    return false;
  }
};

const operateUntilKilled = async (on: Attacker): Promise<string[]> => {
  const killed = delay(on.dice.below(250)).then(() => on.host.stop());
  const [done] = await Promise.all([operate(on, 5), killed]);
  return [...done, 'killed'];
};

/** What the operator does while the workspace is attacked; at its end the daemon runs, or does not. */
const live = async (on: Attacker, done: string[], attacked: () => void): Promise<void> => {
  done.push(...(await operate(on, on.dice.below(4))));
  attacked();
  done.push(...(await operate(on, 1 + on.dice.below(5))));
  if (on.host.isKilled) done.push(...(await operateUntilKilled(on)));
  else if (on.dice.below(4) === 0) await on.host.stop();
};

const look = async (on: Attacker, before: Told, inForce?: () => Settings): Promise<void> => {
  await on.host.sweep(on.key);
  await quiet(on);
  await judgeDoor(on);
  await judgeProofs(on);
  await judgePlanning(on);
  await judge(on, before, inForce?.());
};

/** One workspace, attacked before it is opened and while it is open. */
export const tryOnce = async (
  world: World,
  seed: number,
  inForce?: () => Settings,
): Promise<string[]> => {
  world.reset();
  const on = attackerIn(world, seed);
  const done: string[] = [];
  let before = toldIn(on);
  const attacked = (): void => {
    const then = toldIn(on);
    done.push(...attack(on));
    const now = toldIn(on);
    before = {
      approved: before.approved + now.approved - then.approved,
      tools: before.tools + now.tools - then.tools,
      streams: 0,
    };
  };
  try {
    if (on.dice.below(4) > 0) attacked();
    if (await opens(on, done)) {
      await live(on, done, attacked);
      if (await opens(on, done)) await look(on, before, inForce);
    }
    await on.host.stop();
    await judge(on, before);
  } catch (error) {
    await on.host.stop();
    const why = error instanceof Error ? error.message : String(error);
    throw new Error(`seed ${seed}: ${why}\n  ${done.join('\n  ')}`, { cause: error });
  }
  return done;
};

interface Wanted {
  first: number;
  runs: number;
  /** The settings in force, as the daemon in this process has them. */
  inForce?: () => Settings;
}

/** So many, from a seed on. Throws all that was found, up to some. */
export const tryMany = async (world: World, { first, runs, inForce }: Wanted): Promise<void> => {
  const failed: unknown[] = [];
  for (let seed = first; seed < first + runs && failed.length < MOST; seed += 1)
    await tryOnce(world, seed, inForce).catch((error: unknown) => failed.push(error));
  if (failed.length > 0) throw new AggregateError(failed, failed.map(String).join('\n'));
};

const MOST = 20;
