import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { removeWorktree } from '../../../../lib/code/worktrees/recovery/remove.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../../../helpers/repository.ts';
import { rebaseScene, recordOf, type Scene } from './fixture.ts';

const WANTED = {
  start: {
    'a.txt': 'one\n',
    'both.txt': '1\n2\n3\n',
    'deleted.txt': 'was here\n',
    'run.sh': '#!/bin/sh\n',
    'crlf.txt': 'a\r\nb\r\n',
    '.gitattributes': 'crlf.txt text eol=crlf\n',
    '.gitignore': 'ignored\n',
  },
  base: [{ 'a.txt': 'base\n', 'deep/new.txt': 'from the base\n' }],
  branch: [{ 'other.txt': 'first\n' }, { 'a.txt': 'branch\n' }],
};

// Staged and unstaged parts of one file, a staged new file, a deleted one, modes, links, odd names, nothing but spaces.
const makeUntidy = ({ worktree: { path }, git }: Scene): void => {
  writeFiles(path, { 'both.txt': '1\nstaged\n3\n', 'staged-new.txt': 'new\n' });
  git('add', 'both.txt', 'staged-new.txt');
  writeFiles(path, {
    'both.txt': '1\nstaged\nunstaged\n',
    'staged-new.txt': 'newer\n',
    'crlf.txt': 'a\nmixed\r\n',
    'untracked/deep/-x\n.txt': Buffer.from([0, 255, 10, 13]),
    ignored: 'ignored\n',
    'café ü.txt': 'unicode\n',
  });
  rmSync(join(path, 'deleted.txt'));
  chmodSync(join(path, 'run.sh'), 0o755);
  chmodSync(join(path, 'café ü.txt'), 0o640);
  symlinkSync('nowhere/at all', join(path, 'link'));
  writeFileSync(Buffer.concat([Buffer.from(`${path}/`), Buffer.from([0x62, 0xff, 0x64])]), 'bytes');
};

/** All that a worktree is: each file's mode and bytes, links, the index, HEAD and its branch, git's own state. */
const stateOf = ({ worktree: { path }, git }: Scene): object => ({
  files: filesIn(Buffer.from(path)),
  index: git('ls-files', '--stage', '-v'),
  status: git('status', '--porcelain=v2', '--branch', '--untracked-files=all'),
  head: git('symbolic-ref', 'HEAD') + git('rev-parse', 'HEAD'),
  git: ownFiles(git('rev-parse', '--absolute-git-dir').trim()),
});

// What git keeps beside HEAD and index: states, and messages that somebody began.
const ownFiles = (dir: string): string[][] =>
  readdirSync(dir)
    .filter((name) => /^(?:rebase|[A-Z_]+$)/.test(name) && !/^(?:HEAD|FETCH_HEAD)$/.test(name))
    .map((name) => [
      name,
      lstatSync(join(dir, name)).isFile() ? readFileSync(join(dir, name), 'utf8') : '/',
    ]);

const filesIn = (dir: Buffer): string[] =>
  readdirSync(dir, { encoding: 'buffer' }).flatMap((name) => {
    const path = Buffer.concat([dir, Buffer.from('/'), name]);
    const stats = lstatSync(path);
    if (stats.isDirectory()) return name.equals(Buffer.from('.git')) ? [] : filesIn(path);
    const content = stats.isSymbolicLink() ? readlinkSync(path, 'buffer') : readFileSync(path);
    return [`${path.toString('latin1')} ${stats.mode.toString(8)} ${content.toString('base64')}`];
  });

// As `git merge --squash`, a revert without a commit, and a commit that was broken off leave them.
const MESSAGES = {
  SQUASH_MSG: 'Squashed commit of the following:\n\n  mine\n',
  MERGE_MSG: 'Revert "a"\n\nNot committed yet.\n',
  COMMIT_EDITMSG: 'a long message that was begun\n',
};

