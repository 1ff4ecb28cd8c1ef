import assert from 'node:assert/strict';
import { existsSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { lockOn } from '../../store/base/locks.ts';
import type { FileProblem } from '../../store/front-matter/problem.ts';
import { headDirOf } from '../../store/fs/git-dir.ts';
import { allItems, itemOf } from '../../store/reconcile/items.ts';
import type { EventBody } from '../../store/records/event.ts';
import { WATCH_PACE } from '../../store/watch/change-scheduler.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  assertTold,
  asyncGit,
  type GitWorkspace,
  gitWorkspace,
  type Place,
} from '../helpers/git-workspace.ts';
import { caseText, dirOf, heard, idOf, proofText, settled } from '../helpers/many-items.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';
import { openCompared } from '../helpers/workspace.ts';

const changed = (...items: number[]): string[] =>
  items.map((n) => `case_state_changed ${dirOf(n)}`).toSorted();

/** A branch with one commit for each of these Work items, which blocks it; `main` is checked out afterwards. */
const branch = async (
  { git, state, commit }: GitWorkspace,
  name: string,
  ...items: number[]
): Promise<void> => {
  await git('checkout', '--quiet', '-b', name);
  for (const n of items) {
    state(n, 'BLOCKED');
    await commit(`block ${n}`);
  }
  await git('checkout', '--quiet', '-');
};

/** A clone of the same repository, for somebody else's commits. */
const elsewhere = async (t: TestContext, { git, workspace }: GitWorkspace) => {
  const root = temporaryDirectory(t);
  const bare = `${root}/shared.git`;
  await git('clone', '--quiet', '--bare', workspace, bare);
  await git('remote', 'add', 'origin', bare);
  await git('fetch', '--quiet', 'origin');
  await git('branch', '--quiet', '--set-upstream-to=origin/main');
  await git('clone', '--quiet', bare, `${root}/clone`);
  const there = asyncGit(`${root}/clone`);
  const push = async (n: number, state: string): Promise<void> => {
    writeFileSync(join(root, 'clone', dirOf(n), 'case.md'), caseText(n, state));
    await there('-c', 'user.name=B', '-c', 'user.email=b@example.com', 'commit', '-qam', 'theirs');
    await there('push', '--quiet');
  };
  return { push };
};

