import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { dossier, dossierIn } from '../../../helpers/command.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

/** A Work item whose session has completed: its work is committed on its branch. */
const completed = async (
  t: TestContext,
  {
    repository = makeRepository(t, { files: { 'a.txt': 'one\n' } }),
    commit = 'end',
    file = 'a.txt',
    base = 'main',
    branch_prefix = 'work/',
  } = {},
) => {
  const { root, git } = repository;
  if (base !== 'main') git('update-ref', `refs/heads/${base}`, 'main');
  const workspace = temporaryDirectory(t);
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const api = connect({ url });
  await api.call('PUT /api/worktrees/config', { body: { commit: commit as 'end', branch_prefix } });
  const description = `\`\`\`sh\necho two > ${file}\n\`\`\`\n`;
  const made = { title: 'Change a', type: 'bug', description };
  const { id } = await api.call('POST /cases', { body: made });
  const { id: sid } = await api.call('POST /cases/{id}/sessions', {
    id,
    body: { type: 'implementing', provider: 'runbook', base },
  });
  const at = { id, sid };
  const is = (status: string) =>
    eventually(async () => {
      const session = await api.call('GET /cases/{id}/sessions/{sid}', at);
      assert.equal(session.status, status);
      return session;
    });
  const { plan_sha256 } = await is('plan_ready');
  const body = { plan_sha256: plan_sha256 ?? '' };
  await api.call('POST /cases/{id}/sessions/{sid}/approve', { ...at, body });
  const { branch } = await is('completed');
  const words = ['merge', 'Change a', '--workspace', workspace];
  const run = (verb: string) => dossier(t, verb, 'Change a', '--workspace', workspace);
  const said = (...more: string[]) => dossier(t, ...words, ...more);
  const shown = (answers: [RegExp, string | (() => string)][], ...more: string[]) =>
    atTerminal(t, [...words, ...more], answers);
  return { id, api, root, git, branch: branch ?? '', words, run, said, shown };
};

const RUN = /Run it now\? \[y\/N\] /;
const REMOVE = /Remove its worktree and its branch\? \[y\/N\] /;