describe('POST /api/cases/{id}/conflicts/abort', () => {
  it('gives back messages that were prepared for a commit, and so does the end of a rebase', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const { git, worktree } = scene;
    const dir = git('rev-parse', '--absolute-git-dir').trim();
    writeFiles(worktree.path, { 'both.txt': '1\nstaged\n3\n' });
    git('add', 'both.txt');
    git('update-ref', 'ORIG_HEAD', 'HEAD~1');
    writeFiles(dir, MESSAGES);
    const before = stateOf(scene);
    await scene.post('pr/rebase', { keep_changes: true });
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.deepEqual(stateOf(scene), before);

    await scene.post('pr/rebase', { keep_changes: true });
    git('rebase', '--abort');
    assert.equal((await scene.post('conflicts/abort')).status, 200);
    assert.deepEqual(stateOf(scene), before);

    await scene.post('pr/rebase', { keep_changes: true });
    writeFiles(worktree.path, { 'a.txt': 'both\n' });
    const done = await scene.post('conflicts/apply');
    assert.equal(done.body.changes, 'brought_back', done.text);
    for (const name of ['SQUASH_MSG', 'MERGE_MSG'] as const)
      assert.equal(readFileSync(join(dir, name), 'utf8'), MESSAGES[name]);
  });

  it('gives back the exact state before, whatever was done since', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const { worktree, git } = scene;
    makeUntidy(scene);
    const before = stateOf(scene);
    const rebased = await scene.post('pr/rebase', { keep_changes: true });
    assert.equal(rebased.body.status, 'conflicted', rebased.text);
    writeFiles(worktree.path, {
      'a.txt': 'resolved\n',
      'agent/made.txt': 'made\n',
      'deep/new.txt': 'changed\n',
      'untracked/deep/more.txt': 'more\n',
    });
    git('add', 'a.txt', 'agent');
    chmodSync(join(worktree.path, 'other.txt'), 0o755);
    const { status, body, text } = await scene.post('conflicts/abort');
    assert.equal(status, 200, text);
    assert.deepEqual(stateOf(scene), before);
    assert.deepEqual([body.status, body.left], ['aborted', []]);
    assert.equal(git('show', `${body.undone_ref}:files/a.txt`), 'resolved\n');
    assert.equal(git('show', `${body.undone_ref}:files/agent/made.txt`), 'made\n');
    assert.equal(
      git('for-each-ref', '--format=%(refname)', 'refs/dossier').trim(),
      body.undone_ref,
    );
    assert.equal(await scene.state(), 'OPEN');
    const [told] = await scene.history();
    assert.deepEqual([told?.outcome, told?.step], ['aborted', null]);
    assert.match(recordOf(scene), /undone changes[^\n]* are under refs\/dossier\/undone/);
    const again = await scene.post('conflicts/abort');
    assert.deepEqual([again.status, again.body.code], [422, 'invalid_state']);
  });

  it('does so when git itself cannot abort any more', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const { git } = scene;
    const before = stateOf(scene);
    await scene.post('pr/rebase');
    const state = git('rev-parse', '--git-path', 'rebase-merge').trim();
    for (const name of ['git-rebase-todo', 'done', 'author-script', 'msgnum'])
      rmSync(join(state, name), { force: true });
    mkdirSync(join(scene.worktree.path, 'other.txt.d'));
    writeFiles(scene.worktree.path, { 'deleted.txt': 'in the way\n' });
    const { status, text } = await scene.post('conflicts/abort');
    assert.equal(status, 200, text);
    rmSync(join(scene.worktree.path, 'other.txt.d'), { recursive: true, force: true });
    assert.deepEqual(stateOf(scene), before);
  });

  it('brings back what was set aside when the rebase was aborted by hand', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    makeUntidy(scene);
    const before = stateOf(scene);
    await scene.post('pr/rebase', { keep_changes: true });
    gitIn(scene.worktree.path)('rebase', '--abort');
    const applied = await scene.post('conflicts/apply');
    assert.deepEqual([applied.status, applied.body.code], [422, 'invalid_state']);
    const { status, text } = await scene.post('conflicts/abort');
    assert.equal(status, 200, text);
    assert.deepEqual(stateOf(scene), before);
  });

  it('keeps the commit to which the branch was moved meanwhile, and applies nothing before', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const { worktree, git, main, post } = scene;
    const { path, branch } = worktree;
    const first = git('rev-parse', 'HEAD').trim();
    await post('pr/rebase');
    const moved = main('commit-tree', '-p', branch, '-m', 'elsewhere', `${branch}^{tree}`).trim();
    main('update-ref', `refs/heads/${branch}`, moved);
    writeFiles(path, { 'a.txt': 'resolved\n' });
    const refused = await post('conflicts/apply');
    assert.deepEqual([refused.status, refused.body.code], [422, 'invalid_state']);
    const words = `The branch ${branch} is at ${moved}, but the rebase began at ${first}.`;
    const advice = `${words} Send …/conflicts/abort, which sets it back and keeps that commit`;
    assert.ok(refused.body.detail.startsWith(advice), refused.body.detail);
    assert.match(git('status', '--porcelain'), /^UU a\.txt$/m);
    assert.equal((await post('conflicts/abort')).status, 200);
    assert.equal(git('rev-parse', branch).trim(), first);
    const [, kept = ''] = /its commit is under (refs\/\S+)/.exec(recordOf(scene)) ?? [];
    assert.equal(main('rev-parse', kept).trim(), moved);
  });

  it('applies once a branch that moved meanwhile is set back as the refusal says', async (t) => {
    const { worktree, git, main, post } = await rebaseScene(t, WANTED);
    const { path, branch } = worktree;
    const setBack = async () => {
      const { detail } = (await post('conflicts/apply')).body;
      const [, command = ''] = / back with (git .*), and apply again/.exec(detail) ?? [];
      execFileSync('sh', ['-c', command], { stdio: 'pipe' });
    };
    await post('pr/rebase');
    writeFiles(path, { 'a.txt': 'resolved\n' });
    const moved = main('commit-tree', '-p', branch, '-m', 'elsewhere', `${branch}^{tree}`);
    main('update-ref', `refs/heads/${branch}`, moved.trim());
    await setBack();
    assert.equal(main('rev-parse', `${branch}-moved`), moved);
    main('update-ref', '-d', `refs/heads/${branch}`);
    await setBack();
    assert.equal((await post('conflicts/apply')).body.status, 'clean');
    assert.equal(git('show', `${branch}:a.txt`), 'resolved\n');
  });

  it('is not needed once the worktree was removed: the rebase has ended, and its snapshot is a recovery', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const { item, running, post, history, state } = scene;
    await post('pr/rebase');
    const attention = async () =>
      (await running.call<{ kind: string }[]>('GET', '/attention')).body;
    assert.deepEqual(
      (await attention()).map(({ kind }) => kind),
      ['conflict'],
    );
    const removed = `/api/cases/${item.id}/worktree?force=true`;
    assert.equal((await running.call('DELETE', removed)).status, 204);
    assert.deepEqual([(await history())[0]?.outcome, await state()], ['interrupted', 'OPEN']);
    assert.match(recordOf(scene), /its worktree was removed/);
    assert.deepEqual(await attention(), []);
    const recoveries = `/api/worktrees/${item.id}/recoveries`;
    const { body } = await running.call<{ kind: string }[]>('GET', recoveries);
    assert.deepEqual(body.map(({ kind }) => kind).toSorted(), ['removed', 'snapshot']);
  });

  it('is not needed where the daemon died before the rebase of a removed worktree ended', async (t) => {
    for (const next of ['start', 'removal']) {
      const { item, running, post, history, state } = await rebaseScene(t, WANTED);
      await post('pr/rebase');
      await removeWorktree(running.service, item.id, { force: true });
      assert.equal(await state(), 'BLOCKED');
      if (next === 'start') await running.restart();
      else {
        const again = await running.call('DELETE', `/api/cases/${item.id}/worktree?force=true`);
        assert.equal(again.status, 404, again.text);
      }
      assert.deepEqual(
        [(await history())[0]?.outcome, await state()],
        ['interrupted', 'OPEN'],
        next,
      );
    }
  });

  it('is left to git once an attached worktree was detached, in which the rebase goes on', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const { item, running, main, post, history } = scene;
    const path = join(temporaryDirectory(t), 'linked');
    const worktree = `/api/cases/${item.id}/worktree`;
    assert.equal((await running.call('DELETE', `${worktree}?force=true`)).status, 204);
    main('worktree', 'add', '--quiet', path, scene.worktree.branch);
    const attached = await running.call('POST', `/api/worktrees/${item.id}/attach`, { path });
    assert.equal(attached.status, 201, attached.text);
    assert.equal((await post('pr/rebase')).body.status, 'conflicted');
    assert.equal((await running.call('DELETE', worktree)).status, 204);
    assert.equal((await history())[0]?.outcome, 'interrupted');
    assert.match(recordOf(scene), /its worktree was removed or detached/);
    assert.match(gitIn(path)('status'), /rebase in progress/);
  });

  it('tells what it cannot put back, and keeps the snapshot', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    const { worktree, git } = scene;
    await scene.post('pr/rebase');
    rmSync(join(worktree.path, 'other.txt'));
    mkdirSync(join(worktree.path, 'other.txt'));
    gitIn(join(worktree.path, 'other.txt'))('init', '--quiet');
    const { body, text } = await scene.post('conflicts/abort');
    assert.deepEqual([body.status, body.left], ['aborted', ['other.txt']], text);
    assert.match(git('for-each-ref', '--format=%(refname)'), /refs\/dossier\/snapshots\//);
    assert.ok((await scene.history())[0]?.snapshot_ref);
  });

  it('has left nothing behind when the rebase could not begin', async (t) => {
    const scene = await rebaseScene(t, WANTED);
    makeUntidy(scene);
    const before = stateOf(scene);
    // What both sides began with is gone: git fails in the middle, at the commit that needs it.
    const oid = scene.git('rev-parse', 'HEAD~2:a.txt').trim();
    const objects = scene.git('rev-parse', '--git-path', 'objects').trim();
    const file = join(objects, oid.slice(0, 2), oid.slice(2));
    const bytes = readFileSync(file);
    rmSync(file, { force: true });
    const failed = await scene.post('pr/rebase', { keep_changes: true });
    writeFileSync(file, bytes);
    assert.deepEqual([failed.status, failed.body.code], [502, 'git_failed'], failed.text);
    assert.deepEqual(stateOf(scene), before);
    const [told] = await scene.history();
    assert.deepEqual([told?.outcome, told?.step], ['failed', null]);
    assert.equal(await scene.state(), 'OPEN');
    assert.equal(scene.git('for-each-ref', 'refs/dossier/snapshots', 'refs/dossier/set-aside'), '');
  });
});
