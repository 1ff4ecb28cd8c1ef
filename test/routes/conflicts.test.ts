import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { checkWorkspace } from '../../store/check/check.ts';
import type { Session } from '../../store/records/session.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import type { WorktreeHealth } from '../../store/records/worktree-status.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { writeFiles } from '../helpers/repository.ts';
import type { Answered } from '../helpers/service.ts';
import {
  type Answer,
  read,
  rebaseScene,
  recordOf,
  type Scene,
} from '../lib/work/conflicts/fixture.ts';

const DIVERGED = {
  start: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
  base: [{ 'a.txt': 'base\n' }],
  branch: [{ 'a.txt': 'branch\n' }],
};

const CLEAN = {
  start: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
  base: [{ 'theirs.txt': 'base\n' }],
  branch: [{ 'a.txt': 'branch\n' }],
};

const codes = (...answers: Answered<Answer>[]): [number, string][] =>
  answers.map(({ status, body }) => [status, body?.code]);

const statesTold = ({ running }: Scene): string[] =>
  running.events.flatMap(({ payload }) =>
    'old_state' in payload ? [`${payload.old_state} ${payload.new_state}`] : [],
  );

const refs = ({ git }: Scene): string =>
  git('for-each-ref', '--format=%(refname)', 'refs/dossier').trim();

