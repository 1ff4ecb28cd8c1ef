import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { connect } from '../../../../lib/client/client.ts';
import { assertSentence, dossier, dossierIn } from '../../../helpers/command.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { withPlan } from '../../../helpers/with-plan.ts';

const withItems = async (t: TestContext, ...titles: string[]) => {
  const { root, git } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
  const workspace = temporaryDirectory(t);
  const { url } = await startHere(t, ['--workspace', workspace, '--repo', root]);
  const api = connect({ url });
  for (const title of titles) await api.call('POST /cases', { body: { title, type: 'bug' } });
  const said = (...words: string[]) => dossier(t, ...words, '--workspace', workspace);
  return { api, git, said };
};

describe('a Work item that is named', () => {
  it('is the one with that whole title, also where another begins with it', async (t) => {
    const { said } = await withItems(t, 'Fix', 'Fix it', 'Fix that');
    assert.match((await said('show', 'fix')).stdout, /^Fix\n/);
    const several = await said('show', 'Fi');
    assert.equal(several.code, 1);
    assert.match(
      several.stderr,
      /^dossier: Fi matches 3 Work items:\n(?: {2}[0-9a-f]{8} {2}Fix(?: it| that)? \(default\)\n){3}Use an id\.\n$/,
    );
  });
});

describe('dossier ls and inbox', () => {
  it('name the projects where they list Work items of several', async (t) => {
    const { api, said } = await withItems(t, 'One');
    assert.match((await said('ls')).stdout, /^[0-9a-f]{8}\tOPEN\tOne\n$/);
    const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    await api.call('PUT /settings', { body: { projects: { other: root } } });
    await said('start', 'One', '--provider', 'manual');
    const inbox = async (rows: RegExp) =>
      eventually(async () => assert.match((await said('inbox')).stdout, rows));
    await inbox(/^[^\t]+\tmanual\t[^\t]+\tOne\t[^\t]+\n$/);
    const body = { title: 'Two', type: 'bug', project: 'other' };
    await api.call('POST /cases', { body });
    assert.match((await said('ls')).stdout, /\tTwo\tother\n[^\n]+\tOne\tdefault\n$/);
    await said('start', 'Two', '--provider', 'manual');
    await inbox(/\tOne\tdefault\t[^\t]+\n[^\n]+\tTwo\tother\t[^\t]+\n$/);
  });
});

describe('dossier close, reopen and rm', () => {
  it('change no state that the operator did not mean', async (t) => {
    const { api, said } = await withItems(t, 'One');
    const [{ id = '' } = {}] = await api.call('GET /cases');
    const set = (state: 'INVESTIGATING' | 'RESOLVED') =>
      api.call('PUT /cases/{id}/state', { id, body: { state } });
    const state = async () => (await api.call('GET /cases/{id}', { id })).state;
    await set('INVESTIGATING');
    const open = await said('reopen', 'One');
    assert.equal(open.code, 1);
    assert.match(open.stderr, /One is INVESTIGATING, not closed, so nothing was changed\.$/m);
    assert.equal(await state(), 'INVESTIGATING');
    await set('RESOLVED');
    const resolved = await said('close', 'One');
    assert.equal(resolved.code, 1);
    assert.match(resolved.stderr, /already closed as RESOLVED.*give --state NON_ISSUE\.$/m);
    assert.equal(await state(), 'RESOLVED');
    assert.equal((await said('close', 'One', '--state', 'non_issue')).code, 0);
    assert.equal(await state(), 'NON_ISSUE');
  });

  it('close a Work item with its outcome, open it again, and delete it', async (t) => {
    const { api, said } = await withItems(t, 'One');
    const state = async () => {
      const [item] = await api.call('GET /cases');
      return [item?.state, item?.outcome];
    };
    assert.equal((await said('close', 'One', '--outcome', 'duplicate')).code, 0);
    assert.deepEqual(await state(), ['NON_ISSUE', 'duplicate']);
    const refused = await said('start', 'One', '--provider', 'manual');
    assert.match(refused.stderr, /dossier reopen/);
    assert.equal((await said('reopen', 'One')).code, 0);
    assert.deepEqual(await state(), ['OPEN', null]);
    const [item] = await api.call('GET /cases');
    const unsure = await said('rm', 'One');
    assert.equal(unsure.code, 1);
    assert.match(unsure.stderr, /Run dossier rm [0-9a-f]{8} --workspace \/.*\n$/);
    const id = item?.id.slice(0, 8) ?? '';
    await said('start', 'One', '--provider', 'manual');
    const busy = await said('rm', id);
    assert.equal(busy.code, 1);
    assert.match(busy.stderr, /has a session that is planning.*: dossier abort [0-9a-f]{8} --w/);
    const going = await said('close', id);
    assert.equal(going.code, 1);
    assert.match(going.stderr, /planning.*nothing was closed\. Abort it first: dossier abort/);
    await said('abort', 'One');
    assert.match(
      (await said('close', '--help')).stdout,
      /as not actionable, or with --state RESOLVED/,
    );
    assert.equal((await said('close', id, '--state', 'done')).code, 2);
    assert.match((await said('close', id, '--state', 'RESOLVED')).stderr, /proof is missing/);
    assert.match(
      (await said('rm', id)).stdout,
      /^Deleted One\. To undo it: dossier help every-day\n$/,
    );
    assert.deepEqual(await api.call('GET /cases'), []);
  });
});

