import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { launchdList, systemdUnit } from '../../../lib/cli/service-unit.ts';
import { killAtEnd } from '../../helpers/at-end.ts';
import { assertSentence, dossierIn } from '../../helpers/command.ts';
import { DOSSIER, firstUrl } from '../../helpers/daemon.ts';
import { temporaryDirectory } from '../../helpers/repository.ts';

const scene = (t: TestContext) => {
  const home = temporaryDirectory(t);
  const env = { HOME: home, PATH: `${process.env.PATH}:relative` };
  const unit = join(home, '.config/systemd/user/dossier.service');
  const run = (...args: string[]) => dossierIn(t, { cwd: home, env }, ['service', ...args]);
  return { home, unit, run };
};

const ODD = {
  name: 'dossier-x',
  node: '/opt/my node/bin/node',
  program: '/opt/100%/"dossier".js',
  workspace: '/home/$me/a\\b & <c>',
  flags: ['--port', '4870'],
  path: '/usr/bin:/opt/50%/bin:/a$b',
};

describe('dossier service', () => {
  it('says that its directory cannot be created', async (t) => {
    const { home, run } = scene(t);
    symlinkSync(join(home, 'nowhere'), join(home, '.config'));
    const ended = await run('install');
    assert.equal(ended.code, 1);
    assertSentence(ended, /systemd\/user cannot be created, so nothing was installed\. /);
  });

  it('says which actions it has, also for the name of a property of every object', async (t) => {
    const { run } = scene(t);
    for (const action of ['start', 'toString', 'constructor']) {
      const ended = await run(action);
      assert.equal(ended.code, 2);
      assertSentence(ended, /service takes install, status or uninstall, not /);
    }
  });

  it('writes a unit with all that it needs, whose command runs in an empty environment', async (t) => {
    const { home, unit, run } = scene(t);
    const ended = await run('install', '--port', '0');
    assert.deepEqual([ended.code, ended.stderr], [0, '']);
    assert.match(ended.stdout, /systemctl --user daemon-reload && .*enable --now dossier\n/);
    assert.match(ended.stdout, /systemd is not running for this user/);
    const text = readFileSync(unit, 'utf8');
    const begin = `ExecStart="/bin/sh" "-c" "exec \\"$$@\\"" "sh" `;
    const command =
      text
        .split('\n')
        .find((line) => line.startsWith(begin))
        ?.slice(begin.length) ?? '';
    assert.ok(command.startsWith(`"${realpathSync(process.execPath)}" "${realpathSync(DOSSIER)}"`));
    assert.ok(text.includes(`Environment="PATH=${process.env.PATH}"\n`));
    assert.doesNotMatch(text, /^(?:Private|Protect|Restrict|NoNew|SystemCall|Lock)/m);
    const child = spawn('env', ['-i', 'sh', '-c', `exec ${command}`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    killAtEnd(t, child);
    const url = await firstUrl(child);
    assert.equal((await fetch(`${url}/health`)).status, 200);
    assert.ok(existsSync(join(home, 'dossier/.dossier/owner.json')));
    const told = await run('status');
    assert.equal(told.code, 0);
    assert.match(
      told.stdout,
      new RegExp(`Daemon: ${url}, process ${child.pid}; not started by the unit\n`),
    );
    const again = await run('install');
    assert.match(
      again.stdout,
      new RegExp(
        `Another daemon already has the workspace \\(process ${child.pid}\\): run dossier stop .*first`,
      ),
    );
    assert.match(ended.stdout, /ANTHROPIC_API_KEY.*systemctl --user edit dossier/);
    assert.doesNotMatch(ended.stdout, /dossier stop/);
  });

  it('is a unit that systemd takes, whatever stands in the paths', (t) => {
    const dir = temporaryDirectory(t);
    const [program, node] = [join(dir, '100% $x.js'), join(dir, `o'n "$x\\=%`, 'node')];
    mkdirSync(dirname(node));
    cpSync('/bin/true', node);
    const workspace = join(dir, 'a\\b "c"');
    writeFileSync(join(dir, 'x.service'), systemdUnit({ ...ODD, node, program, workspace }));
    if (spawnSync('systemd-analyze', ['--version']).status !== 0) return t.skip('no systemd here');
    const verify = spawnSync('systemd-analyze', ['verify', '--user', join(dir, 'x.service')], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: dir },
    });
    assert.doesNotMatch(verify.stderr, /x\.service/);
  });

  it('escapes what systemd and launchd would read as their own', () => {
    const unit = systemdUnit(ODD);
    assert.ok(unit.includes('"/opt/my node/bin/node" "/opt/100%%/\\"dossier\\".js" "serve"'));
    assert.ok(unit.includes('"/home/$$me/a\\\\b & <c>"'));
    assert.ok(unit.includes('Environment="PATH=/usr/bin:/opt/50%%/bin:/a$b"'));
    const list = launchdList(ODD);
    assert.ok(list.includes('<string>/home/$me/a\\b &amp; &lt;c&gt;</string>'));
  });

  it('writes its own file anew, and neither writes over nor removes that of somebody else', async (t) => {
    const { unit, run } = scene(t);
    await run('install');
    assert.match((await run('install')).stdout, /restart dossier/);
    writeFileSync(unit, '[Service]\n');
    for (const action of ['install', 'uninstall']) {
      const ended = await run(action);
      assert.equal(ended.code, 1);
      assertSentence(ended, /was not written by dossier service install/);
    }
    assert.equal(readFileSync(unit, 'utf8'), '[Service]\n');
  });

  it('neither replaces nor removes the unit of another workspace with the same name', async (t) => {
    const { home, run } = scene(t);
    const ofWork = async (action: string, name: string) =>
      run(action, '--workspace', join(home, name));
    assert.equal((await ofWork('install', 'my work')).code, 0);
    for (const action of ['install', 'uninstall'])
      assertSentence(await ofWork(action, 'my-work'), /is the unit of another workspace, and /);
    assert.equal((await ofWork('uninstall', 'my work')).code, 0);
  });

  it('takes its file away, and says where there is none', async (t) => {
    const { unit, run } = scene(t);
    assert.equal((await run('status')).code, 1);
    await run('install');
    assert.equal((await run('uninstall')).code, 0);
    assert.equal(existsSync(unit), false);
    assertSentence(await run('uninstall'), /so nothing was removed/);
    assert.equal((await run('begin')).code, 2);
  });

  it('is refused from the cache of npx, with what to do', (t) => {
    const place = join(temporaryDirectory(t), '_npx/1/node_modules/dossierd');
    mkdirSync(place, { recursive: true });
    const dist = dirname(DOSSIER);
    for (const name of ['dossier.js', 'chunks', 'package.json'])
      if (existsSync(join(dist, name)))
        cpSync(join(dist, name), join(place, name), { recursive: true });
    const home = temporaryDirectory(t);
    const ended = spawnSync(process.execPath, [join(place, 'dossier.js'), 'service', 'install'], {
      encoding: 'utf8',
      env: { HOME: home, PATH: process.env.PATH },
    });
    assert.match(ended.stderr, /npm install -g dossierd, then dossier service install/);
    assert.equal(ended.status, 1);
    assert.equal(existsSync(join(home, '.config')), false);
  });
});
