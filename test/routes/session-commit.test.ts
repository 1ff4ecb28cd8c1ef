/** The work of a session that completed is on its branch. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { AttentionItem } from '../../store/records/attention.ts';
import type { Session } from '../../store/records/session.ts';
import type { WorkCommit } from '../../store/records/work-commit.ts';
import type { CurrentStatus } from '../../store/records/worktree-status.ts';
import type { UncommittedWorktree } from '../../store/records/worktree-upkeep.ts';
import { eventually } from '../helpers/eventually.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { newestSession } from '../helpers/service.ts';
import { type SessionTest, withCase } from '../helpers/sessions.ts';

const sh = (...lines: string[]): string => `\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;

/** One whole session: its worktree is the daemon's. `before` is what the operator does there before they approve. */
const worked = async (
  it: SessionTest,
  before?: (path: string) => void,
): Promise<{ session: Session; commit: WorkCommit; path: string }> => {
  const { id } = await it.planned();
  const { path } = await statusOf(it);
  before?.(path);
  await it.post(`/sessions/${id}/approve`);
  const session = await it.until(id, 'completed');
  return { session, path, commit: session.commit ?? NONE };
};

const FROM_FILES = ['-c', 'protocol.file.allow=always'];

const NONE: WorkCommit = { id: null, files: 0, left_out: [], reason: 'there is no commit' };

const statusOf = async ({ running, item }: SessionTest): Promise<CurrentStatus> =>
  (await running.call<CurrentStatus>('GET', `/api/cases/${item.id}/worktree`)).body;

const filesOf = async (it: SessionTest): Promise<string> =>
  gitOf(it, (await statusOf(it)).path, 'status', '--porcelain');

const gitOf = (t: SessionTest, path: string, ...args: string[]): string =>
  t.running.repository.git('-C', path, ...args).trimEnd();

const bodyOf = ({ running, item }: SessionTest): string =>
  readFileSync(join(newestSession(running, item), 'session.md'), 'utf8');