describe('POST /api/cases/{id}/pr/rebase', () => {
  it('puts the branch onto its base, and all is measured from there', async (t) => {
    const scene = await rebaseScene(t, CLEAN);
    const answer = await scene.post('pr/rebase');
    assert.equal(answer.status, 200, answer.text);
    const head = scene.git('rev-parse', 'HEAD').trim();
    const main = scene.main('rev-parse', 'main').trim();
    assert.deepEqual(answer.body, { status: 'clean', head, onto: 'main' });
    assert.equal(scene.git('branch', '--show-current').trim(), scene.worktree.branch);
    assert.equal(scene.git('rev-parse', 'HEAD^').trim(), main);
    assert.equal(read(scene, 'theirs.txt') + read(scene, 'a.txt'), 'base\nbranch\n');
    const status = `/api/worktrees/${scene.item.id}/status`;
    assert.equal((await scene.running.call<Worktree>('GET', status)).body.base_commit, main);
    assert.deepEqual(statesTold(scene), []);
    const [told] = await scene.history();
    assert.deepEqual([told?.outcome, told?.file_count, told?.head], ['clean', 0, head]);
    const again = await scene.post('pr/rebase', {});
    assert.deepEqual([again.status, again.body.status, again.body.head], [200, 'clean', head]);
  });

  it('puts the branch onto its base, not onto a tag of that name, and its health counts from the base', async (t) => {
    const scene = await rebaseScene(t, CLEAN);
    scene.main('tag', 'main', 'main^');
    const main = scene.main('rev-parse', 'refs/heads/main').trim();
    const health = `/api/worktrees/${scene.item.id}/health`;
    const before = await scene.running.call<WorktreeHealth>('GET', health);
    assert.deepEqual([before.body.ahead, before.body.behind, before.body.new_in_base], [1, 1, 1]);
    assert.equal((await scene.post('pr/rebase')).body.status, 'clean');
    assert.equal(scene.git('rev-parse', 'HEAD^').trim(), main);
    assert.equal((await scene.post('pr/rebase', { onto: 'main' })).body.status, 'clean');
    assert.equal(scene.git('rev-parse', 'HEAD^').trim(), main);
  });

  it('stops at a conflict, tells the files, and blocks the Work item', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    const original = scene.git('rev-parse', 'HEAD').trim();
    const { status, body, text } = await scene.post('pr/rebase', { onto: 'main' });
    assert.equal(status, 200, text);
    assert.deepEqual(body, {
      status: 'conflicted',
      files: [{ path: 'a.txt', kind: 'both_modified' }],
      onto: 'main',
      commit: { commit: original, number: 1, count: 1 },
    });
    assert.equal(await scene.state(), 'BLOCKED');
    assert.deepEqual(statesTold(scene), ['OPEN BLOCKED']);
    assert.match(recordOf(scene), /step: conflicted\n[\s\S]*stopped at commit 1 of 1: 1 file/);
    assert.match(refs(scene), /^refs\/dossier\/conflicted\/.*\nrefs\/dossier\/snapshots\/\S*$/);
    const second = await scene.post('pr/rebase');
    const session = await scene.running.call<Answer>('POST', `/cases/${scene.item.id}/sessions`, {
      type: 'implementing',
    });
    assert.deepEqual(codes(second, session), Array(2).fill([409, 'rebase_in_progress']));
    assert.match(session.body.detail, /conflicts\/apply or …\/abort/);
  });

  it('goes past no changed file, but keeps changes that it is told to keep', async (t) => {
    const scene = await rebaseScene(t, CLEAN);
    writeFiles(scene.worktree.path, { 'a.txt': 'staged\n', 'new.txt': 'new\n' });
    scene.git('add', 'a.txt');
    writeFiles(scene.worktree.path, { 'b.txt': 'unstaged\n' });
    const refused = await scene.post('pr/rebase');
    assert.deepEqual(codes(refused), [[409, 'uncommitted_changes']]);
    assert.deepEqual(refused.body.files, ['a.txt', 'b.txt'] as never);
    assert.deepEqual(await scene.history(), []);
    const kept = await scene.post('pr/rebase', { keep_changes: true });
    assert.equal(kept.status, 200, kept.text);
    assert.equal(kept.body.changes, 'brought_back');
    assert.equal(scene.git('status', '--porcelain'), 'M  a.txt\n M b.txt\n?? new.txt\n');
    assert.equal(read(scene, 'a.txt') + read(scene, 'b.txt'), 'staged\nunstaged\n');
    assert.doesNotMatch(refs(scene), /set-aside/);
  });

  it('stops at uncommitted changes that conflict as at a commit', async (t) => {
    const scene = await rebaseScene(t, { ...CLEAN, base: [{ 'b.txt': 'base\n' }] });
    writeFiles(scene.worktree.path, { 'b.txt': 'mine\n' });
    const refused = await scene.post('pr/rebase');
    assert.deepEqual(codes(refused), [[409, 'uncommitted_changes']]);
    const { body, text } = await scene.post('pr/rebase', { keep_changes: true });
    assert.deepEqual([body.status, body.changes], ['conflicted', 'conflicted'], text);
    assert.deepEqual(body.files, [{ path: 'b.txt', kind: 'both_modified' }]);
    assert.equal(await scene.state(), 'BLOCKED');
    assert.match(
      recordOf(scene),
      /step: conflicted\n[\s\S]*the uncommitted changes conflict: 1 file/,
    );
    const [told] = await scene.history();
    assert.equal(scene.git('show', `${told?.set_aside_ref}:b.txt`), 'mine\n');
  });

  it('never writes over a file that git does not track, ignored or not', async (t) => {
    const scene = await rebaseScene(t, {
      start: { '.gitignore': '.env\n' },
      base: [{ '.gitignore': '', 'both.txt': 'theirs\n' }, { '.env': 'theirs\n' }],
      branch: [{ 'c.txt': 'c\n' }],
    });
    writeFiles(scene.worktree.path, { '.env': 'secret\n', 'both.txt': 'mine\n' });
    const answer = await scene.post('pr/rebase');
    assert.deepEqual(codes(answer), [[409, 'uncommitted_changes']]);
    assert.deepEqual(answer.body.files, ['.env', 'both.txt'] as never);
    assert.equal(read(scene, '.env') + read(scene, 'both.txt'), 'secret\nmine\n');
  });

  it('says what is wrong with the request or the worktree', async (t) => {
    const scene = await rebaseScene(t, CLEAN);
    const nobody = await scene.running.call<Answer>('POST', `/api/cases/${NOBODY}/pr/rebase`);
    const wrong = [{ onto: 'nowhere' }, { onto: '--exec' }, { onto: 'HEAD' }, { into: 'main' }];
    const answers = [];
    for (const body of wrong) answers.push(await scene.post('pr/rebase', body));
    scene.git('switch', '--quiet', '--detach');
    answers.push(await scene.post('pr/rebase'));
    assert.deepEqual(codes(nobody, ...answers), [
      [404, 'not_found'],
      [422, 'invalid_state'],
      [422, 'invalid_state'],
      [422, 'invalid_state'],
      [400, 'bad_request'],
      [422, 'invalid_state'],
    ]);
    assert.deepEqual(await scene.history(), []);
  });

  it('names the files that are in conflict in the index already', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    scene.git('read-tree', '-m', scene.git('merge-base', 'HEAD', 'main').trim(), 'HEAD', 'main');
    const unmerged = scene.git('diff', '--name-only', '--diff-filter=U').trim().split('\n');
    const refused = await scene.post('pr/rebase');
    assert.deepEqual(codes(refused), [[422, 'invalid_state']]);
    assert.equal(
      refused.body.detail,
      `Files are in conflict: ${unmerged.join(', ')}. Resolve and stage them, then try again.`,
    );
  });

  it('leaves alone what somebody else has begun', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    assert.throws(() => scene.git('rebase', 'main'));
    const before = scene.git('status');
    const calls = ['pr/rebase', 'conflicts/apply', 'conflicts/abort'];
    const answers = [];
    for (const what of calls) answers.push(await scene.post(what));
    assert.deepEqual(codes(...answers), Array(3).fill([409, 'rebase_in_progress']));
    assert.match(answers[2]?.body.detail ?? '', /git rebase --abort/);
    assert.equal(scene.git('status'), before);
    scene.git('rebase', '--abort');
    assert.throws(() => scene.git('merge', 'main'));
    assert.deepEqual(codes(await scene.post('pr/rebase')), [[422, 'invalid_state']]);
    scene.git('merge', '--abort');
    writeFileSync(scene.git('rev-parse', '--git-path', 'index.lock').trim(), '');
    assert.deepEqual(codes(await scene.post('pr/rebase')), [[409, 'worktree_busy']]);
  });

  it('is told of a worktree that is not as it was made', async (t) => {
    const scene = await rebaseScene(t, CLEAN);
    const { worktree } = scene;
    const link = join(worktree.path, '.git');
    const said = readFileSync(link);
    writeFileSync(link, 'gitdir: /nowhere\n');
    const tampered = await scene.post('pr/rebase');
    writeFileSync(link, said);
    renameSync(worktree.path, `${worktree.path}-away`);
    const missing = await scene.post('conflicts/abort');
    renameSync(`${worktree.path}-away`, worktree.path);
    assert.deepEqual(codes(tampered, missing), [
      [409, 'worktree_tampered'],
      [409, 'worktree_missing'],
    ]);
  });

  it('gives way to whoever holds the session lock', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    const lock = `/api/worktrees/${scene.item.id}/lock`;
    await scene.running.call('POST', lock, { name: 'Ada' });
    const held = await scene.post('pr/rebase');
    assert.deepEqual(codes(held), [[409, 'lock_held']]);
    assert.match(held.body.detail, /Ada/);
    await scene.running.call('DELETE', lock);
    await scene.running.call('POST', `/cases/${scene.item.id}/sessions`, { type: 'implementing' });
    assert.deepEqual(codes(await scene.post('pr/rebase')), [[409, 'session_active']]);
  });

  it('has one winner of two at once, and of a session that starts at that moment', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    const two = await Promise.all([scene.post('pr/rebase'), scene.post('pr/rebase')]);
    assert.deepEqual(codes(...two).toSorted(), [
      [200, undefined],
      [409, 'rebase_in_progress'],
    ]);
    assert.equal((await scene.history()).length, 1);
    await scene.post('conflicts/abort');
    const sessions = `/cases/${scene.item.id}/sessions`;
    const [rebased] = await Promise.all([
      scene.post('pr/rebase'),
      scene.running.call<Session>('POST', sessions, { type: 'implementing' }),
    ]);
    const { body: all } = await scene.running.call<Session[]>('GET', sessions);
    const isConflicted = existsSync(scene.git('rev-parse', '--git-path', 'rebase-merge').trim());
    assert.equal(isConflicted, rebased.status === 200, rebased.text);
    if (isConflicted) assert.ok(all.every(({ status }) => status === 'queued'));
    else assert.equal(rebased.status, 409);
  });
});

