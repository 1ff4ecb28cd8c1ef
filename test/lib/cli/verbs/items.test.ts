import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { startCodeHost } from '../../../codehost/code-host.ts';
import { atEnd } from '../../../helpers/at-end.ts';
import { assertSentence, dossier, dossierIn } from '../../../helpers/command.ts';
import { startDaemon } from '../../../helpers/daemon.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { atTerminal, noTerminal } from '../../../helpers/terminal.ts';

const withDaemon = async (t: TestContext) => {
  const workspace = temporaryDirectory(t);
  const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const daemon = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const api = connect({ url: daemon.url });
  const said = (...words: string[]) =>
    dossierIn(t, { cwd: root }, [...words, '--workspace', workspace]);
  const all = async () =>
    (await api.call('GET /cases')) as { title: string; description: string }[];
  const make = async (title = 'Say hello') =>
    (await api.call('POST /cases', { body: { title, type: 'bug' } })).id;
  return { workspace, root, daemon, api, said, all, make };
};

describe('a verb', () => {
  it('has failed where what it says could not be written', async (t) => {
    const { workspace, make } = await withDaemon(t);
    await make();
    const full = openSync('/dev/full', 'w');
    const args = ['ls', '--json', '--workspace', workspace];
    const ended = await dossierIn(t, { stdout: full }, args);
    closeSync(full);
    assert.match(ended.stderr, /^dossier: The output is incomplete: ENOSPC/);
    assert.equal(ended.code, 1);
  });

  it('names the Work item that it created where the settings cannot be read afterwards', async (t) => {
    const workspace = temporaryDirectory(t);
    const state = temporaryDirectory(t);
    const { url } = await startDaemon(t, ['--workspace', workspace, '--state-dir', state]);
    rmSync(state, { recursive: true });
    symlinkSync(state, state);
    assert.notEqual((await fetch(`${url}/settings`)).status, 200);
    const cwd = temporaryDirectory(t);
    const ended = await dossierIn(t, { cwd }, ['new', 'Once', '--workspace', workspace]);
    assert.match(ended.stdout, /^[0-9a-f]{8}\tOnce\n$/, ended.stderr);
    assert.equal(ended.code, 0);
  });

  it('takes an empty name for no workspace, and never for the current directory', async (t) => {
    const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    const home = temporaryDirectory(t);
    const env = { HOME: home, DOSSIER_WORKSPACE: '', DOSSIER_REPO: '' };
    const unset = await dossierIn(t, { cwd: root, env }, ['status']);
    assert.equal(unset.code, 3, unset.stderr);
    assert.match(unset.stderr, new RegExp(join(home, 'dossier')));
    for (const flag of ['--workspace', '--repo']) {
      const meant = await dossierIn(t, { cwd: root, env }, ['up', flag, '']);
      assert.deepEqual([meant.code, meant.stdout], [2, ''], meant.stderr);
    }
    assert.deepEqual(readdirSync(root).toSorted(), ['.git', 'a.txt']);
  });
});

