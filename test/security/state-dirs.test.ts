import assert from 'node:assert/strict';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { openRunState } from '../../lib/sandbox/state/open.ts';
import { agentHome, AGENT_CWD as CWD } from '../helpers/agent-home.ts';
import { atEnd } from '../helpers/at-end.ts';
import { missing, runInside } from '../helpers/inside.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';

const NOTHING = { left: [], renewed: [], logins: [] };
const keepAside = () => Promise.reject(new Error('nothing is to be kept'));
const OWN = 'projects/-work-one-two/abc.jsonl';
const OLD = 'sessions/2026/11/21/rollout-1-old.jsonl';
const NEW = 'sessions/2026/11/22/rollout-2-mine.jsonl';
const LINE = `${JSON.stringify({ type: 'user', cwd: CWD })}\n`;

const place = (t: TestContext, files: Record<string, string>, name = '.claude') =>
  agentHome(t, { [name]: files });

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

    assert.deepEqual(await state.close(), NOTHING);

    assert.equal(it.read('settings.json'), '{"hooks":{}}');
    assert.equal(it.read('commands/go.md'), 'mine');
    const came = bad.filter((path) => existsSync(join(it.path, path)));
    assert.deepEqual(came, ['settings.json', 'commands/go.md']);
  });

  it('returns its own conversation, anew after each turn, and shows it no other', async (t) => {
    const it = place(t, { 'projects/-other/other.jsonl': 'theirs\n', [OWN]: '1\n' });
    const first = await it.open();
    assert.equal(readFileSync(join(it.copy, OWN), 'utf8'), '1\n');
    assert.equal(existsSync(join(it.copy, 'projects/-other')), false);
    writeFiles(it.copy, { [OWN]: '1\n{}\n', 'projects/-work-one-two/new.jsonl': LINE });
    await first.close();
    const second = await it.open();
    writeFiles(it.copy, { [OWN]: '1\n{}\n{}\n' });
    await second.close();

    assert.equal(it.read(OWN), '1\n{}\n{}\n');
    assert.equal(it.read('projects/-work-one-two/new.jsonl'), LINE);
    assert.equal(it.read('projects/-other/other.jsonl'), 'theirs\n');
  });

  for (const name of ['.claude', '.codex', '.gemini', '.qwen', '.local/share/opencode'])
    it(`is given a copy of ~/${name} though the agent was never run`, async (t) => {
      const it = place(t, {}, name);
      rmSync(it.path, { recursive: true });
      const state = await it.open();
      assert.deepEqual(state.binds, [{ from: it.copy, to: it.path, write: true }]);
      assert.equal(lstatSync(it.copy).isDirectory(), true);
      assert.deepEqual(await state.close(), NOTHING);
    });

  it('makes no file of its own where ~/.claude.json is not there', async (t) => {
    const it = place(t, {}, '.claude.json');
    rmSync(it.path, { recursive: true });
    assert.deepEqual((await it.open()).binds, []);
    assert.equal(existsSync(it.path), false);
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
    writeFiles(project, { 'new.jsonl': LINE });
    mkdirSync(join(it.root, 'elsewhere'));
    symlinkSync(join(it.root, 'elsewhere'), join(it.path, 'projects'));

    const { left } = await state.close();

    const path = join(it.path, 'projects/-work-one-two/new.jsonl');
    assert.deepEqual(left, [{ path, why: 'its path contains a link' }]);
    assert.equal(existsSync(join(it.root, 'elsewhere/-work-one-two')), false);
    assert.equal(lstatSync(join(it.path, 'projects')).isSymbolicLink(), true);
  });

  it('begins each turn with the settings of the operator, and keeps databases for the next', async (t) => {
    const it = place(t, { 'config.toml': 'model = "x"\n', [OLD]: 'o' }, '.codex');
    const first = await it.open();
    writeFiles(it.copy, { 'config.toml': 'evil', 'hooks.json': 'evil', 'state_5.sqlite': 'db' });
    const record = { type: 'session_meta', payload: { cwd: CWD } };
    writeFiles(it.copy, { [NEW]: JSON.stringify(record) });
    await first.close();
    await it.open('mine');
    assert.equal(readFileSync(join(it.copy, 'config.toml'), 'utf8'), 'model = "x"\n');
    assert.equal(existsSync(join(it.copy, 'hooks.json')), false);
    assert.equal(readFileSync(join(it.copy, 'state_5.sqlite'), 'utf8'), 'db');
    assert.equal(existsSync(join(it.path, 'state_5.sqlite')), false);
    assert.equal(existsSync(join(it.copy, OLD)), false);
    assert.equal(it.read(NEW), JSON.stringify(record));
    rmSync(it.copy, { recursive: true });
    await it.open('mine');
    assert.equal(existsSync(join(it.copy, NEW)), true);
  });

  it('begins with them also where a run made directories in their place', async (t) => {
    const it = place(t, { 'settings.json': 'mine' });
    await (await it.open()).close();
    rmSync(join(it.copy, 'settings.json'));
    mkdirSync(join(it.copy, 'settings.json/x'), { recursive: true });
    await it.open();
    assert.equal(readFileSync(join(it.copy, 'settings.json'), 'utf8'), 'mine');
  });

  it('of a place that nobody knows returns what state_returns names, and goes on with its copy', async (t) => {
    const root = temporaryDirectory(t);
    const path = join(root, '.mine');
    writeFiles(path, { 'a.json': '1', 'b.json': '1' });
    for (const rules of [undefined, { returns: ['a.json', 'talks/**'] }]) {
      const at = { within: join(root, 'states'), name: rules ? 'named' : 'not', keepAside };
      const copy = join(at.within, at.name, '0');
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