describe('dossier merge', () => {
  it('prints the commands, and runs nothing where nobody can be asked', async (t) => {
    const { root, git, branch, said } = await completed(t);
    const before = git('rev-parse', 'main');
    const { code, stdout } = await said();
    assert.equal(code, 0);
    assert.equal(
      stdout,
      `To merge ${branch} into main:\n  git -C ${root} merge --no-edit ${branch}\n`,
    );
    const { commands, onto } = JSON.parse((await said('--json', '--squash')).stdout);
    assert.equal(onto, 'main');
    assert.match(commands[0], /merge --squash /);
    assert.match(commands[1], /commit -m 'Change a' -m 'Dossier-Case: /);
    assert.equal(git('rev-parse', 'main'), before);
  });

  it('prints a command where the base is no branch, or one of a remote alone', async (t) => {
    const { root, git, branch, said } = await completed(t, { base: 'origin/develop' });
    git('update-ref', '-d', 'refs/heads/origin/develop');
    const none = await said();
    assert.equal(none.code, 1);
    const by = `origin/develop is not a branch here. Check out the branch to merge into, then run: git -C ${root} merge ${branch}`;
    assert.ok(none.stderr.includes(by), none.stderr);
    git('remote', 'add', 'origin', root);
    git('update-ref', 'refs/remotes/origin/develop', 'main');
    const [, command = ''] = /then merge again: (git -C .*)/.exec((await said()).stderr) ?? [];
    execFileSync('sh', ['-c', command], { stdio: 'ignore' });
    assert.match((await said()).stderr, /has main checked out, not develop, so nothing was merged/);
  });

  it('knows the branch of a remote whose name has a slash, and takes no other', async (t) => {
    const { root, git, said } = await completed(t, { base: 'team/origin/develop' });
    git('update-ref', '-d', 'refs/heads/team/origin/develop');
    git('branch', 'origin/develop');
    assert.match((await said()).stderr, /team\/origin\/develop is not a branch here/);
    git('remote', 'add', 'team/origin', root);
    git('update-ref', 'refs/remotes/team/origin/develop', 'main');
    assert.match((await said()).stderr, /branch --track develop team\/origin\/develop/);
    git('branch', 'develop');
    assert.match((await said()).stderr, /has main checked out, not develop, so nothing was merged/);
  });

  it('merges on a yes and removes worktree and branch on another', {
    skip: noTerminal,
  }, async (t) => {
    const { id, api, root, git, branch, shown } = await completed(t);
    const no = await shown([[RUN, '\r']]);
    assert.deepEqual([no.code, git('log', '--format=%s').trim()], [1, 'start']);
    const { path } = await api.call('GET /api/cases/{id}/worktree', { id });
    const yes = await shown([
      [RUN, 'y\r'],
      [REMOVE, 'y\r'],
    ]);
    assert.equal(yes.code, 0, yes.text);
    assert.match(yes.text, /Merged work\/\S+ into main\n/);
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'two\n');
    assert.equal(existsSync(path), false);
    assert.equal(git('branch', '--list', branch), '');
  });

  it('commits the merge whatever the merge options of the branch are', {
    skip: noTerminal,
  }, async (t) => {
    const { git, branch, shown } = await completed(t);
    git('commit', '-q', '--allow-empty', '-m', 'theirs');
    git('config', 'branch.main.mergeOptions', '--no-commit');
    git('config', '--add', 'branch.main.mergeOptions', '--squash');
    const { code, text } = await shown([
      [RUN, 'y\r'],
      [REMOVE, '\r'],
    ]);
    assert.match(text, /Merged work\/\S+ into main\n/);
    assert.equal(code, 0, text);
    assert.equal(git('rev-parse', 'main^2'), git('rev-parse', branch));
  });

  it('makes one commit of it with --squash', { skip: noTerminal }, async (t) => {
    const { id, git, branch, run, shown } = await completed(t);
    const base = git('rev-parse', 'main').trim();
    const commit = git('rev-parse', branch).trim();
    const yes = await shown(
      [
        [RUN, 'y\r'],
        [REMOVE, 'y\r'],
      ],
      '--squash',
    );
    assert.equal(yes.code, 0, yes.text);
    assert.equal(git('log', '-1', '--format=%s|%b').trim(), `Change a|Dossier-Case: ${id}`);
    assert.equal(git('branch', '--list', branch), '');
    const { stdout } = await run('show');
    assert.doesNotMatch(stdout, /Based on/);
    assert.match(stdout, /^It has no worktree on this machine\.$/m);
    const range = `${base.slice(0, 12)}...${commit.slice(0, 12)}`;
    assert.match(stdout, new RegExp(`^git diff ${range}$`, 'm'));
    assert.match(git('diff', range), /^\+two$/m);
  });

  it('is told to `show`, whose command names a branch and runs nothing', async (t) => {
    const { branch, run } = await completed(t, { branch_prefix: 'x;$(id)/' });
    const { stdout } = await run('show');
    const [range = ''] = /^git diff .*$/m.exec(stdout) ?? [];
    assert.ok(range.endsWith(`...${branch}'`), range);
    assert.match(range, /^git diff '[^']+'$/);
  });

  it('squashes whatever the settings of a merge are', { skip: noTerminal }, async (t) => {
    const { git, shown } = await completed(t);
    git('config', 'merge.ff', 'false');
    git('config', 'branch.main.mergeOptions', '--no-ff');
    const { code, text } = await shown(
      [
        [RUN, 'y\r'],
        [REMOVE, '\r'],
      ],
      '--squash',
    );
    assert.equal(code, 0, text);
    assert.equal(git('log', '-1', '--format=%s %p', 'main').trim().split(' ').length, 3);
  });

  it('says that there is nothing to squash where the base has the same changes', {
    skip: noTerminal,
  }, async (t) => {
    const { root, git, shown } = await completed(t);
    writeFileSync(join(root, 'a.txt'), 'two\n');
    git('commit', '-qam', 'the same');
    const { code, text } = await shown([[RUN, 'y\r']], '--squash');
    assert.match(text, /dossier: Nothing to merge: main has all changes of work\/\S+\n$/);
    assert.deepEqual([code, git('status', '--porcelain')], [1, '']);
    // The next commit of the operator would begin with it.
    assert.equal(existsSync(join(root, '.git/SQUASH_MSG')), false);
  });

  it('removes no branch that moved after it was squashed', { skip: noTerminal }, async (t) => {
    const { id, api, git, branch, shown } = await completed(t);
    const { path } = await api.call('GET /api/cases/{id}/worktree', { id });
    const commitMore = () => {
      writeFileSync(join(path, 'late.txt'), 'late\n');
      git('-C', path, 'add', 'late.txt');
      git('-C', path, 'commit', '-q', '-m', 'late');
      return 'y\r';
    };
    const { code, text } = await shown(
      [
        [RUN, 'y\r'],
        [REMOVE, commitMore],
      ],
      '--squash',
    );
    assert.match(text, /Merged work\/\S+ into main\n/);
    assert.match(text, /dossier: The worktree has 2 unpushed commits\./);
    assert.equal(code, 1);
    assert.equal(git('log', '-1', '--format=%s', branch).trim(), 'late');
    assert.equal(existsSync(path), true);
  });

  it('takes back a fast-forward whose ref cannot be updated', { skip: noTerminal }, async (t) => {
    const { root, git, shown } = await completed(t);
    const lock = join(root, '.git/refs/heads/main.lock');
    writeFileSync(lock, '');
    const { code, text } = await shown([[RUN, 'y\r']]);
    assert.equal(code, 1);
    assert.match(text, /dossier: The merge was not committed, so it was aborted: .*main\.lock/);
    assert.equal(git('status', '--porcelain'), '');
    rmSync(lock);
    assert.equal(
      (
        await shown([
          [RUN, 'y\r'],
          [REMOVE, '\r'],
        ])
      ).code,
      0,
    );
  });

  it('takes a merge back whose hook moves the branch and fails', {
    skip: noTerminal,
  }, async (t) => {
    const { root, git, branch, shown } = await completed(t);
    const move = `git update-ref refs/heads/${branch} main && exit 1\n`;
    const fails = async (name: string, script: string) => {
      const tip = git('rev-parse', branch).trim();
      const hook = join(root, '.git/hooks', name);
      writeFileSync(hook, `#!/bin/sh\n${script}`, { mode: 0o755 });
      const { code, text } = await shown([[RUN, 'y\r']]);
      rmSync(hook);
      assert.equal(code, 1);
      assert.match(text, /dossier: The merge was not committed, so it was aborted: /);
      assert.equal(git('rev-parse', branch), git('rev-parse', 'main'));
      assert.equal(git('status', '--porcelain'), '');
      assert.equal(existsSync(join(root, '.git/MERGE_HEAD')), false);
      git('update-ref', `refs/heads/${branch}`, tip);
    };
    await fails('reference-transaction', `grep -q ' refs/heads/main$' && ${move}exit 0\n`);
    git('commit', '-q', '--allow-empty', '-m', 'theirs');
    await fails('pre-merge-commit', move);
  });

  it('says what a merge left that ended while it wrote files, and how to take it back', {
    skip: noTerminal,
  }, async (t) => {
    const file = 'a.txt; echo new > new.txt; echo last > z.txt';
    const { root, git, shown } = await completed(t, { file });
    const script = join(temporaryDirectory(t), 'smudge');
    git('config', 'filter.ends.smudge', script);
    // git status reads files again that are as new as the index.
    git('config', 'filter.ends.clean', 'cat');
    git('config', 'filter.ends.required', 'true');
    writeFileSync(join(root, '.git/info/attributes'), 'z.txt filter=ends\n');
    writeFileSync(join(root, 'own.txt'), 'mine\n');
    const lock = join(root, '.git/index.lock');
    const ended = async (line: string, ...more: string[]) => {
      writeFileSync(script, `#!/bin/sh\n${line}\n`, { mode: 0o755 });
      const { code, text } = await shown([[RUN, 'y\r']], ...more);
      assert.equal(code, 1, text);
      assert.match(
        text,
        /dossier: The merge failed: .*\. It left 1 changed file and \d new files? in /,
      );
      assert.doesNotMatch(text, /Nothing was merged|was aborted/);
      assert.equal(
        text.includes(`If no git command runs there, remove ${lock}. `),
        existsSync(lock),
      );
      const isKilled = existsSync(lock);
      rmSync(lock, { force: true });
      const [, command = ''] = /To take them back: (git -C .*)\n$/.exec(text) ?? [];
      execFileSync('sh', ['-c', command], { stdio: 'pipe' });
      assert.equal(git('status', '--porcelain'), '?? own.txt\n');
      assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'one\n');
      return isKilled;
    };
    assert.equal(await ended('kill -KILL $PPID'), true);
    assert.equal(await ended('kill -KILL $PPID', '--squash'), true);
    assert.equal(await ended('exit 1'), false);
    assert.equal(await ended('exit 1', '--squash'), false);
    const marked = join(root, 'marked.txt');
    writeFileSync(marked, 'one\n');
    git('add', 'marked.txt');
    git('commit', '-q', '-m', 'theirs');
    assert.equal(await ended('kill -KILL $PPID'), true);
    assert.equal(await ended('exit 1'), false);
    // Edits that git does not report stay.
    git('update-index', '--assume-unchanged', 'marked.txt');
    writeFileSync(marked, 'mine\n');
    assert.equal(await ended('kill -KILL $PPID'), true);
    assert.equal(readFileSync(marked, 'utf8'), 'mine\n');
  });

  it('takes no commit of another terminal for the merge', { skip: noTerminal }, async (t) => {
    const { root, git, branch, shown } = await completed(t);
    const theirs = 'git update-ref HEAD $(git commit-tree -p HEAD -m theirs HEAD^{tree})';
    const hook = join(root, '.git/hooks/pre-commit');
    writeFileSync(hook, `#!/bin/sh\n${theirs}\nexit 1\n`, { mode: 0o755 });
    const { code, text } = await shown([[RUN, 'y\r']], '--squash');
    assert.match(text, /git commit failed: .*The merge is staged; finish it: /);
    assert.deepEqual([code, git('branch', '--list', branch).trim()], [1, `+ ${branch}`]);
  });

  it('merges a directory in the place of a file', { skip: noTerminal }, async (t) => {
    const file = 'x; rm x a.txt; mkdir a.txt; echo two > a.txt/b.txt';
    const { root, shown } = await completed(t, { file });
    const { code, text } = await shown([
      [RUN, 'y\r'],
      [REMOVE, '\r'],
    ]);
    assert.equal(code, 0, text);
    assert.equal(readFileSync(join(root, 'a.txt/b.txt'), 'utf8'), 'two\n');
  });

  it('knows a merge that was done when git ended', { skip: noTerminal }, async (t) => {
    const { root, git, branch, shown } = await completed(t);
    const hook = join(root, '.git/hooks/post-merge');
    writeFileSync(hook, '#!/bin/sh\nkill -KILL $PPID\n', { mode: 0o755 });
    const { code, text } = await shown([
      [RUN, 'y\r'],
      [REMOVE, '\r'],
    ]);
    assert.match(text, /Merged work\/\S+ into main\n/);
    assert.deepEqual([code, git('rev-parse', 'main')], [0, git('rev-parse', branch)]);
  });

  it('names what the worktree has checked out, and the branch where it is missing', async (t) => {
    const { id, api, git, branch, said } = await completed(t);
    const { path } = await api.call('GET /api/cases/{id}/worktree', { id });
    git('-C', path, 'switch', '-q', '--detach');
    const detached = await said();
    assert.equal(detached.code, 0, detached.stderr);
    const note = `${path} has no branch checked out: only ${branch} is merged\n`;
    assert.ok(detached.stdout.startsWith(note), detached.stdout);
    git('branch', '-m', branch, 'renamed');
    git('-C', path, 'switch', '-q', 'renamed');
    const renamed = await said();
    assert.ok(renamed.stderr.includes(`no branch ${branch}. ${path} has renamed checked out`));
    rmSync(path, { recursive: true });
    const missing = await said();
    assert.ok(missing.stderr.endsWith(`in your checkout: git merge --no-edit ${branch}\n`));
  });

  it('is refused where another branch is checked out, or files are changed', {
    skip: noTerminal,
  }, async (t) => {
    const { root, git, said, shown } = await completed(t);
    writeFileSync(join(root, 'a.txt'), 'mine\n');
    const dirty = await shown([]);
    assert.equal(dirty.code, 1);
    assert.match(
      dirty.text,
      /1 uncommitted file in \S+, so nothing was merged\. Commit or stash them first/,
    );
    git('checkout', '-q', '--', 'a.txt');
    git('checkout', '-q', '-b', 'other');
    const other = await shown([]);
    assert.match(
      other.text,
      /has other checked out, not main, so nothing was merged\. Run git -C \S+ switch main first/,
    );
    // Nothing that a pipe to sh would merge into the other branch.
    const { code, stdout } = await said();
    assert.deepEqual([code, stdout], [1, '']);
    const json = await said('--json');
    const { commands, refused } = JSON.parse(json.stdout);
    assert.deepEqual([json.code, commands], [1, []]);
    assert.match(refused, /has other checked out, not main/);
    assert.equal(json.stderr, `dossier: ${refused}.\n`);
  });

  it('is refused while an operation of git is in progress, which it leaves as it is', {
    skip: noTerminal,
  }, async (t) => {
    const { git, said, shown } = await completed(t);
    const begin = () => {
      git('merge', '-q', '-s', 'ours', '--no-commit', 'side');
      assert.equal(git('status', '--porcelain'), '');
      return 'y\r';
    };
    git('branch', 'side');
    git('switch', '-q', 'side');
    git('commit', '-q', '--allow-empty', '-m', 'side');
    git('switch', '-q', 'main');
    begin();
    const theirs = git('rev-parse', 'MERGE_HEAD');
    for (const more of [[], ['--squash']]) {
      const { code, text } = await shown([[RUN, 'y\r']], ...more);
      assert.equal(code, 1, text);
      assert.match(
        text,
        /Nothing was merged in \S+: a git operation is in progress \(MERGE_HEAD\)/,
      );
    }
    assert.equal((await said()).code, 1);
    assert.equal(git('rev-parse', 'MERGE_HEAD'), theirs);
    git('merge', '--abort');
    // One that begins while the question stands.
    const late = await shown([[RUN, begin]]);
    assert.match(late.text, /in progress \(MERGE_HEAD\)/);
    assert.deepEqual([late.code, git('rev-parse', 'MERGE_HEAD')], [1, theirs]);
    git('merge', '--abort');
    for (const name of ['CHERRY_PICK_HEAD', 'REVERT_HEAD']) {
      git('update-ref', name, 'side');
      assert.match((await said()).stderr, new RegExp(`in progress \\(${name}\\)`));
      git('update-ref', '-d', name);
    }
    git('bisect', 'start');
    assert.equal((await said()).code, 0);
  });

  it('takes a merge back that conflicts, and says how to go on', {
    skip: noTerminal,
  }, async (t) => {
    const { root, git, shown } = await completed(t);
    writeFileSync(join(root, 'a.txt'), 'three\n');
    git('commit', '-qam', 'theirs');
    for (const more of [[], ['--squash']]) {
      const { code, text } = await shown([[RUN, 'y\r']], ...more);
      assert.equal(code, 1, text);
      assert.match(
        text,
        /conflicts with main, so the merge was aborted\. Rebase it first: git -C /,
      );
      assert.equal(git('status', '--porcelain'), '');
      assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'three\n');
    }
  });

  it('repeats what git says where a merge fails without a conflict', {
    skip: noTerminal,
  }, async (t) => {
    const { root, git, shown } = await completed(t, { file: 'b.txt' });
    writeFileSync(join(root, 'b.txt'), 'mine\n');
    for (const more of [[], ['--squash']]) {
      const { code, text } = await shown([[RUN, 'y\r']], ...more);
      assert.equal(code, 1);
      assert.match(
        text,
        /dossier: Nothing was merged: The following untracked .* overwritten by merge: b\.txt Please .*\. Fix that, then merge again\.\n$/,
      );
      assert.doesNotMatch(text, /conflict|fatal/);
      assert.equal(readFileSync(join(root, 'b.txt'), 'utf8'), 'mine\n');
    }
    rmSync(join(root, 'b.txt'));
    const hook = join(root, '.git/hooks/commit-msg');
    writeFileSync(hook, '#!/bin/sh\necho "No ticket in the message" >&2\nexit 1\n', {
      mode: 0o755,
    });
    git('commit', '-q', '--no-verify', '--allow-empty', '-m', 'theirs');
    const hooked = await shown([[RUN, 'y\r']]);
    assert.equal(hooked.code, 1);
    assert.match(
      hooked.text,
      /dossier: The merge was not committed, so it was aborted: No ticket in the message\. Fix that, then merge again\.\n$/,
    );
    assert.doesNotMatch(hooked.text, /conflict|fatal/);
    assert.equal(git('status', '--porcelain'), '');
    const squashed = await shown([[RUN, 'y\r']], '--squash');
    assert.match(
      squashed.text,
      /git commit failed: No ticket in the message\. The merge is staged; finish it: git -C \S+ commit -m /,
    );
  });

  it('takes no repository from GIT_* variables of the shell', async (t) => {
    const { root, branch, words } = await completed(t);
    const places = { GIT_DIR: '/nowhere/.git', GIT_INDEX_FILE: '/nowhere/index' };
    const env = { ...process.env, ...places };
    const { code, stdout, stderr } = await dossierIn(t, { env }, [...words, '--json']);
    assert.deepEqual([code, stderr], [0, '']);
    const [command] = JSON.parse(stdout).commands;
    const git = `git -C ${root} merge --no-edit ${branch}`;
    assert.equal(command, `env -u GIT_DIR -u GIT_INDEX_FILE ${git}`);
    execFileSync('/bin/sh', ['-c', command], { env, stdio: 'pipe' });
    assert.equal(readFileSync(join(root, 'a.txt'), 'utf8'), 'two\n');
  });

  it('means the branches where tags have their names', {
    skip: noTerminal,
  }, async (t) => {
    const { git, branch, shown } = await completed(t);
    git('tag', branch);
    git('tag', 'main');
    const tag = git('rev-parse', 'main');
    const { code, text } = await shown([
      [RUN, 'y\r'],
      [REMOVE, '\r'],
    ]);
    assert.equal(code, 0, text);
    assert.match(text, new RegExp(`merge --no-edit refs/heads/${branch}\n`));
    assert.equal(git('rev-parse', 'refs/tags/main'), tag);
    assert.equal(git('rev-parse', 'refs/heads/main'), git('rev-parse', `refs/heads/${branch}`));
  });

  it('says that git failed', async (t) => {
    const { root, git, branch, said } = await completed(t);
    git('tag', branch, 'HEAD');
    assert.equal((await said()).code, 0);
    git('commit', '-q', '--allow-empty', '-m', 'lost');
    const lost = git('rev-parse', 'HEAD').trim();
    rmSync(join(root, '.git/objects', lost.slice(0, 2), lost.slice(2)));
    const failed = await said();
    assert.equal(failed.code, 1);
    assert.match(failed.stderr, /git rev-list failed in \S+, so nothing was merged\./);
  });

  it('merges into a base that is named as an option', async (t) => {
    const { git, branch, said } = await completed(t, { base: '--force' });
    const before = await said();
    assert.match(
      before.stderr,
      /has main checked out, not --force, .* Run git -C \S+ switch -- --force first/,
    );
    git('switch', '-q', '--', '--force');
    const { code, stdout } = await said();
    assert.deepEqual([code, stdout.startsWith(`To merge ${branch} into --force:\n`)], [0, true]);
  });

  it('merges in the linked worktree that has the base, as beside a bare repository', async (t) => {
    const top = temporaryDirectory(t);
    const at = gitIn(top);
    at('clone', '-q', '--bare', makeRepository(t, { files: { 'a.txt': 'one\n' } }).root, '.bare');
    at('--git-dir=.bare', 'worktree', 'add', '-q', 'main-wt', 'main');
    const root = join(top, 'main-wt');
    const { branch, said } = await completed(t, { repository: { root, git: gitIn(root) } });
    const { code, stdout, stderr } = await said();
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(
      stdout,
      `To merge ${branch} into main:\n  git -C ${root} merge --no-edit ${branch}\n`,
    );
    gitIn(root)('switch', '-q', '-c', 'other');
    const none = await said();
    assert.equal(none.code, 1);
    assert.match(
      none.stderr,
      /\.bare is a bare repository, and no worktree has main checked out, so nothing was merged\. Create one first with git worktree add\.\n$/,
    );
  });

  it('says that files which are not committed are not merged', async (t) => {
    const { said } = await completed(t, { commit: 'never' });
    const { code, stderr } = await said();
    assert.equal(code, 1);
    assert.match(
      stderr,
      /Nothing to merge: work\/\S+ has no commits beyond main\. 1 uncommitted file in /,
    );
  });

  it('says so of a new file that the settings of git do not show', async (t) => {
    const { git, api, id, said } = await completed(t);
    git('config', 'status.showUntrackedFiles', 'no');
    const { path } = await api.call('GET /api/cases/{id}/worktree', { id });
    writeFileSync(join(path, 'new.txt'), 'new\n');
    const { stdout, stderr } = await said();
    assert.match(stdout + stderr, /1 uncommitted file in \S+: not merged/);
  });
});

