import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { restore } from '../../../../lib/code/snapshots/restore.ts';
import { snapshot } from '../../../../lib/code/snapshots/snapshot.ts';
import { worktreeDiff } from '../../../../lib/code/worktrees/inspect/diff.ts';
import { getWorktree } from '../../../../lib/code/worktrees/read.ts';
import type { Case } from '../../../../store/records/case.ts';
import type { Recovery } from '../../../../store/records/recovery.ts';
import type { Worktree } from '../../../../store/records/worktree.ts';
import { eventually } from '../../../helpers/eventually.ts';
import {
  gitIn,
  makeRepository,
  temporaryDirectory,
  writeFiles,
} from '../../../helpers/repository.ts';
import { type Running, startForTest } from '../../../helpers/service.ts';
import { BAIT, MISSING, plainGitRunsInto, plant, TRAPS } from '../../../helpers/traps.ts';
import { rebaseScene, type Scene, withRemote } from '../../work/conflicts/fixture.ts';

const CONFLICT = 'a.merge';

const hostileScene = async (t: TestContext) => {
  const scene = await rebaseScene(t, {
    start: { ...BAIT, [CONFLICT]: 'start\n' },
    base: [{ [CONFLICT]: 'base\n' }],
    branch: [{ [CONFLICT]: 'branch\n' }],
  });
  withRemote(t, scene);
  return { scene, marks: plant(t, scene.running.repository) };
};

const dirty = (path: string): void =>
  writeFiles(path, {
    ...Object.fromEntries(Object.keys(BAIT).map((name) => [name, `${BAIT[name]}changed\n`])),
    'new.clean': 'new\n',
  });

// A repository inside the worktree, with a trap in its own configuration.
const nest = (path: string, monitor: string): void => {
  const inner = join(path, 'inner');
  mkdirSync(inner);
  const git = gitIn(inner);
  git('init', '--quiet');
  git('-c', 'user.name=n', '-c', 'user.email=e', 'commit', '--allow-empty', '-qm', 'x');
  git('config', 'core.fsmonitor', monitor);
};

const look = async ({ call }: Running, id: string): Promise<string[]> => {
  const answers = await Promise.all(
    ['status', 'health'].map((what) =>
      call<{ status: string }>('GET', `/api/worktrees/${id}/${what}`),
    ),
  );
  return answers.map(({ body }) => body.status);
};

const runSession = async ({ call }: Running, id: string): Promise<void> => {
  const sessions = `/cases/${id}/sessions`;
  const { body } = await call<{ id: string }>('POST', sessions, { type: 'implementing' });
  const state = async () =>
    (await call<{ status: string }>('GET', `${sessions}/${body.id}`)).body.status;
  await eventually(async () => assert.equal(await state(), 'plan_ready'));
  await call('POST', `${sessions}/${body.id}/approve`);
  await eventually(async () => assert.equal(await state(), 'completed'));
  assert.equal((await call('GET', `${sessions}/${body.id}/diff`)).status, 200);
};

const rebaseAll = async ({ post, get, worktree }: Scene): Promise<void> => {
  const begin = async (): Promise<void> => {
    const { body, text } = await post('pr/rebase', { keep_changes: true });
    assert.equal(body.status, 'conflicted', text);
    assert.equal((await get('conflicts/preview')).status, 200);
  };
  await begin();
  assert.equal((await post('conflicts/abort')).status, 200);
  await begin();
  writeFiles(worktree.path, { [CONFLICT]: 'both\n' });
  const applied = await post('conflicts/apply');
  assert.equal(applied.status, 200, applied.text);
  const pushed = await post('conflicts/push-rebased');
  assert.equal(pushed.status, 200, pushed.text);
};

const undo = async ({ service }: Running, id: string): Promise<void> => {
  const record = getWorktree(service.store, id);
  const before = await snapshot(service.git, record);
  writeFiles(record.path, { 'a.clean': 'undone\n', 'a.smudge': 'undone\n' });
  await worktreeDiff(service.git, record);
  await assert.rejects(service.git.at(record).run(['cat-file', '-p', MISSING], { read: true }));
  await restore(service.git, record, before);
};

describe('a repository full of traps', () => {
  it('is a real one: plain git runs into every one of them', async (t) => {
    assert.deepEqual(await plainGitRunsInto(t), TRAPS);
  });

  it('runs none of them, whatever endpoint is called', async (t) => {
    const { scene, marks } = await hostileScene(t);
    const { running, item, worktree } = scene;
    dirty(worktree.path);
    await look(running, item.id);
    await rebaseAll(scene);
    await undo(running, item.id);

    const text = { title: 'Second', type: 'bug', description: '```sh\necho x > made.clean\n```' };
    const { body: second } = await running.call<Case>('POST', '/cases', text);
    const made = await running.call<Worktree>('POST', '/api/worktrees', { case_id: second.id });
    assert.equal(made.status, 201, made.text);
    await runSession(running, second.id);
    assert.deepEqual(await look(running, second.id), ['ok', 'ok']);

    // The worktree leads to another repository, and then holds one.
    const evil = makeRepository(t);
    const evilMarks = plant(t, evil);
    const link = join(worktree.path, '.git');
    const honest = readFileSync(link, 'utf8');
    writeFileSync(link, `gitdir: ${join(evil.root, '.git')}\n`);
    assert.deepEqual(await look(running, item.id), ['tampered', 'tampered']);
    const remove = (id: string) => running.call('DELETE', `/api/cases/${id}/worktree?force=true`);
    assert.equal((await remove(item.id)).status, 409);
    writeFileSync(link, honest);
    assert.equal((await remove(item.id)).status, 204);
    nest(made.body.path, evil.git('config', 'core.fsmonitor').trim());
    assert.deepEqual(await look(running, second.id), ['ok', 'ok']);
    assert.equal((await remove(second.id)).status, 409);

    assert.deepEqual([marks(), evilMarks()], [[], []]);
  });
});