describe('dossier new', () => {
  it('makes a Work item of words, and says the beginning of its id', async (t) => {
    const { said, all } = await withDaemon(t);
    const { code, stdout } = await said('new', 'Say', 'it\u202e', '--type', 'feature');
    assert.equal(code, 1, stdout);
    const ended = await said('new', 'Say', 'it', '--type', 'feature');
    assert.match(ended.stdout, /^[0-9a-f]{8}\tSay it\n$/);
    const item = JSON.parse((await said('new', 'Another', '--json')).stdout);
    assert.deepEqual([item.title, item.type], ['Another', 'task']);
    assert.deepEqual((await all()).map(({ title }) => title).toSorted(), ['Another', 'Say it']);
  });

  it('takes its title and its description from a file, or from standard input', async (t) => {
    const { said, all, workspace } = await withDaemon(t);
    const file = join(temporaryDirectory(t), 'item.md');
    writeFileSync(file, '\n# From a file\n\nWhat it is.\n\n## More\n');
    assert.equal((await said('new', '--file', file)).code, 0);
    const args = ['new', 'Titled', '--file', '-', '--workspace', workspace];
    await dossierIn(t, { input: '# No title\n' }, args);
    const made = (await all()).map(({ title, description }) => [title, description]);
    assert.deepEqual(made.toSorted(), [
      ['From a file', 'What it is.\n\n## More'],
      ['Titled', '# No title\n'],
    ]);
    const missing = await said('new', '--file', `${file}.gone`);
    assert.deepEqual([missing.code, missing.stdout], [2, '']);
    assert.match(missing.stderr, /--file cannot be read: .*item\.md\.gone/);
  });

  it('refuses a file that never ends, and one that is no UTF-8', async (t) => {
    const { said, all } = await withDaemon(t);
    const endless = await said('new', 'Endless', '--file', '/dev/zero');
    assertSentence(endless, /larger than 1 MB/);
    const file = join(temporaryDirectory(t), 'item.md');
    writeFileSync(file, Buffer.from([0x62, 0xff, 0x62]));
    assertSentence(await said('new', 'Bad', '--file', file), /not UTF-8/);
    assert.deepEqual(await all(), []);
  });

  it('makes nothing without a title, and says how where nobody can be asked', async (t) => {
    const { said, all } = await withDaemon(t);
    const file = join(temporaryDirectory(t), 'item.md');
    writeFileSync(file, '\n\n');
    assert.equal((await said('new', '--file', file)).code, 1);
    const without = await said('new');
    assert.equal(without.code, 2);
    assert.match(without.stderr, /--file FILE .*--issue N/);
    const odd = await said('new', 'One', '--type', ' ');
    assert.equal(odd.code, 2);
    assert.match(odd.stderr, /^dossier: --type must be a lower-case word/);
    assert.deepEqual(await all(), []);
  });

  it('opens an editor at a terminal; a text that is not taken is kept', {
    skip: noTerminal,
  }, async (t) => {
    const { all, workspace, root } = await withDaemon(t);
    const script = join(temporaryDirectory(t), 'editor.sh');
    const edited = async (body: string) => {
      writeFileSync(script, body);
      return atTerminal(t, ['new', '--workspace', workspace], [], {
        cwd: root,
        env: { VISUAL: '', EDITOR: `sh ${script}` },
      });
    };
    const unchanged = await edited('exit 0');
    assert.deepEqual(
      [unchanged.code, unchanged.text],
      [1, 'dossier: There is no title, so nothing was created.\n'],
    );
    assert.equal(
      (await edited(`{ printf 'Written\\n\\nBelow it.\\n'; cat "$1"; } > x; mv x "$1"`)).code,
      0,
    );
    const [item] = await all();
    assert.deepEqual([item?.title, item?.description], ['Written', 'Below it.']);
    const refused = await edited(`printf 'Not \\033 taken\\n' > "$1"`);
    const [, kept = ''] = /Your text is kept in (\S+work-item\.md)/.exec(refused.text) ?? [];
    assert.equal(readFileSync(kept, 'utf8'), 'Not \u001b taken\n');
    const failed = await edited(`echo Half >> "$1"; exit 3`);
    assert.match(failed.text, /The editor .* ended with 3\. Your text is kept in/);
    assert.match((await edited('exit 3')).text, /^dossier: The editor .* ended with 3\.\n$/);
    assert.deepEqual([refused.code, failed.code, (await all()).length], [1, 1, 1]);
  });

  it('makes it of an issue, and says how its pull request stands', async (t) => {
    const host = await startCodeHost(t);
    const { number } = await host.issues.add({ title: 'Say it' });
    const workspace = temporaryDirectory(t);
    await host.repositories.fork('operator');
    const { root, git } = host.repositories.clone({ repository: 'operator/app' });
    git('remote', 'add', 'upstream', 'https://github.com/acme/app.git');
    const args = ['--workspace', workspace, '--repo', root];
    const env = { GITHUB_API_URL: host.url, GH_TOKEN: host.token, GITHUB_TOKEN: '' };
    const { url } = await startHere(t, args, env);
    const said = (...words: string[]) =>
      dossierIn(t, { cwd: root }, [...words, '--workspace', workspace]);
    const ended = await said('new', '--issue', String(number));
    assert.match(ended.stdout, /^[0-9a-f]{8}\tSay it\n$/);
    assert.equal((await said('new', '--issue', 'one')).code, 2);
    assert.equal((await said('new', 'Other', '--issue', '1')).code, 2);
    const none = await said('pr', 'say');
    assert.equal(none.code, 1);
    assertSentence(
      none,
      /no pull request yet\. Create it: dossier pr [0-9a-f]{8} --create --workspace \S+\n$/,
    );
    assert.equal((await said('pr', 'say', '--draft')).code, 2);
    assert.equal((await said('pr', 'say', '--repository', 'acme/app')).code, 2);
    const create = ['pr', 'say', '--create', '--repository', 'acme/app'];
    const refused = async (pattern: RegExp) => assertSentence(await said(...create), pattern);
    await refused(
      /no worktree\. A session creates one: dossier start [0-9a-f]{8} --workspace \S+\n$/,
    );
    const api = connect({ url });
    const [item] = await api.call('GET /cases');
    const { path } = await api.call('POST /api/worktrees', { body: { case_id: item?.id ?? '' } });
    assertSentence(
      await said('pr', 'say', '--create'),
      /proposed to acme\/app\. Confirm this with --repository acme\/app, or name another one/,
    );
    writeFileSync(join(path, 'said.txt'), 'it\n');
    await refused(
      /Commit or stash the changes there \(dossier path [0-9a-f]{8} --workspace \S+\), and try again/,
    );
    for (const given of [
      ['add', '--all'],
      ['commit', '--quiet', '--message', 'say it'],
    ])
      spawnSync('git', ['-c', 'user.name=me', '-c', 'user.email=me@example.com', ...given], {
        cwd: path,
      });
    const made = await said(...create, '--draft');
    assert.match(made.stdout, /^#\d+ draft http/, made.stderr);
    await refused(/already has a pull request\. Show it: dossier pr [0-9a-f]{8} --workspace/);
    const { stdout } = await said('pr', 'say');
    assert.match(stdout, /^#\d+ draft http\S*\nBranches\t\S+ into \S+\nChecks\t\w+\nReviews\t/);
    assert.equal(JSON.parse((await said('pr', 'say', '--json')).stdout).draft, true);
  });
});

describe('dossier show and ls', () => {
  it('say what was called wrongly as it was typed', async (t) => {
    const { said } = await withDaemon(t);
    for (const [words, why] of [
      [['show', ' '], /ITEM is empty: give an id/],
      [['ls', '--state', 'nope'], /^dossier: --state must be one of OPEN, .*, PLANNING\. /],
    ] as const) {
      const { code, stderr } = await said(...words);
      assert.equal(code, 2);
      assert.match(stderr, why);
    }
    const long = 'a'.repeat(201);
    assert.match((await said('show', long)).stderr, /^dossier: The text to find must have 200 /);
    assert.match((await said('new', long)).stderr, /^dossier: The title must have 200 /);
  });

  it('name DOSSIER_KEY and what makes one, where the settings ask for a key', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, 'workspace.md'), '---\nrequire_key: true\n---\n');
    const { root } = makeRepository(t);
    await startHere(t, ['--workspace', workspace]);
    const said = (key: string, ...words: string[]) =>
      dossierIn(t, { cwd: root, env: { ...process.env, DOSSIER_KEY: key } }, [
        ...words,
        '--workspace',
        workspace,
      ]);
    for (const verb of ['ls', 'status', 'up'])
      for (const [key, why] of [
        ['', /Create one with dossier key NAME --workspace \S+, and set it as DOSSIER_KEY/],
        ['dossier_no\r', /in DOSSIER_KEY contains a line end, .* Set it again without that\.$/m],
        ['dossier_\u00e9', /in DOSSIER_KEY contains /],
        ['dossier_no', /in DOSSIER_KEY is unknown, .* dossier trust --workspace \S+\.$/m],
      ] as const) {
        const { code, stderr } = await said(key, verb);
        assert.equal(code, 1);
        assert.match(stderr, why);
        assert.doesNotMatch(stderr, /Authorization/);
      }
    const { stdout: key } = await said('', 'key', 'shell');
    assert.equal((await said(key.trim(), 'up')).code, 0);
  });
});

