import assert from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { ServiceError } from '../../../../../lib/errors.ts';
import type { Repository } from '../../../../../lib/tools/git/read/repository.ts';
import { type Push, pushWithLease } from '../../../../../lib/tools/git/remote/push.ts';
import { fetchInto, remoteRefs } from '../../../../../lib/tools/git/remote/remote.ts';
import {
  addressFrom,
  addressOf,
  type RemoteAddress,
} from '../../../../../lib/tools/git/remote/remote-address.ts';
import { createGit } from '../../../../../lib/tools/git/run/create-git.ts';
import { GitError } from '../../../../../lib/tools/git/run/error.ts';
import type { Git } from '../../../../../lib/tools/git/run/git.ts';
import { cleanEnvironment } from '../../../../../lib/tools/process/environment.ts';
import { type Fault, hostedBare, openGitServer } from '../../../../helpers/git-server.ts';
import { asyncGit } from '../../../../helpers/git-workspace.ts';
import {
  gitIn,
  known,
  makeRepository,
  type TestRepository,
  temporaryDirectory,
  testGit,
  writeFiles,
} from '../../../../helpers/repository.ts';

const MAIN = 'refs/heads/main';
const W = 'refs/heads/w';
const INTO = 'refs/remotes/origin/main';

const commit = ({ root, git }: TestRepository, name: string): string => {
  writeFiles(root, { [name]: `${name}\n`.repeat(5000) });
  git('add', '--all');
  git('commit', '--quiet', '-m', name);
  return git('rev-parse', 'HEAD').trim();
};

const setUp = async (t: TestContext) => {
  const server = await openGitServer(t);
  const mine = makeRepository(t);
  const hosted = server.host('team/app.git', mine);
  const place = known(mine);
  const remote = addressFrom(hosted.url_with_token, place);
  return { server, mine, hosted, place, remote, git: testGit(t) };
};

const fetchMain = async (
  git: Git,
  place: Repository,
  remote: RemoteAddress,
  branch = 'main',
): Promise<string> => {
  await fetchInto(git.at(place), { remote, branch, into: INTO });
  return gitIn(place.root)('rev-parse', INTO).trim();
};

const failureOf = async (work: Promise<unknown>): Promise<ServiceError> => {
  const error = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  assert.ok(error instanceof ServiceError, String(error));
  return error;
};

describe('addressFrom', () => {
  const { common_dir } = { common_dir: '/code/app/.git' };
  const at = (address: string): RemoteAddress =>
    addressFrom(address, { git_dir: common_dir, common_dir });

  it('takes user and password out of a URL', () => {
    assert.deepEqual(at('https://me:p%40ss@example.com/a.git'), {
      url: 'https://example.com/a.git',
      credentials: { username: 'me', password: 'p@ss' },
    });
    assert.deepEqual(at('https://me@example.com/a.git'), {
      url: 'https://example.com/a.git',
      credentials: { username: 'me' },
    });
  });

  it('leaves other addresses as they are, and finds a relative path from the main checkout', () => {
    for (const url of ['https://example.com/a', 'git@example.com:a/b.git', 'ssh://git@host/a'])
      assert.deepEqual(at(url), { url });
    assert.deepEqual(at('../other.git'), { url: '/code/other.git' });
    assert.deepEqual(at('/srv/x:y.git'), { url: '/srv/x:y.git' });
  });
});

describe('addressOf', () => {
  it('knows a remote by name, for fetching and for pushing, as git rewrites it', async (t) => {
    const mine = makeRepository(t);
    const git = testGit(t);
    mine.git('config', 'remote.origin.url', 'https://host.example/a.git');
    mine.git('config', 'remote.origin.pushurl', 'https://u:p@host.example/b.git');
    mine.git('config', 'url.http://127.0.0.1:1/.insteadOf', 'https://host.example/');
    const place = known(mine);
    assert.deepEqual(await addressOf(git.at(place), 'origin', 'fetch'), {
      url: 'http://127.0.0.1:1/a.git',
    });
    assert.deepEqual(await addressOf(git.at(place), 'origin', 'push'), {
      url: 'https://host.example/b.git',
      credentials: { username: 'u', password: 'p' },
    });
    for (const name of ['other', '--push']) {
      const error = await failureOf(addressOf(git.at(place), name, 'push'));
      assert.equal(error.code, 'invalid_state');
      assert.match(error.message, /git remote add/);
    }
  });
});