describe('a session of the manual provider', () => {
  it('names at each step what the operator does next, and where', async (t) => {
    const { api, said } = await withItems(t, 'One');
    const [{ id = '' } = {}] = await api.call('GET /cases');
    await said('start', 'One', '--provider', 'manual');
    const { path } = await eventually(() => api.call('GET /api/cases/{id}/worktree', { id }));
    const [{ id: sid = '' } = {}] = await api.call('GET /cases/{id}/sessions', { id });
    const early = await said('approve', 'One');
    assert.match(early.stderr, /To write its plan: dossier edit [0-9a-f]{8} plan\.md --workspace/);
    await api.call('PUT /cases/{id}/sessions/{sid}/plan', { id, sid, body: '# By hand\n' });
    const hash = await eventually(async () => {
      const session = await api.call('GET /cases/{id}/sessions/{sid}', { id, sid });
      assert.equal(session.status, 'plan_ready');
      return session.plan_sha256 ?? '';
    });
    const { stdout } = await said('approve', 'One', '--hash', hash);
    const [, place, command] =
      /^Approved; .* is working\. Carry out the plan in (\S+)\. Once the work is done: dossier (\S+ \S+) --w/.exec(
        stdout,
      ) ?? [];
    assert.deepEqual([place, command], [path, `finish ${id.slice(0, 8)}`], stdout);
  });
});

describe('a command that is refused', () => {
  it('names commands, where the API names its calls', async (t) => {
    const { said } = await withItems(t, 'One');
    await said('start', 'One', '--provider', 'manual');
    assert.equal((await said('path', 'One')).code, 0);
    const early = await said('finish', 'One');
    assert.equal(early.code, 1);
    assert.match(
      early.stderr,
      /is not approved, .* Write it with dossier edit [0-9a-f]{8} plan\.md .*, then approve it: dossier approve [0-9a-f]{8} --workspace \S+\n$/,
    );
    await said('abort', 'One');
    const based = await said('start', 'One', '--provider', 'manual', '--base', 'main');
    assert.equal(based.code, 1);
    assert.match(
      based.stderr,
      /has a worktree already, from main\. Leave out --base, or remove the worktree first: dossier worktrees rm [0-9a-f]{8} --workspace \S+\n$/,
    );
  });
});

describe('a branch that is in the way', () => {
  it('is named with the setting that helps', async (t) => {
    const { git, said } = await withItems(t, 'One');
    git('branch', 'work');
    await said('start', 'One', '--provider', 'manual');
    await said('wait', 'One', '--for', 'plan');
    assert.match(
      (await said('inbox')).stdout,
      /git cannot create the branch work\/one-\w+ while the branch work exists\. Rename work, or change worktrees\.branch_prefix in workspace\.md, then try again\.\n$/,
    );
  });
});