describe('dossier path', () => {
  it('prints where the worktree is and nothing else', async (t) => {
    const { said, api, make } = await withDaemon(t);
    const id = await make();
    const none = await said('path', 'hello');
    assert.equal(none.code, 1);
    assertSentence(
      none,
      /no worktree\. A session creates one: dossier start [0-9a-f]{8} --workspace \S+\n$/,
    );
    const { path } = await api.call('POST /api/worktrees', { body: { case_id: id } });
    const ended = await said('path', id.slice(0, 6));
    assert.deepEqual([ended.stdout, ended.stderr], [`${path}\n`, '']);
    assert.ok(existsSync(path));
  });

  it('waits while a session that was just started creates it', async (t) => {
    const { said, api, make } = await withDaemon(t);
    const id = await make();
    const body = { type: 'implementing', provider: 'manual' };
    await api.call('POST /cases/{id}/sessions', { id, body });
    const { code, stdout, stderr } = await said('path', 'hello');
    assert.equal(code, 0, stderr);
    assert.ok(existsSync(stdout.trimEnd()), stdout);
  });
});

describe('dossier proof and verify', () => {
  it('attach a file, list it with its gate, and say that it holds', async (t) => {
    const { said, make, workspace } = await withDaemon(t);
    const id = await make();
    const file = join(temporaryDirectory(t), 'log.txt');
    writeFileSync(file, 'All is well.\n');
    const added = await said('proof', 'add', 'hello', file, '--type', 'test-log');
    const [, pid = ''] =
      /^Proof ([0-9a-f]{8}): \S+\.txt\. To verify it: dossier verify/.exec(added.stdout) ?? [];
    assert.match(
      (await said('proof', 'hello')).stdout,
      new RegExp(
        `^${pid}\tnot verified\t\ttest-log\t\\S+\nMissing proof:\n(?:  .+\n)+To verify one: .* ${pid} --workspace .*\n$`,
      ),
    );
    assert.match(
      (await said('verify', 'hello', pid)).stdout,
      new RegExp(
        `^Verified test-log ${pid}: .*\nThe Work item is OPEN\\.\nThe proof gate is satisfied\\. To close it: dossier close .* --state RESOLVED\n$`,
      ),
    );
    assert.equal((await said('close', 'hello', '--state', 'resolved')).code, 0);
    await said('reopen', 'hello');
    const { proofs, gate } = JSON.parse((await said('proof', 'hello', '--json')).stdout);
    assert.deepEqual([proofs[0].verified, gate.satisfied], [true, true]);
    assert.equal((await said('verify', 'hello', 'ffff')).code, 1);
    const nowhere = await said('proof', 'run', 'hello', 'true');
    assert.equal(nowhere.code, 1);
    assert.match(nowhere.stderr, /has no worktree\. A session creates one: dossier start /);
    const gone = await said('proof', 'add', 'hello', `${file}.gone`);
    assert.equal(gone.code, 1);
    assert.match(gone.stderr, /^dossier: The file cannot be read: \S+\.gone does not exist/m);
    assert.equal((await said('proof', 'hello', 'more')).code, 2);
    assert.match((await said('proof', 'add', 'hello', '/dev/zero')).stderr, /not a regular file/);
    const words = await said('proof', 'run', 'hello', 'sh', 'a.sh', 'Ada');
    assert.equal(words.code, 1, 'a command of several words, without a worktree');
    if (noTerminal !== false) return;
    const { text } = await atTerminal(t, ['proof', id, '--workspace', workspace]);
    assert.match(text, /\nThe proof gate is satisfied\.\n$/);
  });
});

