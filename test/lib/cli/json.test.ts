import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { COMMANDS } from '../../../lib/cli/commands.ts';
import { dossierIn } from '../../helpers/command.ts';
import { eventually } from '../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../../helpers/repository.ts';
import { withPlan } from '../../helpers/with-plan.ts';
import { manifestOf } from '../../helpers/zip.ts';

const TEXTS = ['serve', 'help', 'mcp', 'completion', 'attach'];
// They need an editor, a daemon in the background, an agent that asks, a session that stands still, a code host, or exit with 4: told in the tests of their own.
const ELSEWHERE = ['answer', 'edit', 'logs', 'pause', 'resume', 'pr', 'merge', 'run', 'say'];
const BELOW = ['init', 'import', 'service'];

/** Runs commands with --json in a home of their own, and answers what each says. */
const programs = (t: TestContext, workspace: string) => {
  const home = temporaryDirectory(t);
  const env = { HOME: home, PATH: process.env.PATH };
  const called = new Set<string>();
  const json = async (line: string, ...more: string[]) => {
    const [name = '', ...words] = line.split(' ');
    const args = [name, ...words, ...more, '--json', '--workspace', workspace];
    const { code, stdout, stderr } = await dossierIn(t, { cwd: home, env }, args);
    assert.deepEqual([line, code, stderr], [line, 0, '']);
    called.add(name);
    return name === 'tail' ? stdout.trimEnd().split('\n').map(parsed) : parsed(stdout);
  };
  return { home, called, json };
};

// What a program reads: its tests say of which form it has to be.
// biome-ignore lint/suspicious/noExplicitAny: see above
const parsed = (text: string): any => JSON.parse(text);

const EXPORT = { 'workspace.md': '---\nsandbox: off\n---\n', 'memory/global.md': 'Global\n' };
const BACKLOG = {
  'backlog/config.yml': 'project_name: "Site"\n',
  'backlog/tasks/task-1 - Login.md': '---\nid: TASK-1\ntitle: Login\nstatus: To Do\n---\n\nText\n',
};

