/** A check that the operator runs: its proof is of the files that were there, and nothing verifies itself. */
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Lock } from '../../store/records/lock.ts';
import type { ChecklistItem, Gate, Proof } from '../../store/records/proof.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { withCase as withSession } from '../helpers/sessions.ts';
import { assertProblem } from '../helpers/work-item.ts';

const scene = async (t: TestContext, settings = 'sandbox: off') => {
  const work = await withSession(t, 'Text.', { settings });
  const { running, at, item } = work;
  const { call } = running;
  const { path } = (await call<{ path: string }>('POST', '/api/worktrees', { case_id: item.id }))
    .body;
  const run = (command: string) => call<Proof>('POST', `${at}/proof/run`, { command });
  const read = async (id: string) => (await call<Proof>('GET', `${at}/proof/${id}`)).body;
  const ended = (id: string): Promise<Proof> =>
    eventually(async () => {
      const proof = await read(id);
      assert.notEqual(proof.run?.status, 'running');
      return proof;
    });
  const lock = async () => (await call<Lock>('GET', `/api/worktrees/${item.id}/lock`)).body.locked;
  const check = async (command: string): Promise<Proof> => {
    const answer = await run(command);
    assert.equal(answer.status, 202, answer.text);
    const proof = await ended(answer.body.id);
    await eventually(async () => assert.equal(await lock(), false));
    return proof;
  };
  const gate = async () => (await call<Gate>('GET', `${at}/proof/gate`)).body;
  const verify = (id: string) => call<Proof>('PUT', `${at}/proof/${id}/verify`);
  return {
    ...{ work, running, call, at, item, path, run, read, ended, check, gate, verify, lock },
  };
};

const AUTHOR = ['-c', 'user.name=A', '-c', 'user.email=a@example.org'];

/** A command that goes on until the test says so, and tells that it has begun. */
const waiting = (t: TestContext) => {
  const dir = temporaryDirectory(t);
  const [begun, sign] = [join(dir, 'begun'), join(dir, 'sign')];
  const command = `touch ${begun}; until test -e ${sign}; do sleep 0.02; done; echo over`;
  const untilBegun = () => eventually(() => assert.ok(existsSync(begun)));
  return { command, untilBegun, go: () => writeFileSync(sign, '') };
};

