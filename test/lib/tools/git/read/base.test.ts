import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { chooseBase, describeCommit } from '../../../../../lib/tools/git/read/base.ts';
import { findRepository } from '../../../../../lib/tools/git/read/repository.ts';
import {
  gitIn,
  known,
  makeRepository,
  temporaryDirectory,
  testGit,
} from '../../../../helpers/repository.ts';

/** `main` with two commits; `origin` has it as its default branch, at the commit that is named. */
const cloned = (t: TestContext, theirs = 'main') => {
  const made = makeRepository(t);
  made.git('commit', '--quiet', '--allow-empty', '-m', 'Second');
  made.git('update-ref', 'refs/remotes/origin/main', theirs);
  made.git('symbolic-ref', 'refs/remotes/origin/HEAD', 'refs/remotes/origin/main');
  const choose = async (named?: string) => {
    const { name, commit, notes } = await chooseBase(testGit(t).at(known(made)), named);
    const subject = made.git('log', '-1', '--format=%s', commit).trim();
    return { name, subject, notes };
  };
  return { ...made, choose };
};

describe('chooseBase', () => {
  it('takes the local default branch where it is equal to its upstream, or ahead', async (t) => {
    const { git, choose } = cloned(t);
    assert.deepEqual(await choose(), { name: 'main', subject: 'Second', notes: [] });
    git('commit', '--quiet', '--allow-empty', '-m', 'Merged here');
    assert.deepEqual(await choose(), { name: 'main', subject: 'Merged here', notes: [] });
  });

  it('takes the upstream where the local branch is behind it, or is not there', async (t) => {
    const { git, choose } = cloned(t);
    git('reset', '--quiet', '--hard', 'HEAD^');
    assert.deepEqual(await choose(), { name: 'origin/main', subject: 'Second', notes: [] });
    git('switch', '--quiet', '--create', 'feature/x');
    git('branch', '--quiet', '-D', 'main');
    const { name, notes } = await choose();
    assert.deepEqual([name, notes], ['origin/main', ['For feature/x: `--base current`.']]);
  });

  it('follows the upstream that the branch is set to follow, before one of its name on origin', async (t) => {
    const { git, choose } = cloned(t, 'main');
    git('remote', 'add', 'fork', 'https://localhost/nothing');
    git('update-ref', 'refs/remotes/fork/trunk', 'main');
    git('branch', '--quiet', '--set-upstream-to=fork/trunk', 'main');
    git('reset', '--quiet', '--hard', 'HEAD^');
    assert.equal((await choose()).name, 'fork/trunk');
  });

  it('takes the local branch where the two have diverged, and says so', async (t) => {
    const { git, choose } = cloned(t);
    git('reset', '--quiet', '--hard', 'HEAD^');
    git('commit', '--quiet', '--allow-empty', '-m', 'Mine');
    assert.deepEqual(await choose(), {
      name: 'main',
      subject: 'Mine',
      notes: [
        'main and origin/main have diverged: main has 1 commit that origin/main does not have, and lacks 1. The local branch is used.',
      ],
    });
  });

  it('takes the default branch from another one, says how to get that, and takes it when asked', async (t) => {
    const { git, choose } = cloned(t);
    git('switch', '--quiet', '--create', 'feature/x');
    git('commit', '--quiet', '--allow-empty', '-m', 'On x');
    const notes = ['For feature/x: `--base current`.'];
    assert.deepEqual(await choose(), { name: 'main', subject: 'Second', notes });
    assert.deepEqual(await choose('current'), { name: 'feature/x', subject: 'On x', notes: [] });
    git('branch', 'current', 'main');
    assert.equal((await choose('current')).name, 'feature/x');
    git('checkout', '--quiet', '--detach');
    const [note] = (await choose()).notes;
    assert.equal(note, 'For the commit that is checked out: `--base current`.');
    assert.equal((await choose('current')).subject, 'On x');
  });

  it('knows the default branch without a remote: as git would call it, else what is checked out', async (t) => {
    const made = makeRepository(t);
    const at = testGit(t).at(known(made));
    made.git('switch', '--quiet', '--create', 'feature/x');
    assert.equal((await chooseBase(at)).name, 'main');
    made.git('branch', 'trunk');
    made.git('config', 'init.defaultBranch', 'trunk');
    assert.equal((await chooseBase(at)).name, 'trunk');
    made.git('branch', '--quiet', '-D', 'trunk', 'main');
    assert.deepEqual((await chooseBase(at)).name, 'feature/x');
    assert.deepEqual((await chooseBase(at)).notes, []);
  });

  it('takes the branch before a tag of its name, local or of a remote', async (t) => {
    const { git, choose } = cloned(t);
    const first = git('rev-parse', 'main^').trim();
    for (const name of ['v1', 'main', 'origin/main']) git('tag', name, first);
    assert.notEqual((await choose('v1')).subject, 'Second');
    git('switch', '--quiet', '--create', 'v1', 'refs/heads/main');
    git('commit', '--quiet', '--allow-empty', '-m', 'On v1');
    assert.deepEqual(await choose('current'), { name: 'v1', subject: 'On v1', notes: [] });
    assert.equal((await choose('v1')).subject, 'On v1');
    assert.equal((await choose('refs/tags/v1')).subject, (await choose('v1~2')).subject);
    assert.equal((await choose('main')).subject, 'Second');
    assert.equal((await choose('origin/main')).subject, 'Second');
    for (const name of ['HEAD', first]) git('update-ref', `refs/heads/${name}`, 'refs/heads/main');
    assert.equal((await choose('HEAD')).subject, 'On v1');
    assert.notEqual((await choose(first)).subject, 'Second');
  });

  it('takes the base that is named, and refuses one that is not there, or a repository without a commit', async (t) => {
    const made = makeRepository(t);
    const git = testGit(t);
    made.git('branch', 'release');
    assert.equal((await chooseBase(git.at(known(made)), 'release')).name, 'release');
    await assert.rejects(chooseBase(git.at(known(made)), 'absent'), /no branch or commit absent/);
    const root = temporaryDirectory(t);
    mkdirSync(join(root, 'r'));
    gitIn(join(root, 'r'))('init', '--quiet');
    const empty = await findRepository(git, join(root, 'r'));
    assert.ok(empty);
    await assert.rejects(chooseBase(git.at(empty)), /no commit yet/);
  });
});

describe('describeCommit', () => {
  it('tells subject and time of a commit, whatever it is called, and nothing of one that is not there', async (t) => {
    const made = makeRepository(t);
    made.git('commit', '--quiet', '--allow-empty', '-m', 'Grüße\n\nMore');
    const at = testGit(t).at(known(made));
    const head = made.git('rev-parse', 'HEAD').trim();
    const told = await describeCommit(at, head);
    const seconds = Number(made.git('log', '-1', '--format=%ct'));
    assert.deepEqual(told, { subject: 'Grüße', committed_at: new Date(seconds * 1000) });
    assert.equal(await describeCommit(at, '0'.repeat(40)), undefined);
  });
});