describe('fetchInto', () => {
  it('brings the commits of one branch over HTTP, and writes one ref', async (t) => {
    const { mine, hosted, place, remote, git, server } = await setUp(t);
    const there = makeRepository(t);
    there.git('pull', '--quiet', '--rebase=false', '--allow-unrelated-histories', hosted.root);
    const id = commit(there, 'theirs');
    there.git('push', '--quiet', hosted.root, 'main', 'main:other');
    assert.equal(await fetchMain(git, place, remote), id);
    assert.equal(mine.git('for-each-ref', '--format=%(refname)').trim(), [MAIN, INTO].join('\n'));
    assert.ok(!existsSync(join(place.common_dir, 'FETCH_HEAD')));
    assert.ok(server.requests.some((line) => /upload-pack 200/.test(line)));
    assert.equal((await remoteRefs(git.at(place), { remote }, [MAIN])).get(MAIN), id);
  });

  it('puts the branch of a named remote where git keeps it', async (t) => {
    const { mine, hosted, place, git } = await setUp(t);
    mine.git('remote', 'add', 'origin', hosted.url_with_token);
    const into = 'refs/remotes/origin/main';
    const remote = await addressOf(git.at(place), 'origin', 'fetch');
    await fetchInto(git.at(place), { remote, branch: 'main', into });
    assert.equal(mine.git('rev-parse', INTO), mine.git('rev-parse', 'main'));
  });

  it('brings them from a bare repository at a relative path', async (t) => {
    const root = temporaryDirectory(t);
    const mine = makeRepository(t);
    hostedBare(join(root, 'bare.git'), mine.root);
    const remote = addressFrom(`../${root.split('/').at(-1)}/bare.git`, known(mine));
    const id = await fetchMain(testGit(t), known(mine), remote);
    assert.equal(id, mine.git('rev-parse', 'main').trim());
  });

  it('takes a pack that comes in pieces', async (t) => {
    const { server, hosted, mine, place, remote, git } = await setUp(t);
    const id = commit(mine, 'more');
    mine.git('push', '--quiet', hosted.root, 'main');
    mine.git('reset', '--quiet', '--hard', 'HEAD^');
    server.fault = 'slow';
    assert.equal(await fetchMain(git, place, remote), id);
  });

  it('says that the remote has no such branch', async (t) => {
    const { place, remote, git } = await setUp(t);
    const error = await failureOf(fetchMain(git, place, remote, 'nope'));
    assert.equal(error.code, 'codehost_not_found');
    assert.match(error.message, /no such branch/);
  });
});