describe('POST /cases/:id/proof/run', () => {
  it('attaches what the check came to, with its exit code, and verifies nothing', async (t) => {
    const { check, path, gate, verify, call, at } = await scene(t);
    writeFiles(path, { 'src/a.txt': 'a', 'test/a.test.ts': 't' });
    const proof = await check('cat src/a.txt; echo; echo err >&2; exit 3');
    const { run } = proof;
    assert.deepEqual(
      [proof.type, proof.verified, run?.status, run?.exit_code, run?.attempt, run?.sandbox],
      ['check', false, 'failed', 3, 1, 'none'],
    );
    assert.deepEqual(run?.changed_tests, ['test/a.test.ts']);
    assert.match(proof.content, /failed on run 1 \(exit 3\).*test\/a\.test\.ts.*a\nerr/s);
    assert.equal((await gate()).satisfied, false);
    const again = await check('test -e src/a.txt');
    assert.deepEqual([again.run?.status, again.tree], ['passed', proof.tree]);
    assert.equal((await verify(again.id)).body.verified, true);
    assert.deepEqual(await gate(), { satisfied: true, missing: [], stale: [] });
    assert.equal((await call<Proof[]>('GET', `${at}/proof`)).body.length, 2);
  });

  it('counts the runs of a command on the same files, and is stale once those are others', async (t) => {
    const { check, path, verify, gate, running } = await scene(t);
    const counter = join(temporaryDirectory(t), 'ran');
    const flaky = `test -e ${counter} || { touch ${counter}; exit 1; }`;
    assert.equal((await check(flaky)).run?.status, 'failed');
    const second = await check(flaky);
    assert.deepEqual([second.run?.status, second.run?.attempt], ['passed', 2]);
    assert.match(second.content, /passed on run 2/);
    await verify(second.id);
    writeFiles(path, { 'new.txt': 'one\n' });
    assert.deepEqual((await gate()).stale, [second.id]);
    const third = await check(flaky);
    assert.equal(third.run?.attempt, 1);
    await verify(third.id);
    const { git } = running.repository;
    git('-C', path, 'add', '.');
    git('-C', path, 'commit', '--quiet', '-m', 'the same files');
    assert.deepEqual((await gate()).stale, [second.id]);
  });

  it('is stale once a submodule is another, and its commit alone makes no other', async (t) => {
    const { check, path, gate, verify } = await scene(t);
    const inner = makeRepository(t, { files: { a: 'a\n', 'deep/b': 'b\n' } });
    const git = gitIn(path);
    const files = ['-c', 'protocol.file.allow=always'];
    for (const name of ['sub', 'absent', 'gone'])
      git(...files, 'submodule', '--quiet', 'add', inner.root, name);
    git(...AUTHOR, 'commit', '-qm', 'submodules');
    git('submodule', '--quiet', 'deinit', 'absent');
    const sub = join(path, 'sub');
    const isStaleAfter = async (change: () => void): Promise<boolean> => {
      const { id } = await check('cat sub/a');
      await verify(id);
      assert.ok(!(await gate()).stale.includes(id));
      change();
      return (await gate()).stale.includes(id);
    };
    const clean = await check('true');
    assert.equal(clean.tree, git('rev-parse', 'HEAD^{tree}').trim());
    assert.equal(await isStaleAfter(() => writeFiles(sub, { a: 'BROKEN\n' })), true);
    assert.equal(await isStaleAfter(() => writeFiles(sub, { a: 'other\n' })), true);
    assert.equal(await isStaleAfter(() => writeFiles(sub, { 'new/c': 'c\n' })), true);
    assert.equal(await isStaleAfter(() => undefined), false);
    assert.equal(await isStaleAfter(() => writeFiles(path, { 'absent/x': 'x\n' })), true);
    const commitSub = () => {
      gitIn(sub)('add', '--all');
      gitIn(sub)(...AUTHOR, 'commit', '-qm', 'inside');
    };
    assert.equal(await isStaleAfter(commitSub), true);
    const commitPath = () => git(...AUTHOR, 'commit', '--quiet', '--all', '--message=outside');
    assert.equal(await isStaleAfter(commitPath), false);
    assert.equal(await isStaleAfter(() => rmSync(join(path, 'gone'), { recursive: true })), true);
  });

  it('is stale once text changes that the attribute `ident` hides, and its commit makes no other', async (t) => {
    const { check, path, gate, verify } = await scene(t);
    const git = gitIn(path);
    const hide = (text: string) => writeFiles(path, { 'x.js': `/*$Id${text}$*/\n` });
    writeFiles(path, { '.gitattributes': '* ident\n' });
    hide('');
    git('add', '--all');
    git(...AUTHOR, 'commit', '-qm', 'ident');
    const proof = await check('! grep evil x.js');
    await verify(proof.id);
    hide(': */evil()/* ');
    // git compares sizes first, and this is how it learns the new one.
    git('add', 'x.js');
    assert.equal(git('status', '--short'), '');
    assert.deepEqual((await gate()).stale, [proof.id]);
    hide('');
    assert.deepEqual((await gate()).stale, []);
    hide(': */good()/* ');
    writeFiles(path, { 'y.js': 'y\n' });
    const uncommitted = await check('grep good x.js');
    git('add', '--all');
    git(...AUTHOR, 'commit', '-qm', 'more');
    assert.equal((await check('grep good x.js')).tree, uncommitted.tree);
  });

  it('says so where the check changed the files that it checked', async (t) => {
    const { check, verify, gate } = await scene(t);
    const proof = await check('echo x > made.txt');
    assert.equal(proof.run?.changed_tree, true);
    assert.match(proof.content, /Run it again/);
    await verify(proof.id);
    assert.deepEqual((await gate()).stale, [proof.id]);
  });

  it('runs in the sandbox: git and the workspace are out of reach', async (t) => {
    const { check, running } = await scene(t, '');
    const tried = [
      "git -c user.name=a -c user.email=a@b commit -q --allow-empty -m x && echo 'it committed'",
      `ls ${running.workspace}/.dossier/journal && echo 'it looked'`,
      `touch ${running.workspace}/x; exit 5`,
    ];
    const proof = await check(tried.join('; '));
    assert.deepEqual([proof.run?.sandbox, proof.run?.exit_code], ['bubblewrap', 5]);
    assert.doesNotMatch(proof.content, /^it /m);
    assert.equal(existsSync(join(running.workspace, 'x')), false);
  });

  it('holds the worktree: of two at once one runs, and cannot be verified before its end', async (t) => {
    const { run, verify, ended, lock } = await scene(t);
    const { command, untilBegun, go } = waiting(t);
    const [one, other] = await Promise.all([run(command), run(command)]);
    const [begun, refused] = one.status === 202 ? [one, other] : [other, one];
    assert.deepEqual([begun.status, refused.status], [202, 409], refused.text);
    await untilBegun();
    assert.equal(begun.body.run?.status, 'running');
    assertProblem(await verify(begun.body.id), 422, 'invalid_state');
    go();
    assert.equal((await ended(begun.body.id)).run?.status, 'passed');
    await eventually(async () => assert.equal(await lock(), false));
    assert.equal((await verify(begun.body.id)).status, 200);
  });

  it('takes its verification back when somebody edits what it came to', async (t) => {
    const { check, verify, work, read } = await scene(t);
    const proof = await check('true');
    await verify(proof.id);
    const file = join(work.workspace, work.item.path, `proof/check-${proof.id.slice(0, 8)}.md`);
    writeFileSync(file, readFileSync(file, 'utf8').replace('attempt: 1', 'attempt: 9'));
    assert.equal((await read(proof.id)).verified, false);
  });

  it('is 404 without a worktree, 409 under a session, 400 for what cannot be seen', async (t) => {
    const { run, call, at, work } = await scene(t);
    assertProblem(await run('echo \u202e'), 400, 'bad_request');
    const { body } = await call<{ id: string }>('POST', '/cases', { title: 'B', type: 'bug' });
    const none = await call('POST', `/cases/${body.id}/proof/run`, { command: 'true' });
    assertProblem(none, 404, 'not_found');
    await work.planned();
    assertProblem(await run('true'), 409, 'session_active');
    assert.deepEqual((await call<Proof[]>('GET', `${at}/proof`)).body, []);
  });

  it('lets a session that waited for it begin', async (t) => {
    const { run, work } = await scene(t);
    const { command, untilBegun, go } = waiting(t);
    await run(command);
    await untilBegun();
    const { id } = await work.start();
    await work.until(id, 'queued');
    go();
    await work.until(id, 'plan_ready');
  });
});