describe('GET /api/cases/{id}/conflicts/preview', () => {
  it('shows the files and the raw diff, as they are at that moment', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    assert.deepEqual(codes(await scene.get('conflicts/preview')), [[404, 'not_found']]);
    await scene.post('pr/rebase');
    const { body } = await scene.get('conflicts/preview');
    assert.deepEqual(body.files, [{ path: 'a.txt', kind: 'both_modified' }]);
    assert.match(
      body.diff,
      /^diff --cc a\.txt\n[\s\S]*\+\+<<<<<<< HEAD\n \+base\n\+\+=======\n\+ branch\n/,
    );
    const before = scene.git('ls-files', '--unmerged');
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    const { body: later } = await scene.get('conflicts/preview');
    assert.match(later.diff, /\+\+both\n/);
    assert.equal(scene.git('ls-files', '--unmerged'), before);
  });
});

describe('POST /api/cases/{id}/conflicts/apply', () => {
  it('refuses while markers are left, and stages nothing', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    await scene.post('pr/rebase');
    const early = await scene.post('conflicts/apply');
    assert.deepEqual(codes(early), [[422, 'markers_remain']]);
    const open = { path: 'a.txt', kind: 'both_modified' };
    assert.deepEqual(early.body.files, [{ ...open, lines: [1, 3, 5] }] as never);
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n>>>>>>> late\n' });
    const late = await scene.post('conflicts/apply');
    assert.deepEqual(late.body.files, [{ ...open, lines: [2] }] as never);
    scene.git('add', 'a.txt');
    assert.deepEqual(codes(await scene.post('conflicts/apply')), [[422, 'markers_remain']]);
    assert.equal(await scene.state(), 'BLOCKED');
    assert.match(recordOf(scene), /step: conflicted/);
  });

  it('stages the files in conflict alone, ends the rebase, and unblocks the Work item', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    await scene.post('pr/rebase');
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n', 'b.txt': 'more\n', 'new.txt': 'new\n' });
    const other = await scene.post('conflicts/apply');
    assert.deepEqual(codes(other), [[409, 'uncommitted_changes']]);
    assert.deepEqual(other.body.files, ['b.txt'] as never);
    scene.git('checkout', '--', 'b.txt');
    const done = await scene.post('conflicts/apply');
    const head = scene.git('rev-parse', 'HEAD').trim();
    assert.deepEqual([done.status, done.body], [200, { status: 'clean', head, onto: 'main' }]);
    assert.equal(
      scene.git('show', '--format=%an|%s', '--name-only', 'HEAD'),
      'A|change a.txt\n\na.txt\n',
    );
    assert.equal(scene.git('status', '--porcelain'), '?? new.txt\n');
    assert.equal(await scene.state(), 'OPEN');
    assert.deepEqual(statesTold(scene), ['OPEN BLOCKED', 'BLOCKED OPEN']);
    const [told] = await scene.history();
    assert.deepEqual([told?.outcome, told?.step, told?.file_count], ['resolved', null, 1]);
    assert.ok((told?.seconds ?? -1) >= 0);
    assert.deepEqual(codes(await scene.post('conflicts/apply')), [[422, 'invalid_state']]);
  });

  it('answers as the rebase does when the next commit conflicts, and leaves out an emptied one', async (t) => {
    const scene = await rebaseScene(t, {
      start: { 'a.txt': 'one\n', 'b.txt': 'one\n', 'c.txt': 'one\n' },
      base: [{ 'a.txt': 'base\n', 'b.txt': 'base\n', 'c.txt': 'base\n' }],
      branch: [{ 'a.txt': 'branch\n' }, { 'b.txt': 'branch\n' }, { 'c.txt': 'branch\n' }],
    });
    const first = await scene.post('pr/rebase');
    assert.deepEqual([first.body.files[0]?.path, first.body.commit.count], ['a.txt', 3]);
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    const second = await scene.post('conflicts/apply');
    assert.equal(second.body.status, 'conflicted', second.text);
    assert.deepEqual(second.body.files, [{ path: 'b.txt', kind: 'both_modified' }]);
    assert.equal(second.body.commit.number, 2);
    writeFiles(scene.worktree.path, { 'b.txt': 'base\n' });
    assert.equal((await scene.post('conflicts/apply')).body.commit.number, 3);
    writeFiles(scene.worktree.path, { 'c.txt': 'both\n' });
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.equal(scene.git('log', '--format=%s', 'main..'), 'change c.txt\nchange a.txt\n');
    const [told] = await scene.history();
    assert.deepEqual([told?.file_count, told?.files.length], [3, 3]);
    assert.doesNotMatch(refs(scene), /conflicted/);
  });

  it('against an abort has one winner, and leaves nothing half done', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    const original = scene.git('rev-parse', 'HEAD').trim();
    await scene.post('pr/rebase');
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    const answers = await Promise.all([
      scene.post('conflicts/apply'),
      scene.post('conflicts/abort'),
    ]);
    const [applied, aborted] = answers.map(({ status }) => status);
    assert.deepEqual([applied, aborted].toSorted(), [200, 422]);
    const head = scene.git('rev-parse', 'HEAD').trim();
    assert.equal(head === original, aborted === 200);
    assert.equal(scene.git('branch', '--show-current').trim(), scene.worktree.branch);
    assert.equal(scene.git('status', '--porcelain'), '');
    assert.equal((await scene.history())[0]?.outcome, aborted === 200 ? 'aborted' : 'resolved');
  });

  it('takes note of a rebase that was ended by hand', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    await scene.post('pr/rebase');
    writeFiles(scene.worktree.path, { 'a.txt': 'both\n' });
    scene.git('add', 'a.txt');
    scene.git(
      '-c',
      'user.name=A',
      '-c',
      'user.email=a@b',
      '-c',
      'core.editor=true',
      'rebase',
      '--continue',
    );
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.status, 'clean', done.text);
    assert.match(recordOf(scene), /ended by hand/);
    assert.equal(await scene.state(), 'OPEN');
    await scene.post('pr/rebase', { onto: 'HEAD~1' });
  });
});