describe('git under a running daemon', () => {
  it('is waited for while it holds its index', async (t) => {
    const kept = await gitWorkspace(t);
    await assertHeldBack(kept);
  });

  it('is waited for where it begins while an earlier change is journaled', async (t) => {
    const kept = await gitWorkspace(t);
    const { running, git, state } = kept;
    const { locks } = running.service.store;
    const lock = lockOf(kept);
    await locks.take(lockOn.item(idOf(0)), async () => {
      state(0, 'BLOCKED');
      await delay(10 * WATCH_PACE.settle_ms);
      writeFileSync(lock, '');
    });
    for (let n = 0; n < 15; n += 1) await git('rev-parse', 'HEAD');
    state(0, 'VERIFYING');
    rmSync(lock);
    await eventually(() => assert.deepEqual(heard(running), changed(0)));
    await settled(running);
    assert.deepEqual(heard(running), changed(0));
  });

  it('that died and left its lock holds nothing up for good, and the lock stays', async (t) => {
    const kept = await gitWorkspace(t);
    const { running, state } = kept;
    const lock = lockOf(kept);
    writeFileSync(lock, '');
    state(0, 'BLOCKED');
    await eventually(() => assert.deepEqual(heard(running), changed(0)));
    rmSync(join(kept.workspace, dirOf(1)), { recursive: true });
    await eventually(() => assert.equal(allItems(running.service.store).length, 5));
    await running.call('PUT', `/cases/${idOf(2)}/state`, { state: 'BLOCKED' });
    await running.restart();
    assert.deepEqual(heard(running), changed(0, 2));
    assert.ok(existsSync(lock));
  });

  it('is told once when it pulls, ahead or to merge', async (t) => {
    const kept = await gitWorkspace(t);
    const { git, state, commit } = kept;
    const { push } = await elsewhere(t, kept);
    await push(0, 'BLOCKED');
    assert.deepEqual(await assertTold(kept, () => git('pull', '--quiet', '--ff-only')), changed(0));
    await push(1, 'BLOCKED');
    await assertTold(kept, async () => state(2, 'VERIFYING'));
    await commit('mine');
    const merge = () => git('pull', '--quiet', '--no-rebase', '--no-edit');
    assert.deepEqual(await assertTold(kept, merge), changed(1));
    await push(3, 'BLOCKED');
    await assertTold(kept, async () => state(4, 'VERIFYING'));
    await commit('mine again');
    const rebase = () => git('pull', '--quiet', '--rebase');
    assert.deepEqual(await assertTold(kept, rebase), changed(3));
    assert.deepEqual(kept.running.logged, []);
  });

  it('is told once when it stashes, and brings back', async (t) => {
    const kept = await gitWorkspace(t);
    const { git, state, write } = kept;
    await assertTold(kept, async () => {
      state(0, 'BLOCKED');
      write(`${dirOf(1)}/proof/two.md`, proofText('not committed'));
    });
    assert.deepEqual(await assertTold(kept, () => git('stash', '--quiet', '-u')), changed(0));
    const pop = () => git('stash', 'pop', '--quiet');
    assert.deepEqual(
      await assertTold(kept, pop),
      [...changed(0), `proof_created ${dirOf(1)}`].toSorted(),
    );
  });

  it('is told of a rebase as of one step, and of what it undoes not at all', async (t) => {
    const kept = await gitWorkspace(t);
    const { git, state, commit } = kept;
    await branch(kept, 'work', 0, 1, 2);
    await assertTold(kept, async () => state(3, 'BLOCKED'));
    await commit('upstream');
    await assertTold(kept, () => git('checkout', '--quiet', 'work'));
    assert.deepEqual(await assertTold(kept, () => git('rebase', '--quiet', 'main')), changed(3));
  });

  it('is told of a rebase that takes longer than a git that died is waited for as of one step', async (t) => {
    const kept = await gitWorkspace(t);
    const { git, state, commit } = kept;
    await branch(kept, 'work', 0, 1, 2, 4, 5);
    await assertTold(kept, async () => state(3, 'BLOCKED'));
    await commit('upstream');
    await assertTold(kept, () => git('checkout', '--quiet', 'work'));
    const slow = ['--exec', `sleep ${WATCH_PACE.git_ms / 3000}`];
    assert.deepEqual(
      await assertTold(kept, () => git('rebase', '--quiet', ...slow, 'main')),
      changed(3),
    );
  });

  it('is told of what stays when a rebase stops at a conflict and goes on', async (t) => {
    const kept = await gitWorkspace(t);
    const { running, git, state, write } = kept;
    await conflicting(kept);
    await assert.rejects(git('rebase', '--quiet', 'main'));
    const file = `${dirOf(0)}/case.md`;
    await untilProblem(kept, file);
    // The commits behind the conflict are not there for now.
    await eventually(() => assert.deepEqual(heard(running), changed(1, 2, 3)));
    running.events.length = 0;
    state(5, 'BLOCKED');
    await eventually(() => assert.deepEqual(heard(running), changed(5)));
    write(file, caseText(0, 'IMPLEMENTING'));
    await eventually(() => assert.deepEqual(heard(running), changed(0, 5)));
    await git('add', '--all');
    assert.deepEqual(await assertTold(kept, () => git('rebase', '--continue')), changed(1, 2));
  });

  it('is told of the way back when a rebase that stopped is aborted', async (t) => {
    const kept = await gitWorkspace(t);
    const { running, git } = kept;
    await conflicting(kept);
    await assert.rejects(git('rebase', '--quiet', 'main'));
    await untilProblem(kept, `${dirOf(0)}/case.md`);
    await eventually(() => assert.deepEqual(heard(running), changed(1, 2, 3)));
    await git('rebase', '--abort');
    await eventually(() => assert.deepEqual(heard(running), changed(1, 2, 3, 1, 2, 3)));
    await settled(running);
    const ways = running.events.map(
      ({ payload }) => 'old_state' in payload && `${payload.old_state} ${payload.new_state}`,
    );
    assert.deepEqual(ways.slice(0, 3).toSorted(), ['BLOCKED OPEN', 'BLOCKED OPEN', 'OPEN BLOCKED']);
    assert.deepEqual(ways.slice(3).toSorted(), ['BLOCKED OPEN', 'OPEN BLOCKED', 'OPEN BLOCKED']);
    assert.equal(itemOf(running.service.store, idOf(0))?.files.case.problem, undefined);
  });

  it('is told once when it picks, resets, switches, restores and cleans', async (t) => {
    const kept = await gitWorkspace(t);
    const { git, write } = kept;
    await branch(kept, 'work', 0, 1, 2);
    const steps: [string[], string[]][] = [
      [['cherry-pick', 'work~2..work'], changed(1, 2)],
      [['reset', '--quiet', '--hard', 'HEAD~1'], changed(2)],
      [['revert', '--no-edit', 'HEAD'], changed(1)],
      [['switch', '--quiet', 'work'], changed(0, 1, 2)],
      [['checkout', '--quiet', 'main', '--', dirOf(0)], changed(0)],
      [['restore', '--staged', '--worktree', '--source=HEAD', '--', '.'], changed(0)],
    ];
    for (const [args, wanted] of steps)
      assert.deepEqual(await assertTold(kept, () => git(...args)), wanted, args.join(' '));
    write('cases/2026-09/new/case.md', caseText(90));
    write(`${dirOf(1)}/proof/two.md`, proofText('not committed'));
    await settled(kept.running);
    assert.ok(itemOf(kept.running.service.store, idOf(90)) !== undefined);
    assert.deepEqual(await assertTold(kept, () => git('clean', '-fdq')), []);
    assert.equal(itemOf(kept.running.service.store, idOf(90)) !== undefined, false);
    assert.ok(statSync(join(kept.workspace, '.dossier/journal')).isDirectory());
  });

  it('that switches to a branch without some Work items takes them along, and brings them back', async (t) => {
    const kept = await gitWorkspace(t);
    const { running, git, state } = kept;
    const { store } = running.service;
    await git('checkout', '--quiet', '-b', 'fewer');
    await git('rm', '-rq', dirOf(0), dirOf(1));
    await git('commit', '--quiet', '--message', 'fewer');
    await settled(running);
    assert.equal(allItems(store).length, 4);
    await assertTold(kept, () => git('switch', '--quiet', 'main'));
    assert.equal(allItems(store).length, 6);
    await assertTold(kept, async () => state(0, 'BLOCKED'));
    assert.deepEqual(running.logged, []);
  });

  it('rebases a thousand Work items as one step', async (t) => {
    const kept = await gitWorkspace(t, 1000);
    const { git, state, commit } = kept;
    await git('checkout', '--quiet', '-b', 'work');
    for (const [from, to] of [
      [0, 300],
      [300, 600],
    ] as const) {
      for (let n = from; n < to; n += 1) state(n, 'BLOCKED');
      await commit('block');
    }
    await git('checkout', '--quiet', 'main');
    for (let n = 600; n < 1000; n += 1) state(n, 'VERIFYING');
    await commit('upstream');
    await git('checkout', '--quiet', 'work');
    const wanted = await assertTold(kept, () => git('rebase', '--quiet', 'main'));
    assert.equal(wanted.length, 400);
  });

  for (const place of ['folder', 'linked', 'submodule'] as const satisfies Place[]) {
    it(`is waited for where the workspace is a ${place}`, async (t) => {
      const kept = await gitWorkspace(t, 6, place);
      const { running, git, state, commit } = kept;
      await branch(kept, 'work', 0, 1);
      assert.deepEqual(
        await assertTold(kept, () => git('checkout', '--quiet', 'work')),
        changed(0, 1),
      );
      await git('checkout', '--quiet', '-');
      await assertTold(kept, async () => state(3, 'BLOCKED'));
      await commit('upstream');
      const onto = (await git('rev-parse', '--abbrev-ref', 'HEAD')).trim();
      await assertTold(kept, () => git('checkout', '--quiet', 'work'));
      assert.deepEqual(await assertTold(kept, () => git('rebase', '--quiet', onto)), changed(3));
      await assertHeldBack(kept);
      assert.deepEqual(running.logged, []);
    });
  }
});

