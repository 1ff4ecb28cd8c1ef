/** One run: a workspace, a daemon that comes and goes, calls and hands at once, and at the end everything agrees. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { allItems } from '../../store/reconcile/items.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { checkDone, checkRefused } from './answers.ts';
import type { ActiveCall, Call, Tag } from './calls.ts';
import { bury, type Life, openLife } from './daemon.ts';
import { checkQuiet } from './end.ts';
import { makeGit, mend } from './hand.ts';
import { checkJournal } from './journal.ts';
import { type Plan, planNamed, type Round } from './plan.ts';
import { createSchedule, Killed, type Schedule } from './schedule.ts';
import { closeFiles, inLife } from './steps.ts';
import { tagOf } from './texts.ts';
import {
  createWorld,
  dirOf,
  homesOf,
  itemDirs,
  note,
  observe,
  PROOF,
  Violation,
  type World,
} from './world.ts';

interface Run {
  world: World;
  http: boolean;
  /** Milliseconds that have passed since it began, as far as the daemon knows. */
  later: number;
  /** The ids that callers know. */
  ids: string[];
  /** Tags of long ago. */
  tags: Map<string, string>;
  schedule: Schedule;
  life: Life | undefined;
  /** The events that former lives have heard. */
  heard: string[];
  calls: number;
}

/** How many steps a run made, and how many saves by rename fell into the one moment that cannot be closed. */
export interface Outcome {
  steps: number;
  unavoidable: number;
}

/** Runs a plan; throws the first rule that was broken, with the story that led to it. */
export const runPlan = async (plan: Plan): Promise<Outcome> => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'dossier-model-')));
  mkdirSync(join(root, 'cases'));
  if (plan.git) makeGit(root);
  const run = begin(root, plan.http === true);
  try {
    for (const round of plan.rounds) await runRound(run, round);
    await finish(run);
    return { steps: run.world.now, unavoidable: run.world.unavoidable };
  } catch (error) {
    throw new Error(`${error}\n\n${planNamed(plan)}\n\n${run.world.log.join('\n')}`, {
      cause: error,
    });
  } finally {
    await stop(run).catch(() => undefined);
    rmSync(root, { recursive: true, force: true });
  }
};

const begin = (root: string, http: boolean): Run => {
  const world = createWorld(root);
  const run: Run = {
    world,
    http,
    later: 0,
    ids: [],
    tags: new Map(),
    schedule: undefined as unknown as Schedule,
    life: undefined,
    heard: [],
    calls: 0,
  };
  run.schedule = createSchedule(world, () => run.later);
  return run;
};

const runRound = async (run: Run, round: Round): Promise<void> => {
  if (run.schedule.state.dead) run.schedule = createSchedule(run.world, () => run.later);
  const { schedule } = run;
  note(run.world, '——');
  schedule.begin(round);
  const calls = makeCalls(run, round.calls);
  await schedule.run([calls]);
  if (!schedule.state.dead) await calls;
  if (!schedule.state.dead && round.end === 'stop') await closeLife(run);
  if (schedule.state.dead) await lose(run);
  if (schedule.state.failure !== undefined) throw schedule.state.failure;
};

const makeCalls = async (run: Run, calls: readonly Call[]): Promise<void> => {
  await openIfClosed(run);
  for (const { id } of run.life ? allItems(run.life.store) : [])
    if (!run.ids.includes(id)) run.ids.push(id);
  await Promise.all(calls.map((call) => makeCall(run, call)));
};

const openIfClosed = async (run: Run): Promise<void> => {
  if (run.life !== undefined) return;
  const { world, schedule } = run;
  world.swept = world.now;
  const clock = (): Date => new Date(Date.UTC(2026, 0, 1) + world.now * (world.now % 3 ? 1 : -1));
  const life = await inLife(schedule.stepper, undefined, () =>
    openLife(world.root, clock, run.http),
  );
  note(world, 'the daemon is open');
  const known = life.heard.map(({ id }) => id);
  if (run.heard.some((id, n) => known[n] !== id))
    throw new Violation('An event that was heard is not in the journal');
  run.life = life;
};

const makeCall = async (run: Run, call: Call): Promise<void> => {
  const { world, schedule } = run;
  const life = run.life as Life;
  const active = prepared(run, call);
  const swept = world.now;
  if (call.do === 'decide') run.later += 300;
  try {
    const record = await inLife(schedule.stepper, active, () => life.perform(active));
    if (schedule.state.dead) return;
    note(world, `API#${active.number} is done`);
    checkDone(world, life, active, record);
    if (call.do === 'sweep') world.swept = swept;
    if (call.do === 'create') run.ids.push(active.id);
  } catch (error) {
    if (schedule.state.dead || error instanceof Killed) return;
    note(world, `API#${active.number} is refused: ${error}`);
    try {
      checkRefused(world, active, error);
    } catch (violation) {
      schedule.state.failure ??= violation;
    }
  }
};