const SETTINGS = `worktrees:
  setup: ['echo set-up > made.local']
  copy_files: ['given.local']`;

// A worktree that the operator made, and every file of it dirty, before anything is planted.
const attachScene = async (t: TestContext) => {
  const start = { ...BAIT, '.gitignore': '*.local\n' };
  const scene = await rebaseScene(t, { start, settings: SETTINGS });
  const { repository } = scene.running;
  const mine = join(temporaryDirectory(t), 'mine');
  repository.git('worktree', 'add', '--quiet', '-b', 'mine', mine);
  writeFiles(repository.root, { 'given.local': 'given\n' });
  dirty(mine);
  return { scene, mine, marks: plant(t, repository) };
};

describe('the same traps', () => {
  it('are not run into by attach, verify-isolation, set-up, clean-up, recoveries and restore', async (t) => {
    const { scene, mine, marks } = await attachScene(t);
    const { running, item, worktree } = scene;
    const send = async <T = { status?: string }>(method: string, path: string, body?: object) => {
      const answer = await running.call<T>(method, path, body);
      assert.ok(answer.status < 300, `${path}: ${answer.text}`);
      return answer.body;
    };
    const isolated = (id: string) => send('POST', `/api/worktrees/${id}/verify-isolation`);

    const text = { title: 'Attached', type: 'bug' };
    const other = (await send<Case>('POST', '/cases', text)).id;
    await send('POST', '/api/worktrees/branch-name', { case_id: other });
    await send('POST', `/api/worktrees/${other}/attach`, { path: mine });
    assert.deepEqual(await look(running, other), ['ok', 'ok']);
    await isolated(other);

    // Only what the operator's settings name is run.
    for (const path of [mine, worktree.path]) rmSync(join(path, 'made.local'), { force: true });
    for (const id of [item.id, other]) await send('POST', `/api/worktrees/${id}/setup`);
    for (const path of [mine, worktree.path])
      assert.deepEqual(
        ['made.local', 'given.local'].map((name) => readFileSync(join(path, name), 'utf8')),
        ['set-up\n', 'given\n'],
      );

    dirty(worktree.path);
    await send('PUT', '/api/worktrees/config', { ttl_hours: 0 });
    await send('GET', '/api/worktrees/stale');
    await send('POST', '/api/worktrees/cleanup', {});
    await send('DELETE', `/api/cases/${item.id}/worktree?force=true`);
    const at = `/api/worktrees/${item.id}/recoveries`;
    const [kept] = await send<Recovery[]>('GET', at);
    await send('POST', `${at}/${kept?.id}/restore`);
    assert.equal(readFileSync(join(worktree.path, 'a.clean'), 'utf8'), 'x\nchanged\n');
    await isolated(item.id);
    assert.deepEqual(await look(running, item.id), ['ok', 'ok']);
    await send('DELETE', `/api/cases/${other}/worktree`);
    assert.deepEqual(marks(), []);
  });
});

const NAMES = [
  ...['-rf', '--', '--force', 'two\nlines', 'a\ttab', 'a "quote"', "it's", ' space ', 'a => b'],
  ...['back\\slash', '*', ':(top)', 'caf\u00e9', 'cafe\u0301', '{a => b}/c', '$(touch x)', '%s'],
];
const NOT_TEXT = Buffer.from([0x63, 0x61, 0x66, 0xe9]);

describe('names of every kind', () => {
  it('survive in the answers and in the patch of what was removed', async (t) => {
    const running = await startForTest(t);
    const { call, workspace, repository } = running;
    const { body: item } = await call<Case>('POST', '/cases', { title: 'Names', type: 'bug' });
    const { body } = await call<Worktree>('POST', '/api/worktrees', { case_id: item.id });
    for (const name of NAMES) writeFiles(body.path, { [name]: `${name}\n` });
    writeFileSync(Buffer.concat([Buffer.from(`${body.path}/`), NOT_TEXT]), 'x\n');
    symlinkSync('-rf', join(body.path, '-link'));
    const listed = namesIn(body.path);
    const status = await call<{ files: { path: string }[] }>(
      'GET',
      `/api/worktrees/${item.id}/status`,
    );
    assert.deepEqual(
      status.body.files.map(({ path }) => path).toSorted(),
      [...NAMES, '-link', '"caf\\351"'].toSorted(),
    );
    const removed = await call('DELETE', `/api/cases/${item.id}/worktree?force=true`);
    assert.equal(removed.status, 204, removed.text);
    const recovered = join(workspace, item.path, 'recovered');
    const [patch = ''] = readdirSync(recovered);
    repository.git('apply', join(recovered, patch));
    assert.deepEqual(namesIn(repository.root), listed);
  });
});

// Every name byte for byte, with what is in it or where it leads.
const namesIn = (root: string): string[] =>
  readdirSync(root, { encoding: 'latin1', recursive: true })
    .filter((name) => !/^\.git(\/|$)/.test(name))
    .toSorted();