describe('--json', () => {
  it('is taken by every command that does not print a text of its own', () => {
    const without = COMMANDS.filter(({ options }) => options.json === undefined);
    assert.deepEqual(without.map(({ name }) => name).toSorted(), TEXTS.toSorted());
  });

  it('prints JSON and nothing else, from a new Work item to the end of its daemon', async (t) => {
    const { dossier, workspace, at, until } = await withPlan(t, { isApart: true });
    const { called, json } = programs(t, workspace);
    const { pid, project } = await json('up');
    assert.deepEqual([typeof pid, project], ['number', null]);
    for (const line of ['status', 'open', 'inbox', 'ls', 'show make', 'proof make', 'doctor'])
      await json(line);
    assert.deepEqual((await json('version')).name, 'dossierd');
    const { comments, session } = await json('comment make Twice');
    assert.match(comments, /^Twice\n$/m);
    assert.equal(session.id, at.sid);
    assert.equal((await json('revise make')).status, 'planning');
    await eventually(async () =>
      assert.equal((await json('plan make')).session.status, 'plan_ready'),
    );
    await json('approve make --hash', (await json('plan make')).plan_sha256);
    await until('complete');
    await json('path make');
    assert.equal((await json('tail make')).at(-1).event, 'complete');
    const { files, diff } = await json('diff make');
    assert.deepEqual(files[0], { path: 'one.txt', added: 1, removed: 0, runs: [] });
    assert.equal(diff, await dossier.call('GET /cases/{id}/sessions/{sid}/diff', at));
    assert.deepEqual(await json('diff make --stat'), { files });
    const { id: proof } = await json('proof add make', join(workspace, 'workspace.md'));
    assert.equal((await json('verify make', proof)).verified, true);
    const another = await json('new Another one');
    const { id: sid } = await json('start another --provider manual');
    const own = { id: another.id, sid };
    await eventually(() =>
      dossier.call('PUT /cases/{id}/sessions/{sid}/plan', { ...own, body: 'By hand.' }),
    );
    const planned = () => json('plan another');
    await eventually(async () => assert.equal((await planned()).session.status, 'plan_ready'));
    await json('approve another --hash', (await planned()).plan_sha256);
    await eventually(async () => assert.equal((await json('finish another')).status, 'completed'));
    await json('start another --provider manual');
    await json('wait make --for done');
    assert.equal((await json('worktrees')).length, 2);
    assert.deepEqual((await json('adopt')).worktrees, []);
    await json('dismiss make');
    await json('abort another');
    await json('export another --file', join(temporaryDirectory(t), 'another.zip'));
    for (const line of ['close another', 'reopen another', `rm ${another.id}`]) await json(line);
    await json('check');
    assert.deepEqual(await json('trust --list'), await dossier.call('GET /trust'));
    await json('trust --all');
    assert.deepEqual(await json('trust --all'), { trusted: [], waiting: [] });
    const { key, ...made } = await json('key ci');
    assert.match(key, /^dossier_/);
    assert.deepEqual(Object.keys(made), ['id', 'name', 'created_at', 'last_used_at']);
    assert.deepEqual(await json('key --list'), [made]);
    assert.deepEqual(await json('key --revoke', made.id), made);
    assert.equal((await json('stop')).pid, pid);
    const names = COMMANDS.map(({ name }) => name);
    const told = [...TEXTS, ...ELSEWHERE, ...BELOW, ...called];
    assert.deepEqual(names.toSorted(), [...new Set(told)].toSorted());
  });

  it('tells what an import brings, or would bring, and what waits for trust then', async (t) => {
    const from = temporaryDirectory(t);
    writeFiles(from, { ...EXPORT, 'manifest.json': JSON.stringify(manifestOf(EXPORT)) });
    const { json } = programs(t, join(temporaryDirectory(t), 'new'));
    const tried = await json('import', from, '--dry-run');
    assert.deepEqual([tried.dry_run, tried.done, tried.waiting], [true, false, []]);
    assert.deepEqual(tried.files.toSorted(), Object.keys(EXPORT).toSorted());
    const { done, waiting } = await json('import', from);
    assert.deepEqual([done, waiting.map(({ key }: { key: string }) => key)], [true, ['sandbox']]);
    const backlog = temporaryDirectory(t);
    writeFiles(backlog, BACKLOG);
    const { tool, states, work_items } = await json('import', backlog);
    assert.deepEqual([tool, states, work_items.length], ['Backlog.md', { OPEN: 1 }, 1]);
    assert.equal((await json('import', backlog)).unchanged, 1);
  });

  it('tells how a service stands after each of its actions', async (t) => {
    const { json, home } = programs(t, temporaryDirectory(t));
    const { unit, installed, daemon } = await json('service install');
    assert.ok(unit.startsWith(join(home, '.config/systemd/user/')));
    assert.deepEqual([installed, daemon], [true, null]);
    assert.equal((await json('service status')).installed, true);
    assert.equal((await json('service uninstall')).installed, false);
  });

  it('asks nobody about trust', async (t) => {
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, { 'workspace.md': '---\nsandbox: off\n---\n' });
    const ended = await dossierIn(t, {}, ['trust', '--json', '--workspace', workspace]);
    assert.deepEqual([ended.code, ended.stdout], [2, '']);
    assert.match(ended.stderr, /--list/);
    const { json } = programs(t, workspace);
    assert.deepEqual((await json('trust --all')).trusted, ['sandbox']);
  });

  it('has of a repository that is made, and of one that was there', async (t) => {
    const { root } = makeRepository(t);
    const { json } = programs(t, join(root, 'space'));
    const { made, repository, committed } = await json('init');
    assert.ok(made.includes('workspace.md'));
    assert.deepEqual([repository, committed], [root, []]);
  });
});