const prepared = (run: Run, call: Call): ActiveCall => {
  run.calls += 1;
  const { world, ids } = run;
  const id =
    call.do === 'create' ? newId(run) : (chosen(ids, 'item' in call ? call.item : 0) ?? NOBODY);
  const proofs = call.do === 'verify' ? proofIdsOf(run, id) : [];
  const proof = call.do === 'verify' ? (chosen(proofs, call.proof) ?? NOBODY) : '';
  const tag = 'tag' in call ? tagFor(run, call, { id, proof }) : undefined;
  const active = {
    number: run.calls,
    call,
    id,
    proof,
    tag,
    start: world.now,
    committed: undefined,
    etag: undefined,
    astray: undefined,
  };
  note(world, `API#${active.number} ${JSON.stringify({ ...call, id, tag })}`);
  return active;
};

// The same in every run, so that a plan that failed fails again.
const newId = ({ calls }: Run): string => `${String(calls).padStart(8, '0')}${NOBODY.slice(8)}`;

const chosen = <T>(from: readonly T[], index: number): T | undefined => from[index % from.length];

const proofIdsOf = ({ life }: Run, id: string): string[] =>
  Object.keys(life?.store.journal.seen.get(id)?.proofs ?? {});

const tagFor = (
  { world, tags }: Run,
  call: Extract<Call, { tag: Tag }>,
  { id, proof }: { id: string; proof: string },
): string | undefined => {
  const [home = ''] = homesOf(world, id);
  const key = `${call.do} ${id} ${proof}`;
  const text = world.files.get(tagged(world, call, { home, proof })) ?? '';
  const old = tags.get(key) ?? tagOf('long ago');
  tags.set(key, tagOf(text));
  if (call.tag === 'none') return undefined;
  return call.tag === 'right' ? tagOf(text) : old;
};

const tagged = (
  { files }: World,
  call: Call,
  { home, proof }: { home: string; proof: string },
): string => {
  if (call.do === 'remember') return `${home}/memory/${call.file}`;
  if (call.do !== 'verify') return `${home}/case.md`;
  const found = [...files].find(
    ([path, text]) => PROOF.test(path) && dirOf(path) === home && text.includes(`id: ${proof}`),
  );
  return found?.[0] ?? '';
};

const closeLife = async (run: Run): Promise<void> => {
  const { life, schedule, world } = run;
  if (life === undefined) return;
  note(world, 'the daemon is stopped');
  await schedule.run([inLife(schedule.stepper, undefined, () => life.close())]);
  hear(run, life);
  run.life = undefined;
};

const lose = async (run: Run): Promise<void> => {
  if (run.life !== undefined) hear(run, run.life);
  run.life = undefined;
  await closeFiles(run.schedule.stepper);
  await bury(run.world.root);
};

// Every life knows all events of the former ones, and no more than those that are in the journal.
const hear = (run: Run, { heard }: Life): void => {
  run.heard = heard.map(({ id }) => id);
};

const stop = async (run: Run): Promise<void> => {
  if (run.schedule.state.dead) return lose(run);
  run.schedule.begin({ hands: [], picks: [], end: 'go on' });
  await closeLife(run);
};

/** Everything settles: what is broken is mended, all is compared, and what is gone is gone for good. */
const finish = async (run: Run): Promise<void> => {
  await settle(run);
  await checkQuiet(run.world, run.life as Life);
  for (const dir of itemDirs(run.world)) for (const _ of mend(run.world, dir, 'rename'));
  observe(run.world, { kind: 'hand', name: 'mending', between: undefined });
  await settle(run);
  await checkQuiet(run.world, run.life as Life);
  const events = run.life?.heard.length;
  await settle(run);
  checkJournal(run.world, run.life as Life);
  if (events !== run.life?.heard.length) throw new Error('Looking again made events');
};

const settle = async (run: Run): Promise<void> => {
  for (const calls of [[SWEEP], [DECIDE], [SWEEP]])
    await runRound(run, { calls, hands: [], picks: [], end: 'go on' });
};

const SWEEP: Call = { do: 'sweep' };
const DECIDE: Call = { do: 'decide' };