describe('dossier wait', () => {
  it('ends with 0 at the plan, with 4 where that was not asked for, and with 2 on words that mean nothing', async (t) => {
    const { workspace } = await withPlan(t);
    const said = (...words: string[]) =>
      dossier(t, 'wait', 'make', ...words, '--workspace', workspace);
    const planned = await said('--for', 'plan', '--timeout', '10m');
    assert.deepEqual([planned.code, planned.stderr], [0, '']);
    assert.match(planned.stdout, /is plan_ready/);
    const other = await said('--for', 'done');
    assert.equal(other.code, 4);
    assert.match(other.stdout, /dossier approve [0-9a-f]{8}/);
    assert.equal((await said('--for', 'tea')).code, 2);
    assert.equal((await said('--timeout', '10')).code, 2);
  });

  it('ends with 4 or 5 where there is no time to wait, and with 1 where the session was aborted', async (t) => {
    const { said } = await withItems(t, 'One');
    await said('start', 'One', '--provider', 'manual');
    const late = await said('wait', 'One', '--timeout', '0s');
    // A plan that is to be written by hand needs the operator: either is told at once.
    assert.ok([4, 5].includes(late.code ?? 0), late.stdout);
    await said('abort', 'One');
    assert.equal((await said('wait', 'One')).code, 1);
  });
});

describe('the inbox', () => {
  it('prints commands that work for a workspace that is not the usual one', async (t) => {
    const { workspace } = await withPlan(t);
    const { stdout } = await dossier(t, 'inbox', '--workspace', workspace);
    assert.match(stdout, new RegExp(`dossier approve [0-9a-f]{8} --workspace ${workspace}`));
  });
});

describe('a refusal', () => {
  it('names commands that work for a workspace that is not the usual one', async (t) => {
    const { workspace } = await withPlan(t);
    const { root } = makeRepository(t);
    const at = `--workspace ${workspace}`;
    for (const [words, command] of [
      [['show', 'nothing'], `List them: dossier ls ${at}`],
      [['adopt', 'nothing'], `a Work item (dossier ls ${at}). List them: dossier adopt ${at}`],
      [['answer', 'files', '--option', 'yes'], `needs you: dossier inbox ${at}`],
    ] as const) {
      const ended = await dossierIn(t, { cwd: root }, [...words, '--workspace', workspace]);
      assertSentence(ended, /dossier/);
      assert.ok(ended.stderr.endsWith(`${command}\n`), ended.stderr);
    }
    const imported = await dossier(t, 'import', workspace);
    const usable = `dossier serve ${at}, or export it (dossier export ${at}) and import that.`;
    assert.ok(imported.stderr.endsWith(`${usable}\n`), imported.stderr);
  });
});

describe('a session with two directories', () => {
  it('is not aborted, and both are named', async (t) => {
    const { workspace, dossier: api, at } = await withPlan(t);
    const [session] = await api.call('GET /cases/{id}/sessions', { id: at.id });
    const path = session?.path ?? '';
    const copy = join(dirname(path), `0-copy-${path.slice(-8)}`);
    cpSync(join(workspace, path), join(workspace, copy), { recursive: true });
    const record = join(workspace, copy, 'session.md');
    const ended = readFileSync(record, 'utf8').replace(/^status: .*$/m, 'status: aborted');
    writeFileSync(record, ended);
    for (const words of [[], ['--session', session?.id.slice(0, 8) ?? '']]) {
      const args = ['abort', 'files', ...words, '--workspace', workspace];
      const refused = await dossier(t, ...args);
      assertSentence(refused, new RegExp(`in 2 directories: .*${copy}.* remove the one`));
      assert.ok(refused.stderr.includes(path), refused.stderr);
    }
  });
});

describe('a word that is empty', () => {
  it('is refused, as it would mean something else', async (t) => {
    for (const words of [
      ['show', ''],
      ['import', ''],
      ['diff', 'One', '--session', ''],
    ]) {
      const { code, stderr } = await dossier(t, ...words);
      assert.equal(code, 2);
      assert.match(stderr, /empty.*: is a variable not set\?/);
    }
  });
});

describe('a mistyped word', () => {
  it('gets a suggestion, for commands and options', async (t) => {
    const command = await dossier(t, 'aprove', 'new');
    assert.equal(command.code, 2);
    assert.match(
      command.stderr,
      /There is no command aprove\. Did you mean approve\? See dossier --help\.$/m,
    );
    const option = await dossier(t, 'ls', '--sate', 'open');
    assert.match(
      option.stderr,
      /Unknown option: --sate\. Did you mean --state\? See dossier ls --help\.$/m,
    );
  });
});