describe('POST /cases/:id/proof/:pid/abort', () => {
  it('ends the check, and is 422 for one that has ended, and for a proof of no check', async (t) => {
    const { run, call, at, lock } = await scene(t);
    const { command, untilBegun } = waiting(t);
    const { body: proof } = await run(command);
    await untilBegun();
    const abort = (id: string) => call<Proof>('POST', `${at}/proof/${id}/abort`);
    const aborted = await abort(proof.id);
    assert.deepEqual([aborted.status, aborted.body.run?.status], [200, 'aborted']);
    assert.equal(await lock(), false);
    assertProblem(await abort(proof.id), 422, 'invalid_state');
    const text = await call<Proof>('POST', `${at}/proof`, { type: 'log', content: 'ok' });
    assertProblem(await abort(text.body.id), 422, 'invalid_state');
    assertProblem(await abort(randomUUID()), 404, 'not_found');
  });
});

describe('a check that its daemon did not outlive', () => {
  it('is told as cut off after a kill, and nothing of it is alive', async (t) => {
    const { root } = makeRepository(t);
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, { 'workspace.md': '---\nsandbox: off\n---\n' });
    const start = () => startDaemon(t, ['--workspace', workspace, '--repo', root]);
    const first = await start();
    const send = async (url: string, path: string, body?: object) => {
      const answer = await fetch(`${url}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers: { 'content-type': 'application/json' },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await answer.text();
      assert.ok(answer.ok, text);
      return JSON.parse(text) as Proof & Lock;
    };
    const item = await send(first.url, '/cases', { title: 'A', type: 'bug' });
    await send(first.url, '/api/worktrees', { case_id: item.id });
    const pid = join(temporaryDirectory(t), 'pid');
    const command = `echo $$ > ${pid}.new; mv ${pid}.new ${pid}; exec sleep 600`;
    const proof = await send(first.url, `/cases/${item.id}/proof/run`, { command });
    await eventually(() => assert.ok(existsSync(pid)));
    await first.end('SIGKILL');
    const { url } = await start();
    const cut = await send(url, `/cases/${item.id}/proof/${proof.id}`);
    assert.equal(cut.run?.status, 'interrupted');
    assert.match(cut.content, /interrupted because the daemon ended/);
    assert.equal((await send(url, `/api/worktrees/${item.id}/lock`)).locked, false);
    assert.throws(() => process.kill(Number(readFileSync(pid, 'utf8')), 0), /ESRCH/);
  });

  it('is told as cut off, and its worktree is free', async (t) => {
    const { run, running, read, lock } = await scene(t);
    const { command, untilBegun } = waiting(t);
    const { body: proof } = await run(command);
    await untilBegun();
    await running.restart();
    const cut = await read(proof.id);
    assert.deepEqual([cut.run?.status, cut.run?.exit_code], ['interrupted', null]);
    assert.match(cut.content, /interrupted because the daemon ended/);
    assert.equal(await lock(), false);
  });
});

describe('a proof that was attached before any work', () => {
  it('is stale once there is some', async (t) => {
    const work = await withSession(t, 'Text.');
    const { call } = work.running;
    const made = await call<Proof>('POST', `${work.at}/proof`, { type: 'log', content: 'ok' });
    await call('PUT', `${work.at}/proof/${made.body.id}/verify`);
    const stale = async () => (await call<Gate>('GET', `${work.at}/proof/gate`)).body.stale;
    const worktree = await call<{ path: string }>('POST', '/api/worktrees', {
      case_id: work.item.id,
    });
    assert.deepEqual(await stale(), []);
    writeFiles(worktree.body.path, { 'new.txt': 'work\n' });
    assert.deepEqual(await stale(), [made.body.id]);
  });
});

describe('a line of the checklist that names a command', () => {
  it('is proven by a verified run of just that command that passed', async (t) => {
    const { check, verify, gate, call, at } = await scene(t);
    const asked = { description: 'the tests pass', type: 'tests', required: true, command: 'true' };
    assert.equal((await call('POST', `${at}/proof/checklist`, asked)).status, 201);
    const text = await call<Proof>('POST', `${at}/proof`, { type: 'tests', content: 'I ran it' });
    await verify(text.body.id);
    const failed = await check('true; false');
    await verify(failed.id);
    assert.equal((await gate()).satisfied, false);
    const passed = await check('true');
    assert.equal((await gate()).satisfied, false, 'nothing verifies itself');
    await verify(passed.id);
    assert.equal((await gate()).satisfied, true);
  });

  it('is read from a task line, and its command runs only when the operator sends it', async (t) => {
    const { gate, call, at, work } = await scene(t);
    const file = 'proof/checklist.md';
    const touched = join(temporaryDirectory(t), 'ran');
    const line = `command: touch ${touched}`;
    writeFiles(join(work.workspace, work.item.path), { [file]: `- [ ] ${line}\n` });
    const [entry] = (await call<ChecklistItem[]>('GET', `${at}/proof/checklist`)).body;
    assert.deepEqual([entry?.command, entry?.satisfied], [`touch ${touched}`, false]);
    assert.equal((await gate()).missing[0]?.description, line);
    assert.equal(existsSync(touched), false);
  });
});

describe('PUT /cases/:id/proof/checklist/:item_id/waiver', () => {
  const lines = '# Before we ship\n\n- [ ] the tests pass\n- [ ] it is fast\n';

  it('waives a line by name and reason, once, and keeps every other byte', async (t) => {
    const { gate, call, at, work } = await scene(t);
    const dir = join(work.workspace, work.item.path);
    writeFiles(dir, { 'proof/checklist.md': lines });
    const items = (await call<ChecklistItem[]>('GET', `${at}/proof/checklist`)).body;
    const waive = (id: string | undefined, reason: string) =>
      call<ChecklistItem>('PUT', `${at}/proof/checklist/${id}/waiver`, { by: 'Ada', reason });
    const [one, other] = await Promise.all([
      waive(items[0]?.id, 'no tests yet'),
      waive(items[0]?.id, 'another reason'),
    ]);
    assert.deepEqual([one.status, other.status, one.body.satisfied], [200, 200, true], one.text);
    assert.deepEqual(one.body.waived, other.body.waived);
    await waive(items[1]?.id, 'nobody minds');
    assert.deepEqual((await gate()).missing, []);
    assert.ok(readFileSync(join(dir, 'proof/checklist.md'), 'utf8').endsWith(`---\n${lines}`));
    const shown = (await call<ChecklistItem[]>('GET', `${at}/proof/checklist`)).body;
    assert.deepEqual(
      shown.map(({ waived, done }) => [waived?.by, waived?.reason, done]),
      [
        ['Ada', one.body.waived?.reason, false],
        ['Ada', 'nobody minds', false],
      ],
    );
    assertProblem(await waive(randomUUID(), 'x'), 404, 'not_found');
    assertProblem(await waive(items[0]?.id, ' '), 400, 'bad_request');
  });
});
