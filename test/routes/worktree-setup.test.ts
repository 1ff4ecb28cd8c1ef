import assert from 'node:assert/strict';
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { processesOf } from '../../lib/tools/process/process-tree.ts';
import type { Setup, Worktree } from '../../store/records/worktree.ts';
import { eventually } from '../helpers/eventually.ts';
import { NOBODY } from '../helpers/nobody.ts';
import { gitIn, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { withCase } from '../helpers/sessions.ts';
import { codes, commit, create, type Fixture, hold, start } from '../lib/code/worktrees/fixture.ts';

const settingsOf = (setup: string[], copy: string[] = []): string =>
  `worktrees:\n  setup: ${JSON.stringify(setup)}\n  copy_files: ${JSON.stringify(copy)}`;

const setupOf = ({ setup }: Worktree): Setup => {
  assert.ok(setup !== undefined);
  return setup;
};

/** Has `.env` and whatever begins with `local` ignored in the repository. */
const ignoring = (fixture: Fixture): string => {
  const { git, root } = fixture.repository;
  writeFiles(root, { '.gitignore': '.env*\nlocal*\nnode_modules/\n' });
  commit(git, root, 'ignores.txt');
  return root;
};

describe('copy_files', () => {
  const copied = async (t: TestContext, globs: string[], prepare: (root: string) => void) => {
    const fixture = await start(t, { settings: settingsOf([], globs) });
    prepare(ignoring(fixture));
    const worktree = await create(fixture);
    return { ...fixture, worktree, setup: setupOf(worktree) };
  };

  it('copies ignored files that match, with their permissions, whatever they are called', async (t) => {
    const odd = 'local/-n é\n.txt';
    const { setup, worktree } = await copied(t, ['.env*', 'local/**', '**/deep/.env'], (root) => {
      writeFiles(root, { '.env': 'A=1\n', [odd]: 'odd', 'a/b/deep/.env': 'deep' });
      chmodSync(join(root, '.env'), 0o600);
    });
    assert.deepEqual(setup.copied.toSorted(), ['.env', 'a/b/deep/.env', odd]);
    assert.deepEqual([setup.status, setup.skipped, setup.error], ['completed', [], null]);
    assert.equal(readFileSync(join(worktree.path, '.env'), 'utf8'), 'A=1\n');
    assert.equal(lstatSync(join(worktree.path, '.env')).mode & 0o777, 0o600);
    assert.equal(readFileSync(join(worktree.path, odd), 'utf8'), 'odd');
    assert.equal(gitIn(worktree.path)('status', '--porcelain'), '');
  });

  it('tells what it left: no match, not ignored, a link, what git has', async (t) => {
    const outside = temporaryDirectory(t);
    writeFiles(outside, { secret: 'secret' });
    const globs = [
      '.env.none',
      'notes.txt',
      'local-link',
      'local-dir/*',
      'README.md',
      ':(exclude)x',
    ];
    const { setup, worktree } = await copied(t, globs, (root) => {
      writeFiles(root, { 'notes.txt': 'work' });
      symlinkSync(join(outside, 'secret'), join(root, 'local-link'));
      symlinkSync(outside, join(root, 'local-dir'));
    });
    assert.deepEqual(setup.copied, []);
    const told = Object.fromEntries(setup.skipped.map(({ path, reason }) => [path, reason]));
    assert.deepEqual(Object.keys(told).toSorted(), globs.toSorted());
    assert.match(told['notes.txt'] ?? '', /does not ignore/);
    assert.match(told['local-link'] ?? '', /link/);
    assert.match(told['README.md'] ?? '', /no untracked file/);
    assert.deepEqual(
      readdirSync(worktree.path).filter((name) => name.startsWith('local')),
      [],
    );
  });

  it('writes through no link that the repository holds, and overwrites nothing', async (t) => {
    const outside = temporaryDirectory(t);
    const { setup } = await copied(t, ['local/config', 'local.conf'], (root) => {
      const git = gitIn(root);
      writeFiles(root, { 'local.conf': 'of git' });
      symlinkSync(outside, join(root, 'local'));
      git('add', '--force', 'local', 'local.conf');
      commit(git, root, 'one.txt');
      git('rm', '--quiet', '--cached', 'local', 'local.conf');
      rmSync(join(root, 'local'));
      writeFiles(root, { 'local/config': 'mine', 'local.conf': 'mine' });
    });
    assert.deepEqual(setup.skipped.map(({ path }) => path).toSorted(), [
      'local.conf',
      'local/config',
    ]);
    assert.deepEqual(readdirSync(outside), []);
  });

  it('fails for a glob that leads out, and when the checkout has no files', async (t) => {
    const out = await start(t, { settings: settingsOf(['touch ran'], ['../secret']) });
    const failed = setupOf(await create(out));
    assert.deepEqual([failed.status, failed.commands], ['failed', []]);
    assert.match(failed.error ?? '', /\.\.\/secret.*copy_files.*outside the main checkout/);
  });
});

describe('setup', () => {
  it('runs the commands one by one in the worktree, and keeps what they wrote', async (t) => {
    const commands = ['pwd; echo to stderr >&2', 'echo "$HOME $SECRET" > ran; cat'];
    const fixture = await start(t, { settings: settingsOf(commands) });
    const worktree = await create(fixture);
    const setup = setupOf(worktree);
    assert.equal(setup.status, 'completed');
    assert.deepEqual(
      setup.commands.map(({ command, exit_code }) => [command, exit_code]),
      commands.map((command) => [command, 0]),
    );
    assert.equal(setup.commands[0]?.output, `${worktree.path}\nto stderr\n`);
    assert.equal(readFileSync(join(worktree.path, 'ran'), 'utf8'), `${fixture.workspace} \n`);
    const { body } = await fixture.send('GET', `/api/worktrees/${fixture.item.id}/status`);
    assert.deepEqual(body.setup, setup);
  });

  it('stops at the first that fails, says so, and keeps the worktree', async (t) => {
    const settings = settingsOf(['true', 'echo broken; exit 3', 'touch never']);
    const fixture = await start(t, { settings });
    const { path, ...worktree } = await create(fixture);
    const { status, error, commands } = setupOf({ path, ...worktree });
    assert.deepEqual(
      [status, commands.map((each) => each.status)],
      ['failed', ['completed', 'failed']],
    );
    assert.equal(
      error,
      'Setup command 2 of 3 (echo broken; exit 3) ended with exit code 3. Its last output:\nbroken',
    );
    assert.ok(!existsSync(join(path, 'never')));
    assert.ok(existsSync(join(path, 'README.md')));
  });

  it('leaves nothing running behind it', async (t) => {
    const settings = settingsOf(['(sleep 300 & echo $! > pid) > /dev/null 2>&1; env > env']);
    const { path } = await create(await start(t, { settings }));
    const marker = /^DOSSIER_RUN=(.*)$/m.exec(readFileSync(join(path, 'env'), 'utf8'))?.[1] ?? '';
    assert.match(marker, /^[0-9a-f-]{36}$/);
    assert.deepEqual(await processesOf(marker), []);
  });

  it('is told nothing of where the settings want nothing, and where a worktree is only taken up again', async (t) => {
    const fixture = await start(t, { settings: settingsOf(['echo x >> times']) });
    const { path } = await create(fixture);
    rmSync(join(fixture.workspace, '.dossier', 'worktrees', `${fixture.item.id}.json`));
    assert.equal((await create(fixture)).setup, undefined);
    assert.equal(readFileSync(join(path, 'times'), 'utf8'), 'x\n');
    assert.equal((await create(await start(t))).setup, undefined);
  });
});

describe('POST /api/worktrees/{case_id}/setup', () => {
  const again = ({ send, item }: Fixture, id = item.id) =>
    send('POST', `/api/worktrees/${id}/setup`);

  it('does it again as the settings say now', async (t) => {
    const fixture = await start(t, { settings: settingsOf(['exit 1']) });
    const { path } = await create(fixture);
    await fixture.send('PUT', '/api/worktrees/config', { setup: ['touch ran'] });
    const { status, body } = await again(fixture);
    assert.deepEqual([status, (body.setup as Setup).status], [200, 'completed']);
    assert.ok(existsSync(join(path, 'ran')));
  });

  it('keeps what an earlier run copied in the record', async (t) => {
    const fixture = await start(t, { settings: settingsOf(['exit 1'], ['.env']) });
    writeFiles(ignoring(fixture), { '.env': 'A=1' });
    await create(fixture);
    const { copied, skipped } = (await again(fixture)).body.setup as Setup;
    assert.deepEqual([copied, skipped.map(({ path }) => path)], [['.env'], ['.env']]);
  });

  it('is refused without a worktree, while somebody is at work, and when it is not as it was made', async (t) => {
    const none = await start(t);
    const held = await start(t);
    await create(held);
    await hold(held, 'session');
    const operator = await start(t);
    await create(operator);
    await hold(operator, 'operator');
    const gone = await start(t);
    rmSync((await create(gone)).path, { recursive: true });
    const forged = await start(t);
    writeFileSync(join((await create(forged)).path, '.git'), 'gitdir: /elsewhere\n');
    assert.deepEqual(
      codes(
        await again(none),
        await again(none, NOBODY),
        await again(held),
        await again(operator),
        await again(gone),
        await again(forged),
      ),
      [
        [404, 'not_found'],
        [404, 'not_found'],
        [409, 'session_active'],
        [409, 'lock_held'],
        [409, 'worktree_missing'],
        [409, 'worktree_tampered'],
      ],
    );
  });

  it('goes on alone: a second one, and the removal of the worktree, are refused meanwhile', async (t) => {
    const fixture = await start(t);
    const { path } = await create(fixture);
    const wait = `until [ -e go ]; do sleep 0.05; done; rm go`;
    await fixture.send('PUT', '/api/worktrees/config', { setup: [wait] });
    const url = `/api/cases/${fixture.item.id}/worktree?force=true`;
    const first = again(fixture);
    const refused = [await again(fixture), await fixture.send('DELETE', url)];
    writeFileSync(join(path, 'go'), '');
    assert.deepEqual(codes(...refused), Array(2).fill([409, 'worktree_busy']));
    assert.equal(((await first).body.setup as Setup).status, 'completed');
    assert.equal((await fixture.send('DELETE', url)).status, 204);
  });
});

describe('a session and the set-up of its worktree', () => {
  const texts = (events: { event: string; data: Record<string, unknown> }[]) =>
    events
      .filter(({ event }) => event === 'tool_call')
      .map(({ data }) => [data.tool_call_id, data.status, data.output]);

  it('has it in its stream, and plans on what is there afterwards', async (t) => {
    const settings = settingsOf(['echo made > made.txt', 'echo told'], ['.env']);
    const session = await withCase(t, undefined, {
      settings,
      files: { '.gitignore': '.env\n' },
    });
    writeFiles(session.repository.root, { '.env': 'A=1' });
    const { id } = await session.planned();
    assert.deepEqual(texts(await session.eventsOf(id)), [
      ['setup-copy', 'completed', 'copied .env'],
      ['setup-1', 'in_progress', undefined],
      ['setup-1', 'completed', ''],
      ['setup-2', 'in_progress', undefined],
      ['setup-2', 'completed', 'told\n'],
    ]);
    const { body } = await session.call<Worktree>(
      'GET',
      `/api/worktrees/${session.item.id}/status`,
    );
    assert.equal(readFileSync(join(body.path, 'made.txt'), 'utf8'), 'made\n');
    await session.post(`/sessions/${id}/approve`);
    await session.until(id, 'completed');
    assert.equal(
      texts(await session.eventsOf(id)).filter(([name]) => name === 'setup-1').length,
      2,
    );
  });

  it('fails with what failed there; the next one does it anew', async (t) => {
    const session = await withCase(t, undefined, { settings: settingsOf(['echo why; exit 2']) });
    const { id } = await session.start();
    const failed = await session.until(id, 'failed').catch(() => session.until(id, 'failed'));
    assert.match(
      failed.error ?? '',
      /Setting up the worktree failed.*command 1 of 1.*exit code 2[\s\S]*why/,
    );
    assert.equal(await session.state(), 'BLOCKED');
    const at = `/api/worktrees/${session.item.id}/status`;
    assert.ok(existsSync((await session.call<Worktree>('GET', at)).body.path));
    await session.call('PUT', '/api/worktrees/config', { setup: ['true'] });
    const second = await session.start();
    await session.until(second.id, 'plan_ready');
  });

  it('ends it when it is aborted, and begins it anew when it was paused', async (t) => {
    const settings = settingsOf(['echo x >> times; until [ -e go ]; do sleep 0.05; done']);
    const session = await withCase(t, undefined, { settings });
    const { id } = await session.start();
    const at = `/api/worktrees/${session.item.id}/status`;
    const path = await eventually(async () => {
      const { body } = await session.call<Worktree>('GET', at);
      assert.equal(readFileSync(join(body.path, 'times'), 'utf8'), 'x\n');
      return body.path;
    });
    assert.equal((await session.control('pause')).body.status, 'paused');
    assert.equal((await session.call<Worktree>('GET', at)).body.setup?.status, 'interrupted');
    writeFileSync(join(path, 'go'), '');
    await session.control('resume');
    await session.until(id, 'plan_ready');
    assert.equal(readFileSync(join(path, 'times'), 'utf8'), 'x\nx\n');
  });

  it('waits for the one that the operator began, and is not held by it when it is aborted', async (t) => {
    const session = await withCase(t, undefined, {
      settings: settingsOf(['until [ -e go ]; do sleep 0.05; done']),
    });
    const making = session.call<Worktree>('POST', '/api/worktrees', { case_id: session.item.id });
    const at = `/api/worktrees/${session.item.id}/status`;
    const path = await eventually(async () => {
      const { body } = await session.call<Worktree>('GET', at);
      assert.equal(body.setup?.status, 'running');
      return body.path;
    });
    const { id } = await session.start();
    await session.untilEvent(id, 'status');
    assert.equal((await session.control('abort')).body.status, 'aborted');
    const second = await session.start();
    writeFileSync(join(path, 'go'), '');
    assert.equal((await making).body.setup?.status, 'completed');
    await session.until(second.id, 'plan_ready');
  });

  it('of a daemon that stops is ended with it, and told as interrupted', async (t) => {
    const session = await withCase(t, undefined, {
      settings: settingsOf(['until [ -e go ]; do sleep 0.05; done']),
    });
    const making = session.call<Worktree>('POST', '/api/worktrees', { case_id: session.item.id });
    const at = `/api/worktrees/${session.item.id}/status`;
    await eventually(async () => {
      const { body } = await session.call<Worktree>('GET', at);
      assert.equal(body.setup?.status, 'running');
    });
    await session.restart();
    await making;
    const { body } = await session.call<Worktree>('GET', at);
    assert.equal(body.setup?.status, 'interrupted');
    mkdirSync(join(body.path, 'still-there'));
    const { id } = await session.start();
    writeFileSync(join(body.path, 'go'), '');
    await session.until(id, 'plan_ready');
  });
});
