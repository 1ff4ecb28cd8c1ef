import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { STATE_RULES } from '../../lib/agents/state-rules.ts';
import { openRunState } from '../../lib/sandbox/state/open.ts';
import type { StateRules } from '../../lib/sandbox/state/place.ts';
import { atEnd } from '../helpers/at-end.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const CWD = '/work/one.two';
const OWN = 'projects/-work-one-two/abc.jsonl';

const place = (t: TestContext, files: Record<string, string>, name = '.claude') => {
  const root = temporaryDirectory(t);
  const path = join(root, 'home', name);
  mkdirSync(path, { recursive: true });
  writeFiles(path, files);
  const rules = STATE_RULES[name] as StateRules;
  const open = (native_session_id?: string, session = 'session') =>
    openRunState(
      [{ path, rules }],
      { within: join(root, 'states'), name: session },
      { cwd: CWD, native_session_id },
    );
  const copy = join(root, 'states/session/0');
  const read = (file: string) => readFileSync(join(path, file), 'utf8');
  return { root, path, copy, open, read };
};

const LOGIN = JSON.stringify({ claudeAiOauth: { accessToken: 'old', expiresAt: 1 } }, null, 2);

describe('what an agent keeps at home (attack 9)', () => {
  it('never returns settings, hooks, plugins, commands, skills, servers or memories', async (t) => {
    const bad = [
      ...[
        'settings.json',
        'settings.local.json',
        'hooks/run.sh',
        'plugins/x/plugin.json',
        'CLAUDE.md',
      ],
      ...[
        'commands/go.md',
        'skills/x/SKILL.md',
        'agents/y.md',
        'shell-snapshots/snapshot-bash-1.sh',
      ],
      ...['projects/-work-one-two/memory/MEMORY.md', 'projects/-other/own.jsonl', '.mcp.json'],
    ];
    const it = place(t, { 'settings.json': '{"hooks":{}}', 'commands/go.md': 'mine' });
    const state = await it.open();
    writeFiles(it.copy, Object.fromEntries(bad.map((path) => [path, 'EVIL'])));

    assert.deepEqual(await state.close(), []);

    assert.equal(it.read('settings.json'), '{"hooks":{}}');
    assert.equal(it.read('commands/go.md'), 'mine');
    const came = bad.filter((path) => existsSync(join(it.path, path)));
    assert.deepEqual(came, ['settings.json', 'commands/go.md']);
  });

  it('returns its own conversation, anew after each turn, and shows it no other', async (t) => {
    const it = place(t, { 'projects/-other/other.jsonl': 'theirs\n', [OWN]: 'one\n' });
    const first = await it.open();
    assert.equal(readFileSync(join(it.copy, OWN), 'utf8'), 'one\n');
    assert.equal(existsSync(join(it.copy, 'projects/-other')), false);
    writeFiles(it.copy, { [OWN]: 'one\ntwo\n', 'projects/-work-one-two/new.jsonl': 'n\n' });
    await first.close();
    const second = await it.open();
    writeFiles(it.copy, { [OWN]: 'one\ntwo\nthree\n' });
    await second.close();

    assert.equal(it.read(OWN), 'one\ntwo\nthree\n');
    assert.equal(it.read('projects/-work-one-two/new.jsonl'), 'n\n');
    assert.equal(it.read('projects/-other/other.jsonl'), 'theirs\n');
  });

  for (const name of ['.claude', '.codex', '.gemini', '.qwen', '.local/share/opencode'])
    it(`is given a copy of ~/${name} though the agent was never run`, async (t) => {
      const it = place(t, {}, name);
      rmSync(it.path, { recursive: true });
      const state = await it.open();
      assert.deepEqual(state.binds, [{ from: it.copy, to: it.path, write: true }]);
      assert.equal(lstatSync(it.copy).isDirectory(), true);
      assert.deepEqual(await state.close(), []);
    });

  it('makes no file of its own where ~/.claude.json is not there', async (t) => {
    const it = place(t, {}, '.claude.json');
    rmSync(it.path, { recursive: true });
    assert.deepEqual((await it.open()).binds, []);
    assert.equal(existsSync(it.path), false);
  });

  it('returns a login that was renewed, value by value, with its mode, and no new key', async (t) => {
    const it = place(t, { '.credentials.json': LOGIN });
    const state = await it.open();
    const renewed = {
      claudeAiOauth: { accessToken: 'new', expiresAt: 2, url: 'http://evil' },
      x: 1,
    };
    writeFiles(it.copy, { '.credentials.json': JSON.stringify(renewed) });
    await state.close();
    assert.deepEqual(JSON.parse(it.read('.credentials.json')), {
      claudeAiOauth: { accessToken: 'new', expiresAt: 2 },
    });
    assert.equal(
      statSync(join(it.path, '.credentials.json')).mode & 0o777,
      0o644 & ~process.umask(),
    );
  });

  it('leaves a login that was renewed outside meanwhile as it is', async (t) => {
    const it = place(t, { '.credentials.json': LOGIN });
    const [one, two] = [await it.open(), await it.open(undefined, 'another')];
    const text = (accessToken: string) =>
      JSON.stringify({ claudeAiOauth: { accessToken, expiresAt: 1 } });
    writeFiles(it.copy, { '.credentials.json': text('by one') });
    writeFiles(join(it.root, 'states/another/0'), { '.credentials.json': text('by two') });
    await one.close();
    await two.close();
    assert.equal(JSON.parse(it.read('.credentials.json')).claudeAiOauth.accessToken, 'by one');
  });

  it('of ~/.claude.json returns the account, and neither servers nor trust', async (t) => {
    const root = temporaryDirectory(t);
    const path = join(root, '.claude.json');
    writeFileSync(path, '{"oauthAccount":{"emailAddress":"a"},"mcpServers":{},"projects":{}}');
    const rules = STATE_RULES['.claude.json'] as StateRules;
    const at = { within: join(root, 'states'), name: 's' };
    const state = await openRunState([{ path, rules }], at, { cwd: CWD });
    const evil = { oauthAccount: { emailAddress: 'b' }, mcpServers: { x: { command: 'sh' } } };
    writeFileSync(
      join(root, 'states/s/0'),
      JSON.stringify({ ...evil, projects: { '/': { hasTrustDialogAccepted: true } } }),
    );
    await state.close();
    assert.equal(
      readFileSync(path, 'utf8'),
      '{"oauthAccount":{"emailAddress":"b"},"mcpServers":{},"projects":{}}',
    );
  });

  it('follows no link that a run left, neither out of the copy nor into the home', async (t) => {
    const it = place(t, {});
    const state = await it.open();
    const secret = join(it.root, 'secret');
    writeFileSync(secret, 'SECRET');
    const project = join(it.copy, 'projects/-work-one-two');
    mkdirSync(project, { recursive: true });
    symlinkSync(secret, join(project, 'link.jsonl'));
    symlinkSync(it.root, join(project, 'dir'));
    writeFiles(project, { 'new.jsonl': 'n' });
    mkdirSync(join(it.root, 'elsewhere'));
    symlinkSync(join(it.root, 'elsewhere'), join(it.path, 'projects'));

    const failed = await state.close();

    assert.deepEqual(failed, [join(it.path, 'projects/-work-one-two/new.jsonl')]);
    assert.equal(existsSync(join(it.root, 'elsewhere/-work-one-two')), false);
    assert.equal(lstatSync(join(it.path, 'projects')).isSymbolicLink(), true);
  });

  it('begins each turn with the settings of the operator, and keeps databases for the next', async (t) => {
    const it = place(
      t,
      { 'config.toml': 'model = "x"\n', 'sessions/2026/rollout-1-old.jsonl': 'o' },
      '.codex',
    );
    const first = await it.open();
    writeFiles(it.copy, { 'config.toml': 'evil', 'hooks.json': 'evil', 'state_5.sqlite': 'db' });
    writeFiles(it.copy, { 'sessions/2026/rollout-2-mine.jsonl': 'm' });
    await first.close();
    await it.open('mine');
    assert.equal(readFileSync(join(it.copy, 'config.toml'), 'utf8'), 'model = "x"\n');
    assert.equal(existsSync(join(it.copy, 'hooks.json')), false);
    assert.equal(readFileSync(join(it.copy, 'state_5.sqlite'), 'utf8'), 'db');
    assert.equal(existsSync(join(it.path, 'state_5.sqlite')), false);
    assert.equal(existsSync(join(it.copy, 'sessions/2026/rollout-1-old.jsonl')), false);
    assert.equal(it.read('sessions/2026/rollout-2-mine.jsonl'), 'm');
    rmSync(it.copy, { recursive: true });
    await it.open('mine');
    assert.equal(existsSync(join(it.copy, 'sessions/2026/rollout-2-mine.jsonl')), true);
  });

  it('of a place that nobody knows returns what state_returns names, and goes on with its copy', async (t) => {
    const root = temporaryDirectory(t);
    const path = join(root, '.mine');
    writeFiles(path, { 'a.json': '1', 'b.json': '1' });
    const at = { within: join(root, 'states'), name: 's' };
    const copy = join(root, 'states/s/0');
    for (const rules of [undefined, { returns: ['a.json', 'talks/**'] }]) {
      const state = await openRunState([{ path, ...(rules && { rules }) }], at, { cwd: CWD });
      writeFiles(copy, { 'a.json': '2', 'b.json': '2', 'talks/x/y': 't', more: 'kept' });
      await state.close();
      assert.equal(readFileSync(join(path, 'a.json'), 'utf8'), rules ? '2' : '1');
      assert.equal(readFileSync(join(path, 'b.json'), 'utf8'), '1');
      assert.equal(existsSync(join(path, 'talks/x/y')), rules !== undefined);
      assert.equal(existsSync(join(copy, 'more')), true);
    }
  });

  it('is laid over the real place in the sandbox, writable in Plan mode, the real one out of reach', {
    skip: missing,
  }, async (t) => {
    const it = place(t, { 'settings.json': 'mine' });
    const { binds } = await it.open();
    const cwd = temporaryDirectory(t);
    const view = { cwd, phase: 'plan', writable: [], hidden: [], network: 'host', binds } as const;
    const { output } = await runInside(
      view,
      `cat ${it.path}/settings.json; echo evil > ${it.path}/settings.json; cat ${it.path}/settings.json`,
    );
    assert.equal(output, 'mineevil');
    assert.equal(it.read('settings.json'), 'mine');
  });

  it('may be moved to where nothing is yet, outside of the home directory', {
    skip: missing,
  }, async (t) => {
    const root = mkdtempSync('/var/tmp/dossier-test-');
    atEnd(t, () => rmSync(root, { recursive: true }));
    const cwd = temporaryDirectory(t);
    const binds = [{ from: temporaryDirectory(t), to: join(root, 'moved'), write: true }];
    const view = { cwd, phase: 'plan', writable: [], hidden: [], network: 'host', binds } as const;
    const { output } = await runInside(view, `echo kept > ${root}/moved/file && echo done`);
    assert.equal(output, 'done');
    assert.equal(readFileSync(join(binds[0]?.from ?? '', 'file'), 'utf8'), 'kept\n');
  });
});