describe('dossier show after a rebase', () => {
  it('names the diff from the base that the branch has now', async (t) => {
    const { id, api, root, git, branch, run } = await completed(t);
    writeFileSync(join(root, 'b.txt'), 'theirs\n');
    git('add', 'b.txt');
    git('commit', '-qm', 'theirs');
    await api.call('POST /api/cases/{id}/pr/rebase', { id, body: {} });
    const range = `${git('rev-parse', 'main').slice(0, 12)}...${branch}`;
    assert.match((await run('show')).stdout, new RegExp(`^git diff ${range}$`, 'm'));
    assert.equal(git('diff', '--name-only', range), 'a.txt\n');
  });

  it('says where work went whose branch was merged and whose worktree was removed', async (t) => {
    const { id, api, git, branch, said } = await completed(t);
    git('merge', '--quiet', '--no-edit', branch);
    await api.call('DELETE /api/cases/{id}/worktree', { id });
    const { code, stderr } = await said();
    assert.equal(code, 1);
    assert.match(stderr, /Nothing to merge: main has all changes of its branch, and its worktree/);
  });

  it('names the branch of work that was not merged and whose worktree was removed', async (t) => {
    const { id, api, branch, said, git } = await completed(t);
    await api.call('DELETE /api/cases/{id}/worktree', { id, query: { force: true } });
    const { code, stderr } = await said();
    assert.equal(code, 1);
    const [, command = ''] =
      /on the branch work\/.*\. Merge it in .*: git (.*)\n$/.exec(stderr) ?? [];
    assert.equal(command, `merge --no-edit ${branch}`);
    git(...command.split(' '));
    assert.equal(git('show', 'main:a.txt'), 'two\n');
  });

  it('claims no branch that only the machine of the session has', async (t) => {
    const { id, api, branch, said, git } = await completed(t);
    await api.call('DELETE /api/cases/{id}/worktree', { id, query: { force: true } });
    git('branch', '-D', branch);
    const { code, stderr } = await said();
    assert.equal(code, 1);
    assert.match(
      stderr,
      new RegExp(`There is no worktree and no branch ${branch} on this machine`),
    );
  });
});