describe('completed work', () => {
  it('names what it reverted or deleted of what the operator had there, and where it is', async (t) => {
    const lines = ['git reset -q --hard', 'git clean -fdq', 'printf "%s" moved > to.txt'];
    const it = await withCase(t, sh(...lines));
    const { session, commit, path } = await worked(it, (place) => {
      writeFiles(place, { 'README.md': 'mine\n', 'mine.txt': 'mine\n', 'from.txt': 'moved' });
    });
    const message = 'Reverted or deleted since the approval: README.md, mine.txt';
    assert.deepEqual([commit.reverted, commit.files], [['README.md', 'mine.txt'], 1]);
    assert.equal(session.commit?.message, message);
    assert.match(
      bodyOf(it),
      /since:\n\n```text\nREADME\.md\nmine\.txt\n```\n\nTheir content is in/,
    );
    const told = (await it.eventsOf(session.id)).filter(({ event }) => event === 'error');
    assert.match(
      String(told[0]?.data.message),
      /reverted or deleted since: README\.md, mine\.txt\./,
    );
    const { body } = await it.running.call<AttentionItem[]>('GET', '/attention');
    assert.match(JSON.stringify(body), /Reverted or deleted since the approval: README\.md/);
    const patch = join(newestSession(it.running, it.item), 'since-approval.patch');
    gitOf(it, path, 'apply', '--reverse', '--include=mine.txt', patch);
    assert.equal(readFileSync(join(path, 'mine.txt'), 'utf8'), 'mine\n');
  });

  it('lists the commits that are not by the daemon, with the files in them that it leaves out', async (t) => {
    const lines = [
      'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b',
      'echo a > .env; mkdir keys; echo b > keys/id_rsa; head -c 7000000 /dev/zero > big.bin; echo c > plain.txt',
      'git add .; git commit -qm "All of it"',
      'git rm -q .env; git commit -qm "Without it"',
    ];
    const it = await withCase(t, sh(...lines));
    const { session, commit, path } = await worked(it);
    const { count, commits, files } = commit.other_commits ?? assert.fail('there are none');
    assert.deepEqual(
      [count, commits.map(({ subject }) => subject)],
      [2, ['Without it', 'All of it']],
    );
    assert.equal(commits[0]?.id, gitOf(it, path, 'rev-parse', 'HEAD'));
    assert.deepEqual(files, [
      { path: '.env', why: 'secret' },
      { path: 'big.bin', why: 'large' },
      { path: 'keys/id_rsa', why: 'secret' },
    ]);
    const message = 'In commits that Dossier did not make: .env, big.bin, keys/id_rsa';
    assert.deepEqual([commit.id, session.commit?.message], [null, message]);
    const body = bodyOf(it);
    assert.match(body, /^The branch has 2 commits that Dossier did not make/m);
    assert.match(body, /^[0-9a-f]{12} All of it$/m);
    assert.match(body, /^keys\/id_rsa {2}is named like a file with secrets$/m);
    assert.match(body, /^big\.bin {2}is over 5 MB$/m);
    assert.doesNotMatch(body, /^## Commit$/m);
    const told = (await it.eventsOf(session.id)).filter(({ event }) => event === 'error');
    assert.match(String(told.at(-1)?.data.message), /left out: \.env, big\.bin, keys\/id_rsa\./);
    const left = await it.running.call<UncommittedWorktree[]>('GET', '/api/worktrees/uncommitted');
    assert.deepEqual(left.body, []);
  });

  it('has room for what is named, however long the names are', async (t) => {
    const lines = [
      'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b',
      'long=$(printf "%0200d" 0); mkdir -p $long/$long',
      'for n in $(seq 90); do echo a > $long/$long/$n.env; done; git add .',
      'for n in $(seq 12); do git commit -q --allow-empty -m "$(printf "%06000d" $n)"; done',
    ];
    const { session, commit } = await worked(await withCase(t, sh(...lines)));
    const { count, commits, files } = commit.other_commits ?? assert.fail('there are none');
    assert.equal(session.status, 'completed');
    assert.deepEqual([count, commits.length, files.length], [12, 10, 4]);
    assert.ok(commits.every(({ subject }) => subject.length < 250));
  });

  it('is beside the commits of others, of which merged ones are none', async (t) => {
    const lines = [
      'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b',
      'git merge -q --no-edit theirs; git tag mine',
      'echo 1 > 1.txt; git add .; git commit -qm "One"; echo 2 > 2.txt',
    ];
    const it = await withCase(t, sh(...lines));
    const { git, root } = it.running.repository;
    git('switch', '-q', '-c', 'theirs');
    writeFiles(root, { '.env': 'theirs\n' });
    git('add', '--all');
    git('commit', '-qm', 'Theirs');
    git('switch', '-q', '-');
    const { commit, session } = await worked(it);
    assert.deepEqual(
      [commit.other_commits?.commits.map(({ subject }) => subject), commit.other_commits?.files],
      [['One'], []],
    );
    assert.deepEqual([commit.files, session.commit?.message], [1, null]);
    assert.match(bodyOf(it), /^## Commits of others$[\s\S]*^## Commit$/m);
  });

  it('does not say that no file was changed where the work of the operator is gone', async (t) => {
    const it = await withCase(t, sh('git clean -fdq'));
    const { session } = await worked(it, (place) => writeFiles(place, { 'mine.txt': 'mine\n' }));
    assert.doesNotMatch(bodyOf(it), /No file was changed/);
    assert.match(bodyOf(it), /No file differs from the base\.[\s\S]*mine\.txt/);
    assert.equal(session.commit?.message, 'Reverted or deleted since the approval: mine.txt');
    const left = await it.running.call<UncommittedWorktree[]>('GET', '/api/worktrees/uncommitted');
    assert.deepEqual(left.body, []);
  });

  it('says nothing of it where the work only changed or kept those files', async (t) => {
    const it = await withCase(t, sh('echo more >> mine.txt', 'rm README.md', 'git add kept.txt'));
    const { commit } = await worked(it, (place) =>
      writeFiles(place, { 'mine.txt': 'mine\n', 'kept.txt': 'kept\n' }),
    );
    assert.deepEqual(
      [commit.reverted, bodyOf(it).includes('reverted or deleted')],
      [undefined, false],
    );
  });

  it('is one commit on its branch, by the operator, that says where it is from', async (t) => {
    const it = await withCase(t, sh('echo new > new.txt', 'rm README.md'));
    it.running.repository.git('config', 'user.name', 'Ada');
    it.running.repository.git('config', 'user.email', 'ada@example.org');
    const { session, commit, path } = await worked(it);
    assert.deepEqual(commit, { id: commit.id, files: 2, left_out: [], message: null });
    assert.equal(await filesOf(it), '');
    assert.equal(gitOf(it, path, 'rev-parse', String(session.branch)), commit.id);
    assert.equal(gitOf(it, path, 'rev-list', '--count', `${session.base_commit}..HEAD`), '1');
    const said = gitOf(it, path, 'log', '-1', '--format=%an <%ae>|%cn|%B').trimEnd();
    const trailers = [
      `Dossier-Case: ${it.item.id}`,
      `Dossier-Session: ${session.id}`,
      `Dossier-Approved: ${session.approved_sha256}`,
      'Dossier-Agent: runbook',
    ];
    assert.equal(said, `Ada <ada@example.org>|Ada|Say hello\n\n${trailers.join('\n')}`);
    assert.match(bodyOf(it), new RegExp(`git show ${String(commit.id).slice(0, 12)}`));
    const { text } = await it.running.call('GET', `${it.at}/sessions/${session.id}/diff`);
    assert.match(text, /^\+new$/m);
  });

  it('is in the name that git has for this repository, as commits of the agent are', async (t) => {
    const home = temporaryDirectory(t);
    const lines = 'echo 1 > a; git add a; git commit -qm mine; echo 2 > b';
    const it = await withCase(t, sh(lines), { env: { HOME: home } });
    const { git, root } = it.running.repository;
    for (const key of ['user.name', 'user.email']) git('config', '--unset-all', key);
    writeFiles(home, {
      '.gitconfig': `[user]\n\tname = Home\n\temail = h@example.org\n[includeIf "gitdir:${root}/"]\n\tpath = work.cfg\n`,
      'work.cfg': '[user]\n\tname = Wörk\n\temail = w@example.org\n',
    });
    const { commit, path } = await worked(it);
    assert.notEqual(commit.id, null, commit.reason ?? '');
    const wrote = gitOf(it, path, 'log', '-2', '--format=%an %ae %cn');
    assert.equal(wrote, 'Wörk w@example.org Wörk\nWörk w@example.org Wörk');
  });

  it('leaves out what was there before the plan was approved', async (t) => {
    const it = await withCase(t, sh('echo new > new.txt'));
    const { commit } = await worked(it, (path) => writeFiles(path, { 'mine.txt': 'mine\n' }));
    assert.equal(commit.files, 1);
    assert.equal(await filesOf(it), '?? mine.txt');
  });

  it('leaves out untracked files that look like secrets or are large, and names them', async (t) => {
    const lines = [
      'echo TOKEN=1 > .env.local; echo TOKEN= > .env.example',
      'mkdir -p keys; echo x > keys/server.pem; head -c 6000000 /dev/zero > big.bin',
      'echo y >> README.md',
    ];
    const it = await withCase(t, sh(...lines));
    const { commit } = await worked(it);
    assert.deepEqual(
      commit.left_out
        .toSorted((a, b) => (a.path < b.path ? -1 : 1))
        .map((one) => Object.values(one)),
      [
        ['.env.local', 'secret'],
        ['big.bin', 'large'],
        ['keys/server.pem', 'secret'],
      ],
    );
    assert.equal(commit.files, 2);
    assert.match(bodyOf(it), /keys\/server\.pem {2}is named like a file with secrets/);
  });

  it('leaves out new files that look like secrets, staged or not, and leaves them as they were', async (t) => {
    const lines = [
      'printf T > .env; printf K > a.key; head -c 6000000 /dev/zero > big.bin; printf x > new.txt',
      'printf y > gone.txt; git add -N a.key; git add .env big.bin new.txt gone.txt; rm gone.txt',
      'printf 2 > old.key; git add old.key; git rm -q --cached kept.key',
    ];
    const files = { 'old.key': '1', 'kept.key': '1' };
    const it = await withCase(t, sh(...lines), { files });
    const { commit, path } = await worked(it);
    assert.deepEqual(
      Object.fromEntries(commit.left_out.map((one) => [one.path, one.why])),
      {
        '.env': 'secret',
        'a.key': 'secret',
        'big.bin': 'large',
        'kept.key': 'secret',
      },
      commit.reason ?? '',
    );
    assert.equal(
      gitOf(it, path, 'show', '--format=', '--name-status', 'HEAD'),
      'A\tnew.txt\nM\told.key',
    );
    assert.equal(await filesOf(it), 'A  .env\nAM a.key\nA  big.bin\nD  kept.key\n?? kept.key');
  });

  it('says how to commit all of it, and nothing else, where git takes none', async (t) => {
    const lines =
      'git rm -q b.txt; mkdir b.txt; printf "x\\r\\n" > b.txt/x; rm c.txt; echo s > a.key';
    const it = await withCase(t, sh(lines), { files: { 'b.txt': 'b\n', 'c.txt': 'c\n' } });
    const { git } = it.running.repository;
    git('config', 'core.autocrlf', 'input');
    git('config', 'core.safecrlf', 'true');
    const { commit, path } = await worked(it);
    assert.match(String(commit.reason), /CRLF would be replaced by LF in b\.txt\/x/);
    const command = `git -C ${path} add --all -- c.txt b.txt/x && git -C ${path} commit`;
    assert.equal(commit.command, command);
    git('config', 'core.safecrlf', 'false');
    execFileSync('sh', ['-c', `${command} -qm x`], { stdio: 'ignore' });
    assert.equal(await filesOf(it), '?? a.key');
  });

  it('leaves out what copy_files copied, whatever the ignore rules say afterwards', async (t) => {
    const it = await withCase(
      t,
      sh(
        'printf "node_modules\\n" > .gitignore',
        'git add -f config/db.local',
        'echo 1 > own.local',
      ),
      {
        files: { '.gitignore': 'app.conf\n*.local\n' },
        settings: 'worktrees:\n  copy_files: ["app.conf", "config/*.local"]\n',
      },
    );
    const { root } = it.running.repository;
    writeFiles(root, { 'app.conf': 'T\n', 'config/db.local': 'T\n' });
    const { commit } = await worked(it);
    const patch = readFileSync(join(newestSession(it.running, it.item), 'diff.patch'), 'utf8');
    assert.match(patch, /\+1$/m);
    assert.doesNotMatch(patch, /^diff .*(?:app\.conf|db\.local)|^\+T$/m);
    assert.match(
      bodyOf(it),
      /only in the worktree[^\n]*:\n\n```text\nconfig\/db\.local\napp\.conf\n/,
    );
    assert.deepEqual(
      Object.fromEntries(commit.left_out.map((one) => [one.path, one.why])),
      { 'app.conf': 'copied', 'config/db.local': 'copied' },
      commit.reason ?? '',
    );
    assert.equal(commit.files, 2);
    assert.equal(await filesOf(it), 'A  config/db.local\n?? app.conf');
    assert.match(bodyOf(it), /app\.conf {2}was copied from your checkout by copy_files/);
  });

  it('leaves out files with names that git refuses, counts without them, and names them', async (t) => {
    const it = await withCase(
      t,
      sh(
        "echo p > 'git~1'; mkdir -p src/.GIT; echo p > src/.GIT/p; echo new > new.txt; ln -s new.txt .gitmodules",
      ),
    );
    const { commit } = await worked(it);
    assert.deepEqual(
      commit.left_out.map((one) => Object.values(one)),
      [
        ['.gitmodules', 'name'],
        ['git~1', 'name'],
        ['src/.GIT/p', 'name'],
      ],
    );
    assert.equal(commit.files, 1);
    assert.match(bodyOf(it), /git~1 {2}has a name that git refuses/);
    const alone = await withCase(t, sh("echo p > 'git~1'"));
    const { commit: none } = await worked(alone);
    assert.deepEqual([none.id, none.files, none.left_out.length], [null, 0, 1]);
    assert.match(
      bodyOf(alone),
      /Nothing was committed\.[\s\S]*git~1 {2}has a name that git refuses/,
    );
  });

  it('leaves out a tracked file of two gigabytes, of its diff too, and names it', async (t) => {
    const files = { 'a.txt': 'a\n', 'b.txt': 'b\n' };
    const it = await withCase(t, sh('truncate -s 2G a.txt; git add b.txt; echo c > b.txt'), {
      files,
    });
    const { session, commit } = await worked(it);
    assert.deepEqual([commit.files, commit.left_out], [1, [{ path: 'a.txt', why: 'large' }]]);
    assert.match(bodyOf(it), /Not in the patch[^\n]*:\n\n```text\na\.txt\n/);
    const { text } = await it.running.call('GET', `${it.at}/sessions/${session.id}/diff`);
    assert.match(text, /^\+c$/m);
    assert.doesNotMatch(text, /a\.txt/);
    assert.equal(await filesOf(it), ' M a.txt');
  });

  it('names the submodules whose files its diff does not have, checked out or not', async (t) => {
    const it = await withCase(t, sh('mkdir absent/src; touch absent/src/a; touch present/deep/a'));
    const inner = makeRepository(t, { files: { 'deep/b': 'b\n' } });
    const { git } = it.running.repository;
    for (const path of ['absent', 'present'])
      git(...FROM_FILES, 'submodule', '--quiet', 'add', inner.root, path);
    git('commit', '--quiet', '--message=submodules');
    const { session } = await worked(it, (path) => {
      gitOf(it, path, ...FROM_FILES, 'submodule', '--quiet', 'update', '--init', 'present');
    });
    assert.match(bodyOf(it), /Not in the patch[^\n]*:\n\n```text\nabsent\/\npresent\/\n```/);
    const told = (await it.eventsOf(session.id)).find(({ data }) => data.code === 'git_noted');
    assert.match(String(told?.data.message), /^Not in diff\.patch: absent\/, present\/\. /);
  });

  it('names what only a .gitignore that ignores itself hides, settings of agents too', async (t) => {
    const it = await withCase(
      t,
      sh(
        "echo '*' > .gitignore; echo new > new.txt; mkdir .claude; echo {} > .claude/settings.json",
        "mkdir src; echo '/*.log' > src/.gitignore; echo new > src/a.log; git add -f src/.gitignore",
      ),
    );
    const { session } = await worked(it);
    assert.match(
      bodyOf(it),
      /Neither in the patch nor committed[^\n]*:\n\n```text\n\.claude\/\n\.gitignore\nnew\.txt\n/,
    );
    assert.match(
      bodyOf(it),
      /\*\*Settings of agents or editors are there that git does not show:\*\* `\.claude\/`/,
    );
    const told = (await it.eventsOf(session.id)).find(({ data }) => data.code === 'git_noted');
    assert.match(String(told?.data.message), /committed: \.claude\/, \.gitignore, new\.txt, src/);
  });

  it('leaves out what the repository has a filter for, tracked or staged files too', async (t) => {
    const files = {
      '.gitattributes': '[attr]crypt filter=git-crypt\n*.conf crypt\n',
      'old.conf': '\0GITCRYPT\0old',
      'gone.conf': '\0GITCRYPT\0gone',
    };
    const lines = [
      'echo TOKEN=1 > old.conf; echo TOKEN=2 > new.conf; rm gone.conf',
      `printf '\\0GITCRYPT\\0x' > encrypted.conf; ln -s README.md link.conf`,
      'echo TOKEN=3 > staged.conf; oid=$(git hash-object -w --no-filters staged.conf)',
      'git update-index --add --cacheinfo "100644,$oid,staged.conf"',
      'echo more >> README.md',
    ];
    const it = await withCase(t, sh(...lines), { files });
    const { git } = it.running.repository;
    git('config', 'filter.git-crypt.clean', 'false');
    git('config', 'filter.git-crypt.required', 'true');
    const { session, commit, path } = await worked(it);
    assert.deepEqual(
      [commit.files, commit.left_out],
      [4, ['old.conf', 'staged.conf', 'new.conf'].map((each) => ({ path: each, why: 'filter' }))],
    );
    assert.match(
      String(session.commit?.message),
      /^Not committed: old\.conf, staged\.conf, new\.conf$/,
    );
    assert.equal(
      gitOf(it, path, 'show', '--format=', '--name-status', 'HEAD'),
      'A\tREADME.md\nA\tencrypted.conf\nD\tgone.conf\nA\tlink.conf',
    );
    assert.equal(readFileSync(join(path, 'old.conf'), 'utf8'), 'TOKEN=1\n');
    assert.match(bodyOf(it), /old\.conf {2}needs a filter of the repository/);
  });

  it('is not committed where the settings say never', async (t) => {
    const never = { settings: 'worktrees:\n  commit: never\n' };
    const it = await withCase(t, sh('echo new > new.txt'), never);
    const { session } = await worked(it);
    assert.equal(session.commit, undefined);
    assert.equal(await filesOf(it), '?? new.txt');
  });

  it('runs no hook of the repository', async (t) => {
    const it = await withCase(t, sh('echo new > new.txt'));
    const hooks = join(it.running.repository.root, '.git', 'hooks');
    mkdirSync(hooks, { recursive: true });
    writeFileSync(join(hooks, 'pre-commit'), '#!/bin/sh\nexit 1\n');
    chmodSync(join(hooks, 'pre-commit'), 0o755);
    const { commit } = await worked(it);
    assert.equal(commit.files, 1);
    assert.notEqual(commit.id, null);
  });

  it('is signed where the operator signs; where that fails nothing is committed, and it is said', async (t) => {
    const home = temporaryDirectory(t);
    const program = join(home, 'gpg');
    const sign = '[commit]\n\tgpgSign = true\n[gpg]\n\tprogram = ';
    writeFiles(home, {
      '.gitconfig': `${sign}${program}\n`,
      gpg: '#!/bin/sh\nset -e\ntest ! -e "$0.asks"\ncat > /dev/null\necho "[GNUPG:] SIG_CREATED " >&2\nprintf -- "-----BEGIN PGP SIGNATURE-----\\n\\nx\\n-----END PGP SIGNATURE-----\\n"\n',
    });
    chmodSync(program, 0o755);
    const it = await withCase(t, sh('date +%N > new.txt'), { env: { HOME: home } });
    it.running.repository.git('config', '--unset', 'commit.gpgSign');
    const { commit, path } = await worked(it);
    assert.match(gitOf(it, path, 'cat-file', 'commit', String(commit.id)), /^gpgsig /m);
    writeFileSync(`${program}.asks`, '');
    const again = await worked(it);
    assert.equal(again.commit.id, null);
    assert.match(String(again.commit.reason), /gpg failed to sign|failed to write commit/);
    assert.match(String(again.commit.command), /^git -C \S+ commit$/);
    assert.match(bodyOf(it), /Nothing was committed/);
    assert.equal(gitOf(it, path, 'rev-parse', 'HEAD'), commit.id);
    assert.equal(await filesOf(it), 'M  new.txt');
  });

  it('takes no signing program from the repository', async (t) => {
    const it = await withCase(t, sh('echo new > new.txt'));
    const evil = join(temporaryDirectory(t), 'evil');
    writeFileSync(evil, `#!/bin/sh\ntouch ${evil}.ran\nexit 1\n`);
    chmodSync(evil, 0o755);
    const { git } = it.running.repository;
    git('config', 'commit.gpgSign', 'true');
    git('config', 'gpg.program', evil);
    const { commit } = await worked(it);
    assert.equal(commit.id, null);
    assert.throws(() => readFileSync(`${evil}.ran`));
  });

  it('makes no commit without parents where the branch was deleted, and says how to get it back', async (t) => {
    const it = await withCase(
      t,
      sh('echo new > new.txt; rm README.md', 'while ! test -e go; do sleep 0.1; done; rm go'),
    );
    const { id } = await it.start();
    const { branch } = await it.until(id, 'plan_ready');
    const { path } = await statusOf(it);
    const tip = gitOf(it, path, 'rev-parse', 'HEAD');
    await it.post(`/sessions/${id}/approve`);
    await eventually(() => assert.ok(existsSync(join(path, 'new.txt'))));
    it.running.repository.git('update-ref', '-d', `refs/heads/${branch}`);
    writeFiles(path, { go: '' });
    const { commit } = await it.until(id, 'completed');
    const back = `reset --soft ${tip}`;
    assert.deepEqual([commit?.id, commit?.files, commit?.left_out], [null, 2, []]);
    assert.equal(
      commit?.reason,
      `the branch ${branch} was deleted; \`git -C ${path} ${back}\` creates it again at its last commit`,
    );
    assert.deepEqual(
      (await listed(it)).map(({ files }) => files),
      [2],
    );
    assert.equal(it.running.repository.git('branch', '--list', String(branch)), '');
    gitOf(it, path, ...back.split(' '));
    assert.equal(gitOf(it, path, 'rev-parse', String(branch)), tip);
    assert.equal(gitOf(it, path, 'status', '--porcelain'), ' D README.md\n?? new.txt');
    assert.equal(readFileSync(join(path, 'new.txt'), 'utf8'), 'new\n');
  });

  it('waits for the operator where a merge is under way, or HEAD is elsewhere', async (t) => {
    const it = await withCase(t, sh('echo new > new.txt'));
    const { commit, path } = await worked(it, (where) =>
      gitOf(it, where, 'checkout', '-q', '--detach'),
    );
    assert.equal(commit.id, null);
    assert.match(String(commit.reason), /^HEAD is on no branch, not on work\//);
    assert.equal(gitOf(it, path, 'status', '--porcelain'), '?? new.txt');
  });
});

const listed = async ({ running }: SessionTest): Promise<UncommittedWorktree[]> =>
  (await running.call<UncommittedWorktree[]>('GET', '/api/worktrees/uncommitted')).body;

describe('work that did not complete', () => {
  const LEFT = '1 uncommitted file';

  const ended = async (it: SessionTest, status: Session['status']): Promise<Session> => {
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    return it.until(id, status);
  };

  it('is counted in its record, in the inbox and in the list, until it is committed', async (t) => {
    const it = await withCase(t, sh('echo new > new.txt', 'exit 1'));
    const { id, commit } = await ended(it, 'failed');
    assert.deepEqual([commit?.id, commit?.files, commit?.message], [null, 1, LEFT]);
    assert.match(
      bodyOf(it),
      /## Commit\n\n1 uncommitted file\. Only completed work is committed\./,
    );
    const { body: inbox } = await it.running.call<AttentionItem[]>('GET', '/attention');
    assert.match(
      inbox.find(({ kind }) => kind === 'failed')?.message ?? '',
      /1 uncommitted file\.$/,
    );
    assert.deepEqual(await listed(it), [
      { case_id: it.item.id, session_id: id, files: 1, message: LEFT },
    ]);
    const { path } = await statusOf(it);
    gitOf(it, path, 'add', '--all');
    gitOf(it, path, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'by hand');
    assert.deepEqual(await listed(it), []);
  });

  it('is counted while it is paused, and no more once it continues', async (t) => {
    const it = await withCase(
      t,
      sh('echo new > new.txt', 'while ! test -e go; do sleep 0.1; done'),
    );
    const { id } = await it.planned();
    await it.post(`/sessions/${id}/approve`);
    const { path } = await statusOf(it);
    await eventually(() => assert.ok(existsSync(join(path, 'new.txt'))));
    await it.running.call('POST', `/api/cases/${it.item.id}/session/pause`);
    assert.equal((await it.until(id, 'paused')).commit?.message, LEFT);
    writeFiles(path, { go: '' });
    await it.running.call('POST', `/api/cases/${it.item.id}/session/resume`, { from: 'again' });
    const { commit } = await it.until(id, 'completed');
    assert.equal(commit?.message, null);
    assert.notEqual(commit.id, null);
    assert.deepEqual(await listed(it), []);
  });

  it('is not counted where the settings say never', async (t) => {
    const never = { settings: 'worktrees:\n  commit: never\n' };
    const it = await withCase(t, sh('echo new > new.txt', 'exit 1'), never);
    assert.equal((await ended(it, 'failed')).commit, undefined);
  });
});