describe('dossier verify', () => {
  it('takes a check that failed only with --force', async (t) => {
    const { said, api, make } = await withDaemon(t);
    const id = await make();
    await api.call('POST /api/worktrees', { body: { case_id: id } });
    const ran = await said('proof', 'run', 'hello', 'test -e missing');
    assert.equal(ran.code, 1, ran.stderr);
    const [proof] = await api.call('GET /cases/{id}/proof', { id });
    const pid = proof?.id.slice(0, 8) ?? '';
    const refused = await said('verify', 'hello', pid);
    assert.equal(refused.code, 1);
    assert.match(
      refused.stderr,
      /The check `test -e missing` failed, so it was not verified\. To verify it anyway, pass --force\. To run it again: dossier proof run [0-9a-f]{8} 'test -e missing' --workspace \S+\n$/,
    );
    assert.equal((await api.call('GET /cases/{id}/proof', { id }))[0]?.verified, false);
    assert.equal((await said('verify', 'hello', pid, '--force')).code, 0);
  });

  it('says that a check ran on uncommitted changes, and what is verified has them', async (t) => {
    const { said, api, make } = await withDaemon(t);
    const id = await make();
    const { path } = await api.call('POST /api/worktrees', { body: { case_id: id } });
    const told = /^It was made with uncommitted changes in the worktree/m;
    assert.doesNotMatch((await said('proof', 'run', 'hello', 'true')).stdout, told);
    writeFileSync(join(path, 'new.txt'), 'new\n');
    const { stdout } = await said('proof', 'run', 'hello', 'test -e new.txt');
    assert.match(stdout, told);
    const [, pid = ''] = /verify [0-9a-f]{8} ([0-9a-f]{8})/.exec(stdout) ?? [];
    assert.match((await said('verify', 'hello', pid)).stdout, told);
  });

  it('takes the only proof that is not verified, and asks which of several', async (t) => {
    const { said, api, make } = await withDaemon(t);
    const id = await make();
    const none =
      /has no proof\. Run a check: dossier proof run [0-9a-f]{8} COMMAND.*\. Or attach a file: dossier proof add /;
    assert.match((await said('verify', 'hello')).stderr, none);
    const attach = (content: string) =>
      api.call('POST /cases/{id}/proof', { id, body: { type: 'log', content } });
    await attach('Looked at it');
    assert.match((await said('verify', 'hello')).stdout, /^Verified log .*: Looked at it$/m);
    assert.match((await said('verify', 'hello')).stderr, /has no proof without a verification/);
    await attach('One');
    await attach('Two');
    const several = await said('verify', 'hello');
    assert.equal(several.code, 1);
    assert.match(several.stderr, /has 2 proofs without a verification\. List them: dossier proof /);
  });
});