describe('pushWithLease', () => {
  it('makes a branch that is not there, moves it, and follows it here', async (t) => {
    const { mine, hosted, place, git } = await setUp(t);
    const first = commit(mine, 'one');
    mine.git('remote', 'add', 'origin', hosted.url_with_token);
    const remote = await addressOf(git.at(place), 'origin', 'push');
    const to = { remote, name: 'origin', ref: 'refs/heads/work/x' };
    await pushWithLease(git.at(place), { ...to, commit: first, expected: null });
    assert.equal(hosted.git('rev-parse', 'work/x').trim(), first);
    mine.git('commit', '--quiet', '--amend', '-m', 'another');
    const second = mine.git('rev-parse', 'HEAD').trim();
    await pushWithLease(git.at(place), { ...to, commit: second, expected: first });
    assert.equal(hosted.git('rev-parse', 'work/x').trim(), second);
    assert.equal(mine.git('rev-parse', 'refs/remotes/origin/work/x').trim(), second);
  });

  it('overwrites nothing that somebody pushed in between: 409', async (t) => {
    const { mine, hosted, place, remote, git } = await setUp(t);
    const before = mine.git('rev-parse', 'main').trim();
    const theirs = commit(mine, 'theirs');
    mine.git('push', '--quiet', hosted.root, 'main');
    for (const expected of [before, null]) {
      const push: Push = { remote, commit: before, ref: MAIN, expected };
      const error = await failureOf(pushWithLease(git.at(place), push));
      assert.equal(error.code, 'remote_moved');
      assert.match(error.message, /Nothing was overwritten/);
    }
    assert.equal(hosted.git('rev-parse', 'main').trim(), theirs);
  });

  it('says what a hook of the remote said, by path and over HTTP: 422', async (t) => {
    const { mine, hosted, place, remote, git } = await setUp(t);
    const hook = join(hosted.root, 'hooks', 'pre-receive');
    writeFileSync(hook, '#!/bin/sh\necho "Only on Mondays." >&2\nexit 1\n');
    chmodSync(hook, 0o755);
    const id = commit(mine, 'one');
    for (const to of [remote, { url: hosted.root }]) {
      const error = await failureOf(
        pushWithLease(git.at(place), { remote: to, commit: id, ref: W, expected: null }),
      );
      assert.equal(error.code, 'push_refused');
      assert.match(error.message, /hook declined.*Only on Mondays/);
    }
  });

  it('finds that the remote took it though the connection was cut, and says when it cannot tell', async (t) => {
    const { server, mine, hosted, place, remote, git } = await setUp(t);
    const id = commit(mine, 'one');
    server.fault = 'cut receipt';
    await pushWithLease(git.at(place), { remote, commit: id, ref: W, expected: null });
    assert.equal(hosted.git('rev-parse', 'w').trim(), id);
    server.fault = 'cut answer';
    const next = commit(mine, 'two');
    const push: Push = { remote, commit: next, ref: W, expected: id };
    const error = await failureOf(pushWithLease(git.at(place), push));
    assert.equal(error.members.outcome, 'unknown');
    assert.match(error.message, /The push may have arrived\. Call again/);
  });

  it('runs no hook of the repository, and signs nothing', async (t) => {
    const { mine, hosted, place, remote, git } = await setUp(t);
    const mark = join(temporaryDirectory(t), 'mark');
    writeFiles(mine.root, { '.git/hooks/pre-push': `#!/bin/sh\ntouch ${mark}\n` });
    chmodSync(join(mine.root, '.git/hooks/pre-push'), 0o755);
    mine.git('config', 'push.gpgSign', 'true');
    mine.git('config', 'gpg.program', join(mine.root, '.git/hooks/pre-push'));
    const id = commit(mine, 'one');
    await pushWithLease(git.at(place), { remote, commit: id, ref: W, expected: null });
    assert.equal(hosted.git('rev-parse', 'w').trim(), id);
    assert.ok(!existsSync(mark));
  });
});