describe('GET /api/cases/{id}/conflicts/history and metrics', () => {
  it('are of the records alone, those of all Work items too', async (t) => {
    const scene = await rebaseScene(t, DIVERGED);
    await scene.post('pr/rebase');
    await scene.post('conflicts/abort');
    await scene.post('pr/rebase');
    const { body } = await scene.get<Record<string, unknown>>('conflicts/metrics');
    const none = { clean: 0, resolved: 0, failed: 0, interrupted: 0 };
    const { workspace, ...own } = body;
    assert.deepEqual(own, {
      rebases: 2,
      conflicts: 2,
      frequency: 1,
      files: 2,
      outcomes: { ...none, aborted: 1, open: 1 },
      seconds_to_resolution: { median: null, p95: null },
    });
    assert.deepEqual(workspace, own);
    const first = await scene.get<unknown[]>('conflicts/history?limit=1');
    assert.equal(first.body.length, 1);
    assert.match(String(first.headers.link), /rel="next"/);
  });

  it('say that a record cannot be read, and that a Work item is not there', async (t) => {
    const scene = await rebaseScene(t, CLEAN);
    const { running, item } = scene;
    const folder = join(running.workspace, item.path, 'conflicts');
    mkdirSync(folder);
    writeFileSync(join(folder, 'mine.md'), 'no front matter\n');
    const answers = [
      await scene.get('conflicts/history'),
      await scene.get('conflicts/metrics'),
      await scene.post('pr/rebase'),
    ];
    assert.deepEqual(codes(...answers), Array(3).fill([409, 'unreadable_record']));
    assert.match(answers[0]?.body.detail ?? '', /conflicts\/mine\.md/);
    assert.equal(readFileSync(join(folder, 'mine.md'), 'utf8'), 'no front matter\n');
    const { text } = await running.call('GET', '/api/diagnostics');
    assert.match(text, /conflicts\/mine\.md/);
    const { findings } = await checkWorkspace(running.service.store.layout, async () => []);
    assert.ok(findings.some(({ file }) => file.endsWith('conflicts/mine.md')));
    for (const what of ['history', 'metrics', 'preview']) {
      const path = `/api/cases/${NOBODY}/conflicts/${what}`;
      assert.equal((await running.call('GET', path)).status, 404);
    }
  });
});