describe('a proof that was verified on another machine', () => {
  it('is marked, and verified on this one without naming it', async (t) => {
    const { said, api, make, workspace } = await withDaemon(t);
    const { path } = await api.call('GET /cases/{id}', { id: await make() });
    const folder = join(workspace, path, 'proof');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'log.md'), '---\ntype: log\nverified: true\n---\npassed\n');
    const listed = await eventually(async () => {
      const { stdout } = await said('proof', 'hello');
      assert.match(stdout, /\tverified elsewhere\t/);
      return stdout;
    });
    assert.match(listed, /The proof gate is satisfied\./);
    assert.equal((await said('verify', 'hello')).code, 0);
    assert.match((await said('proof', 'hello')).stdout, /\tverified\t/);
    assert.match((await said('verify', 'hello')).stderr, /has no proof without a verification/);
  });
});

describe('several proofs that were verified on another machine', () => {
  it('are called that, as in the list, where one has to be chosen', async (t) => {
    const { said, api, make, workspace } = await withDaemon(t);
    const { path } = await api.call('GET /cases/{id}', { id: await make() });
    const folder = join(workspace, path, 'proof');
    mkdirSync(folder, { recursive: true });
    for (const name of ['one.md', 'two.md'])
      writeFileSync(join(folder, name), '---\ntype: log\nverified: true\n---\npassed\n');
    await eventually(async () => {
      const { stdout } = await said('proof', 'hello');
      assert.equal(stdout.match(/\tverified elsewhere\t/g)?.length, 2);
    });
    const { stderr } = await said('verify', 'hello');
    assert.match(stderr, /has 2 proofs verified elsewhere\. List them: dossier proof /);
  });
});

describe('dossier proof rm', () => {
  it('deletes a check that was mistyped, so that nothing asks for it any more', async (t) => {
    const { said, api, make } = await withDaemon(t);
    const id = await make();
    await api.call('POST /api/worktrees', { body: { case_id: id } });
    await said('proof', 'run', 'hello', 'gerp x y');
    const [proof] = await api.call('GET /cases/{id}/proof', { id });
    const pid = proof?.id.slice(0, 8) ?? '';
    assert.equal((await said('proof', 'rm', 'hello')).code, 2);
    // As from a variable that is not set.
    assert.equal((await said('proof', 'rm', 'hello', '')).code, 2);
    assert.equal((await said('proof', 'rm', 'hello', 'ffffffff')).code, 1);
    const { code, stdout } = await said('proof', 'rm', 'hello', pid);
    assert.equal(code, 0);
    assert.match(stdout, /^Deleted check .*gerp x y/);
    assert.deepEqual(await api.call('GET /cases/{id}/proof', { id }), []);
  });
});

