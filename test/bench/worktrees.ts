/** What worktrees cost against the git commands that do the same, in turns on one repository of 5,000 files. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { worktreeDiff } from '../../lib/code/worktrees/inspect/diff.ts';
import { getWorktree } from '../../lib/code/worktrees/read.ts';
import type { Case } from '../../store/records/case.ts';
import type { WorktreeRecord } from '../../store/records/worktree.ts';
import { writeFiles } from '../helpers/repository.ts';
import { type Running, startOn } from '../helpers/service.ts';
import { isThisBuild } from './build.ts';
import { makePlace, removePlace } from './place.ts';
import type { Row } from './report.ts';
import { childrenCpu } from './usage.ts';

const FILES = 5000;
const ROUNDS = 9;
const LOOKS = 5;
const RESOLUTION_MS = 5;

export const benchWorktrees = async (): Promise<Row[]> => {
  // It calls functions of this build's modules.
  if (!isThisBuild()) return [];
  const root = makePlace();
  const repository = join(root, 'repository');
  try {
    await makeRepository(repository, FILES);
    const workspace = join(root, 'workspace');
    mkdirSync(workspace);
    const running = await startOn(workspace, repository);
    try {
      return await measure(running, { root, repository });
    } finally {
      await running.stop();
    }
  } finally {
    removePlace(root);
  }
};

const git = (cwd: string, ...args: string[]) =>
  promisify(execFile)('git', args, { cwd, maxBuffer: 1 << 26 });

/** A repository with so many files of the usual size, in one commit. */
export const makeRepository = async (root: string, count: number): Promise<void> => {
  const content = 'a line of text\n'.repeat(40);
  const files = Array.from({ length: count }, (_, n) => [
    `src/${n % 100}/${n}.ts`,
    `${n}${content}`,
  ]);
  writeFiles(root, Object.fromEntries(files));
  await git(root, 'init', '--quiet', '--initial-branch=main');
  await git(root, 'add', '--all');
  await git(root, '-c', 'user.name=b', '-c', 'user.email=b@b', 'commit', '--quiet', '-m', 'x');
};

interface Cost {
  wall: number;
  cpu: number;
}

const costOf = async (work: () => Promise<unknown>): Promise<Cost> => {
  const own = process.cpuUsage();
  const children = childrenCpu();
  const from = performance.now();
  await work();
  const wall = performance.now() - from;
  const { user, system } = process.cpuUsage(own);
  return { wall, cpu: (user + system) / 1000 + childrenCpu() - children };
};

interface Place {
  root: string;
  repository: string;
}

const measure = async (running: Running, place: Place): Promise<Row[]> => {
  const costs = { create: pair(), health: pair(), diff: pair(), grown: pair() };
  let stall = 0;
  // All stay until the end: a file system that has just removed thousands of files is slow to make others.
  for (let round = 0; round < ROUNDS; round++) {
    const made = await makeBoth(running, place, round, costs.create);
    stall = Math.max(stall, made.stall);
    await change(made);
    await lookAtBoth(running, made, costs);
  }
  return [
    ...rowsOf(['worktree-create', 'worktree create'], costs.create, {
      limit: 'git worktree add',
      target: '<= 1.15',
    }),
    {
      key: 'worktree-create-stall',
      what: 'stall at create',
      measured: `${stall.toFixed(1)} ms`,
      limit: '20 ms',
      ratio: stall / 20,
      target: '<= 1',
    },
    ...rowsOf(['worktree-health', 'worktree health'], costs.health, {
      limit: 'git status',
      target: '<= 1.3',
    }),
    ...rowsOf(['worktree-diff', 'worktree diff'], costs.diff, {
      limit: 'git ls-files + git diff',
      target: '<= 1.3',
    }),
    ...rowsOf(['worktree-diff-new', 'worktree diff, new files'], costs.grown, {
      limit: 'git add -N + git diff',
      target: '<= 1.3',
    }),
  ];
};

interface Made {
  record: WorktreeRecord;
  plain: string;
  stall: number;
}

const makeBoth = async (
  { call, service }: Running,
  { root, repository }: Place,
  round: number,
  create: Pair,
): Promise<Made> => {
  const { body: item } = await call<Case>('POST', '/cases', {
    title: `Round ${round}`,
    type: 'chore',
  });
  const plain = join(root, `plain-${round}`);
  // A new one each time: between two, one would count the pause.
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  create.ours.push(await costOf(() => call('POST', '/api/worktrees', { case_id: item.id })));
  delay.disable();
  const args = ['worktree', 'add', '--quiet', '-b', `plain-${round}`, plain, 'main'];
  create.gits.push(await costOf(() => git(repository, ...args)));
  return {
    record: getWorktree(service.store, item.id),
    plain,
    stall: delay.max / 1e6 - RESOLUTION_MS,
  };
};

// What git wrote in one tick of the clock with its index it has to read again, until it writes that once more.
const TICK_MS = 1100;

const change = async ({ record, plain }: Made): Promise<void> => {
  for (const path of [record.path, plain])
    writeFiles(path, { 'src/1/1.ts': 'changed\n', 'src/2/2.ts': 'changed\n' });
  await setTimeout(TICK_MS);
  for (const path of [record.path, plain]) await git(path, 'status');
};

const lookAtBoth = async (
  { call, service }: Running,
  { record, plain }: Made,
  { health, diff, grown }: Record<'health' | 'diff' | 'grown', Pair>,
): Promise<void> => {
  const ask = () => call('GET', `/api/worktrees/${record.case_id}/health`);
  const ours = () => worktreeDiff(service.git, record);
  const gits = async (...first: string[]) => {
    await git(plain, ...first);
    await git(plain, 'diff', '--binary', 'main');
  };
  await inTurns(health, ask, () => git(plain, 'status', '--porcelain=v2', '--branch', '-uall'));
  await inTurns(diff, ours, () => gits('ls-files', '--others', '--exclude-standard'));
  for (const path of [record.path, plain]) writeFiles(path, { 'src/new.ts': 'new\n' });
  await inTurns(grown, ours, () => gits('add', '--intent-to-add', '--all'));
};

const inTurns = async (
  costs: Pair,
  ours: () => Promise<unknown>,
  gits: () => Promise<unknown>,
): Promise<void> => {
  for (let look = 0; look < LOOKS; look++) {
    costs.ours.push(await costOf(ours));
    costs.gits.push(await costOf(gits));
  }
};

interface Pair {
  ours: Cost[];
  gits: Cost[];
}

const pair = (): Pair => ({ ours: [], gits: [] });

const rowsOf = (
  [key, what]: [key: string, what: string],
  { ours, gits }: Pair,
  { limit, target }: { limit: string; target: string },
): Row[] =>
  (['wall', 'cpu'] as const).map((of) => {
    const [own, git] = [ours, gits].map((costs) => typical(costs.map((cost) => cost[of])));
    return {
      key: `${key}-${of}`,
      what: `${what}, ${of}`,
      measured: `${own?.toFixed(1)} ms`,
      limit: `${limit} ${git?.toFixed(1)} ms`,
      ratio: (own ?? 0) / (git ?? 1),
      target,
    };
  });

// CPU time of children is counted in ticks of 10 ms: only many of them together say something.
const typical = (values: number[]): number => {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.slice(Math.floor(sorted.length / 4), Math.ceil((sorted.length * 3) / 4));
  return middle.reduce((sum, value) => sum + value, 0) / middle.length;
};