/** `main` and `work` (checked out, three commits) both change Work item 0; nothing is left to tell. */
const conflicting = async (kept: GitWorkspace): Promise<void> => {
  const { running, git, state, commit } = kept;
  await branch(kept, 'work', 0, 1, 2);
  state(0, 'VERIFYING');
  state(3, 'BLOCKED');
  await commit('upstream');
  await git('checkout', '--quiet', 'work');
  await settled(running);
  running.events.length = 0;
};

/** Resolves when the file is listed as one that cannot be read, with its line. */
const untilProblem = ({ running }: GitWorkspace, file: string): Promise<void> =>
  eventually(async () => {
    const { body } = await running.call<FileProblem[]>('GET', '/api/diagnostics');
    assert.deepEqual(
      body.map((problem) => [problem.file, problem.line]),
      [[file, 5]],
    );
  });

const lockOf = ({ workspace }: GitWorkspace): string =>
  join(headDirOf({ root: workspace }) ?? assert.fail('no repository'), 'index.lock');

/** While git holds its index nothing is told, by a daemon that takes no git for dead; afterwards what stands then. */
const assertHeldBack = async (kept: GitWorkspace): Promise<void> => {
  const { running, workspace, git, state } = kept;
  await settled(running);
  await running.stop();
  const open = await openCompared(workspace, {
    state: STATE_DIR,
    clock: () => new Date(),
    follow: () => undefined,
    trust: true,
    report: (error, what) => assert.fail(`${what}: ${error}`),
  });
  try {
    await open.watch(() => undefined, { ...WATCH_PACE, git_ms: 600_000 }).ready;
    const told: string[] = [];
    open.store.journal.onEvents((events) => told.push(...events.map(({ body }) => stateIn(body))));
    const lock = lockOf(kept);
    writeFileSync(lock, '');
    for (const each of ['BLOCKED', 'VERIFYING', 'INVESTIGATING', 'IMPLEMENTING']) {
      state(4, each);
      for (let n = 0; n < 15; n += 1) await git('rev-parse', 'HEAD');
    }
    assert.deepEqual(told, []);
    rmSync(lock);
    await eventually(() => assert.deepEqual(told, [`${idOf(4)} IMPLEMENTING`]));
  } finally {
    await open.close();
  }
};

const stateIn = ({ payload }: EventBody): string =>
  `${payload.case_id} ${'new_state' in payload && payload.new_state}`;