describe('dossier inbox', () => {
  it('has what waits, oldest first, each with the command that answers it', async (t) => {
    const { said, api, make } = await withDaemon(t);
    assert.deepEqual([(await said('inbox')).stdout, (await said('inbox')).code], ['', 0]);
    const ids = [];
    for (const title of ['First', 'Second']) {
      const id = await make(title);
      ids.push(id);
      const body = { type: 'implementing', provider: 'runbook' };
      const { id: sid } = await api.call('POST /cases/{id}/sessions', { id, body });
      for await (const { event } of api.stream('GET /cases/{id}/sessions/{sid}/stream', {
        id,
        sid,
      }))
        if (event === 'plan_ready' || event === 'complete') break;
    }
    const rows = (await said('inbox')).stdout
      .trimEnd()
      .split('\n')
      .map((row) => row.split('\t'));
    const waiting = JSON.parse((await said('inbox', '--json')).stdout);
    assert.deepEqual(
      rows.map(([, , command = '', title]) => [command.replace(/ --workspace .*/, ''), title]),
      ids.map((id, at) => [
        `dossier ${waiting[at].kind === 'plan' ? 'approve' : 'start'} ${id.slice(0, 8)}`,
        ['First', 'Second'][at],
      ]),
    );
  });
});

describe('dossier status and stop', () => {
  it('say which daemon has the workspace, and end it', async (t) => {
    const workspace = temporaryDirectory(t);
    const daemon = await startDaemon(t, ['--workspace', workspace]);
    const said = (...words: string[]) => dossier(t, ...words, '--workspace', workspace);
    const { pid } = daemon.process;
    const told = (await said('status')).stdout;
    assert.match(
      told,
      new RegExp(
        `^Daemon\t${daemon.url}, process ${pid}\nSocket\t/.*\\.sock\nWorkspace\t${workspace}\n`,
      ),
    );
    const { waiting, ...rest } = JSON.parse((await said('status', '--json')).stdout);
    assert.deepEqual([waiting, rest.pid, rest.url], [0, pid, daemon.url]);
    const ended = await said('stop');
    assert.deepEqual([ended.code, ended.stdout], [0, `Stopped the daemon of ${workspace}\n`]);
    assert.ok(!existsSync(join(workspace, '.dossier/owner.json')));
    for (const verb of ['status', 'stop']) {
      const none = await said(verb);
      assert.equal(none.code, 3);
      assertSentence(none, /No daemon is running for/);
    }
  });

  it('sends no signal to a process that is not the daemon', async (t) => {
    const { daemon, workspace } = await withDaemon(t);
    const path = join(workspace, '.dossier/owner.json');
    const owner = JSON.parse(readFileSync(path, 'utf8'));
    writeFileSync(path, JSON.stringify({ ...owner, token: 'another' }));
    const ended = await dossierIn(t, {}, ['stop', '--workspace', workspace]);
    assert.equal(ended.code, 1);
    assert.match(ended.stderr, /so nothing was sent/);
    assert.equal((await fetch(`${daemon.url}/health`)).status, 200);
  });
});