describe('what goes wrong with a remote', () => {
  const CASES: readonly [Fault, string, RegExp][] = [
    [403, 'codehost_forbidden', /denied access/],
    [404, 'codehost_not_found', /no access/],
    [429, 'codehost_rate_limited', /too many/],
    [500, 'codehost_upstream', /failed/],
    [502, 'codehost_upstream', /failed/],
    ['page', 'codehost_upstream', /is not a git server/],
    ['silence', 'codehost_timeout', /in time/],
    ['cut answer', 'codehost_unreachable', /broke/],
    ['cut push', 'codehost_unreachable', /broke/],
  ];
  for (const [fault, code, words] of CASES) {
    it(`is told apart: ${fault} is ${code}, for fetch and push, and nothing changes`, async (t) => {
      const { server, mine, hosted, place, remote, git } = await setUp(t);
      const theirs = makeRepository(t, { files: { 'big.txt': 'x\n'.repeat(9000) } });
      theirs.git('push', '--quiet', '--force', hosted.root, 'main');
      const id = commit(mine, 'one');
      const refs = mine.git('for-each-ref');
      server.fault = fault;
      const asked = { remote, timeout_ms: fault === 'silence' ? 1000 : 60_000 };
      const attempts = [
        () => fetchInto(git.at(place), { ...asked, branch: 'main', into: INTO }),
        () => pushWithLease(git.at(place), { ...asked, commit: id, ref: W, expected: null }),
      ];
      for (const attempt of attempts) {
        const error = await failureOf(attempt());
        assert.equal(error.code, code, error.message);
        assert.match(error.message, words);
        assertNoSecret(error, server.token);
      }
      assert.equal(mine.git('for-each-ref'), refs);
      assert.equal(mine.git('fsck', '--no-dangling').trim(), '');
    });
  }

  it('is 503 where nobody listens', async (t) => {
    const { server, place, remote, git } = await setUp(t);
    await server.close();
    const error = await failureOf(remoteRefs(git.at(place), { remote }));
    assert.equal(error.code, 'codehost_unreachable');
  });

  it('is 404 at a path with no repository', async (t) => {
    const { place, git } = await setUp(t);
    const error = await failureOf(remoteRefs(git.at(place), { remote: { url: '/no/such.git' } }));
    assert.equal(error.code, 'codehost_not_found');
  });

  it('is 422 without a credential, and with a wrong one; nothing asks', async (t) => {
    const { server, hosted, place, git } = await setUp(t);
    const none = await failureOf(remoteRefs(git.at(place), { remote: { url: hosted.url } }));
    assert.equal(none.code, 'codehost_auth_missing');
    assert.match(none.message, /Log in with your own git/);
    const credentials = { username: 'somebody', password: 'wr0ng-one' };
    const wrong = await failureOf(
      remoteRefs(git.at(place), { remote: { url: hosted.url, credentials } }),
    );
    assert.equal(wrong.code, 'codehost_auth_invalid');
    assertNoSecret(wrong, 'wr0ng-one');
    assert.ok(server.requests.every((line) => / 401$/.test(line)));
  });

  it('is 422 for an address that is a program', async (t) => {
    const { place, git } = await setUp(t);
    const mark = join(temporaryDirectory(t), 'mark');
    const error = await failureOf(
      remoteRefs(git.at(place), { remote: { url: `ext::sh -c "touch ${mark}"` } }),
    );
    assert.equal(error.code, 'invalid_state');
    assert.ok(!existsSync(mark));
  });
});

const assertNoSecret = (error: ServiceError, secret: string): void => {
  assert.ok(error.cause instanceof GitError);
  const { args, stderr, message } = error.cause;
  const told = JSON.stringify([error.message, error.members, args, stderr, message]);
  assert.ok(!told.includes(secret), told);
};