describe('dossier open', () => {
  it('says the address of a page, of the inbox without an item', async (t) => {
    const { said, make, daemon } = await withDaemon(t);
    const id = await make();
    assert.equal((await said('open', 'hello')).stdout, `${daemon.url}/dashboard/cases/${id}\n`);
    assert.equal((await said('open')).stdout, `${daemon.url}/dashboard\n`);
  });

  it('opens it in a browser at a terminal with a display', { skip: noTerminal }, async (t) => {
    const { daemon, workspace } = await withDaemon(t);
    const bin = temporaryDirectory(t);
    const seen = join(bin, 'seen');
    writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\necho "$1" > ${seen}\n`, { mode: 0o755 });
    const env = { PATH: `${bin}:${process.env.PATH}`, DISPLAY: ':7' };
    assert.equal((await atTerminal(t, ['open', '--workspace', workspace], [], { env })).code, 0);
    await eventually(() => assert.equal(readFileSync(seen, 'utf8'), `${daemon.url}/dashboard\n`));
  });
});

describe('dossier new, start, inbox and ls', () => {
  it('find and list what is older than the newest hundred, too', async (t) => {
    const { api, said } = await withDaemon(t);
    await api.call('POST /cases', { body: { title: 'The parser', type: 'bug' } });
    for (let n = 0; n < 100; n += 1)
      await api.call('POST /cases', {
        body: { title: `Number ${n}`, type: 'bug', description: 'Not the parser' },
      });
    assert.match((await said('show', 'parser')).stdout, /^The parser\n/);
    assert.equal((await said('ls')).stdout.split('\n').length - 1, 101);
    assert.equal(JSON.parse((await said('ls', '--json')).stdout).length, 101);
  });

  it('say whether there are none, or none that match', { skip: noTerminal }, async (t) => {
    const { workspace, make } = await withDaemon(t);
    const ls = async (...words: string[]) =>
      (await atTerminal(t, ['ls', ...words, '--workspace', workspace])).text.trim();
    const at = `--workspace ${workspace}`;
    assert.equal(await ls(), `No Work items. Create one: dossier new "TITLE" ${at}`);
    const keys = await atTerminal(t, ['key', '--list', '--workspace', workspace]);
    assert.equal(keys.text.trim(), `No API keys. Create one: dossier key NAME ${at}`);
    await make();
    for (const words of [['nothing'], ['--state', 'blocked']])
      assert.equal(await ls(...words), `No Work item matches. List all: dossier ls ${at}`);
  });

  it('begin a daemon where none runs, and work in the repository one stands in', async (t) => {
    const workspace = temporaryDirectory(t);
    const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    const said = (...words: string[]) =>
      dossierIn(t, { cwd: root, env: { ...process.env, DOSSIER_PORT: '0' } }, [
        ...words,
        '--workspace',
        workspace,
      ]);
    atEnd(t, () => said('stop'));
    const item = JSON.parse((await said('new', 'Say it', '--json')).stdout);
    const status = JSON.parse((await said('status', '--json')).stdout);
    const { projects } = await connect({ url: status.url }).call('GET /settings');
    assert.deepEqual(
      projects.map(({ name, place }) => [name, place]),
      [[item.project, root]],
    );
    await said('stop');
    assert.equal((await said('show', 'say')).code, 3);
    for (const verb of ['inbox', 'ls']) {
      assert.equal((await said(verb)).code, 0);
      await said('stop');
    }
    assert.match(
      (await said('start', 'say', '--provider', 'manual')).stdout,
      /of manual is planning/,
    );
    await eventually(async () =>
      assert.match(
        (await said('inbox')).stdout,
        /\tdossier edit [0-9a-f]{8} plan\.md --workspace /,
      ),
    );
    const none = await said('plan', 'say');
    assert.equal(none.code, 1);
    assertSentence(none, /has no plan yet: write it to \/.*\/plan\.md\.\n$/);
  });

  it('say that a Work item of no repository waits for one, and where it gets it', async (t) => {
    const workspace = temporaryDirectory(t);
    const projects = ['one', 'two'].map((name) => `  ${name}: ${makeRepository(t).root}\n`);
    writeFileSync(join(workspace, 'workspace.md'), `---\nprojects:\n${projects.join('')}---\n`);
    await startHere(t, ['--workspace', workspace, '--trust']);
    const said = (...words: string[]) =>
      dossierIn(t, { cwd: workspace }, [...words, '--workspace', workspace]);
    const made = await said('new', 'Outside');
    assert.match(made.stdout, /^[0-9a-f]{8}\tOutside\n$/);
    assert.match(
      made.stderr,
      /^dossier: Its project default has no repository.*dossier start [0-9a-f]{8} --project NAME --workspace \S+\. .*--project one or two/,
    );
    const refused = await said('start', 'outside', '--provider', 'manual');
    assert.equal(refused.code, 1);
    assertSentence(refused, /there are several.*dossier start [0-9a-f]{8} --project one or two/);
    assert.equal((await said('new', 'Inside', '--project', 'one')).stderr, '');
  });
});