describe('the login for a remote', () => {
  // A credential helper that knows the token, and tells that it was asked.
  const helper = (root: string, name: string, token: string): string => {
    writeFiles(root, {
      [name]: `#!/bin/sh\necho "$1" >> ${root}/${name}.asked\necho username=x\necho password=${token}\n`,
    });
    chmodSync(join(root, name), 0o755);
    return join(root, name);
  };
  const gitAtHome = (home: string, login = {}) =>
    createGit({ env: cleanEnvironment({ PATH: process.env.PATH }, { HOME: home }), login });

  it("comes from the operator's own helper, never from the repository's", async (t) => {
    const { server, mine, hosted, place } = await setUp(t);
    const home = temporaryDirectory(t);
    const own = helper(home, 'own', server.token);
    const evil = helper(home, 'evil', server.token);
    mine.git('config', 'credential.helper', `!${evil}`);
    mine.git('config', `credential.${server.url}.helper`, `!${evil}`);
    writeFiles(home, { '.gitconfig': `[credential]\n\thelper = "!${own}"\n` });
    const found = await remoteRefs(gitAtHome(home).at(place), { remote: { url: hosted.url } });
    assert.ok(found.has(MAIN));
    assert.ok(existsSync(`${own}.asked`));
    assert.ok(!existsSync(`${evil}.asked`));
    writeFiles(home, { '.gitconfig': '' });
    const error = await failureOf(
      remoteRefs(gitAtHome(home).at(place), { remote: { url: hosted.url } }),
    );
    assert.equal(error.code, 'codehost_auth_missing');
    assert.ok(!existsSync(`${evil}.asked`));
    // Not the one that waits: the server is in this process.
    await asyncGit(mine.root)('ls-remote', hosted.url);
    assert.ok(existsSync(`${evil}.asked`), 'plain git runs it');
  });

  it('is not asked of a helper when a password is given', async (t) => {
    const { place, remote } = await setUp(t);
    const home = temporaryDirectory(t);
    const own = helper(home, 'own', 'another');
    writeFiles(home, { '.gitconfig': `[credential]\n\thelper = "!${own}"\n` });
    assert.ok((await remoteRefs(gitAtHome(home).at(place), { remote })).has(MAIN));
    assert.ok(!existsSync(`${own}.asked`));
  });

  it('reaches no hook of a repository that is named by its path', async (t) => {
    const { mine, hosted, place } = await setUp(t);
    const home = temporaryDirectory(t);
    const own = helper(home, 'own', 'another');
    const tell = `#!/bin/sh\nenv > ${home}/$(basename "$0").env\n`;
    writeFiles(home, { 'app.git/hooks/pre-receive': tell, own: tell });
    writeFiles(home, { '.gitconfig': `[credential]\n\thelper = "!${own}"\n` });
    chmodSync(join(home, 'app.git/hooks/pre-receive'), 0o755);
    gitIn(home)('init', '--quiet', '--bare', 'app.git');
    const commit = mine.git('rev-parse', 'HEAD').trim();
    const git = gitAtHome(home, { GH_TOKEN: 'ghp_mine', SSH_AUTH_SOCK: '/the/agent' }).at(place);
    const remote = { url: join(home, 'app.git') };
    await pushWithLease(git, { remote, ref: W, commit, expected: null });
    assert.doesNotMatch(readFileSync(join(home, 'pre-receive.env'), 'utf8'), /GH_TOKEN|ghp_mine/);
    await failureOf(remoteRefs(git, { remote: { url: hosted.url } }));
    assert.match(readFileSync(join(home, 'own.env'), 'utf8'), /^GH_TOKEN=ghp_mine$/m);
  });

  it("uses the operator's ssh command and agent, never the repository's", async (t) => {
    const { mine, place } = await setUp(t);
    const home = temporaryDirectory(t);
    writeFiles(home, {
      own: `#!/bin/sh\necho "$SSH_AUTH_SOCK $*" > ${home}/own.ran\nexit 255\n`,
      evil: `#!/bin/sh\ntouch ${home}/evil.ran\nexit 255\n`,
      '.gitconfig': `[core]\n\tsshCommand = ${home}/own -i key\n[ssh]\n\tvariant = ssh\n`,
    });
    for (const name of ['own', 'evil']) chmodSync(join(home, name), 0o755);
    mine.git('config', 'core.sshCommand', join(home, 'evil'));
    const git = gitAtHome(home, { SSH_AUTH_SOCK: '/the/agent' });
    await failureOf(remoteRefs(git.at(place), { remote: { url: 'ssh://git@host.example/a.git' } }));
    assert.ok(existsSync(join(home, 'own.ran')));
    assert.ok(!existsSync(join(home, 'evil.ran')));
  });
});
