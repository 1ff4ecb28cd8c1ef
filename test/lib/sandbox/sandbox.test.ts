import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createSandbox } from '../../../lib/sandbox/sandbox.ts';
import { withFilter } from '../../../lib/sandbox/seccomp.ts';
import type { SandboxView } from '../../../lib/sandbox/view.ts';
import { cleanEnvironment } from '../../../lib/tools/process/environment.ts';
import { killRun } from '../../../lib/tools/process/process-tree.ts';
import { createRuns } from '../../../lib/tools/process/runs.ts';
import { startProgram } from '../../../lib/tools/process/spawn.ts';
import { inject } from '../../helpers/faults.ts';
import { alive } from '../../helpers/processes.ts';
import { temporaryDirectory, writeFiles } from '../../helpers/repository.ts';

const env = cleanEnvironment({ PATH: process.env.PATH });
const sandbox = createSandbox('auto', env);
const missing = sandbox.kind === 'none' ? (sandbox.reason ?? 'no sandbox') : false;

interface Place {
  view: SandboxView;
  hidden: string;
  git: string;
  state: string;
}

// As in a workspace: the worktree lies in the daemon's own directory, which is hidden.
const makePlace = (t: TestContext, phase: 'plan' | 'work'): Place => {
  const root = temporaryDirectory(t);
  const hidden = join(root, '.dossier');
  const cwd = join(hidden, 'worktrees', 'one');
  const git = join(root, 'repository', '.git');
  const state = join(root, 'home', '.agent');
  writeFiles(cwd, { 'file.txt': 'as it was\n' });
  writeFiles(hidden, { 'secrets.json': '{"secret": 1}', 'worktrees/two/file.txt': 'another\n' });
  writeFiles(git, { config: '[core]\n' });
  mkdirSync(state, { recursive: true });
  const view = {
    cwd,
    phase,
    network: 'host' as const,
    writable: [git],
    hidden: [hidden, join(root, 'absent')],
    state: [state],
  };
  return { view, hidden, git, state };
};

const UNTABLED = { runs: createRuns(), loopback: true };

const run = async (
  view: SandboxView,
  script: string,
): Promise<{ output: string; code: number | null }> => {
  const lines: string[] = [];
  const argv = sandbox.wrap(['/bin/sh', '-c', script], view);
  const program = startProgram({
    argv,
    cwd: '/',
    env,
    marker: randomUUID(),
    ...UNTABLED,
    onLine: (line) => lines.push(line),
  });
  const { code, stderr_tail } = await program.exited;
  return { output: [...lines, stderr_tail].join('\n').trim(), code };
};

describe('createSandbox', () => {
  it('is there where continuous integration promises it', {
    skip: process.env.CI !== 'true' && missing,
  }, () => {
    assert.equal(missing, false);
  });

  for (const [why, kind] of [
    ['Creating new namespace failed: Resource temporarily unavailable', 'bubblewrap'],
    ['reading seccomp data: Input/output error', 'bubblewrap'],
    ['error while loading shared libraries: libcap.so.2: cannot open shared object file', 'none'],
    ['Creating new namespace failed: Operation not permitted', 'none'],
  ] as const)
    it(`is ${kind} where bubblewrap fails with "${why}"`, (t) => {
      const bin = temporaryDirectory(t);
      const script = `#!/bin/sh\necho 'bwrap: ${why}' >&2\nexit 1\n`;
      writeFileSync(join(bin, 'bwrap'), script, { mode: 0o755 });
      const failing = createSandbox('auto', { ...env, PATH: `${bin}:${env.PATH}` });
      assert.equal(failing.kind, kind);
      assert.match(failing.reason ?? '', new RegExp(why));
    });

  it('is bubblewrap where the filter of system calls cannot be opened', async (t) => {
    const bin = temporaryDirectory(t);
    writeFileSync(join(bin, 'bwrap'), '#!/bin/sh\nexit 0\n', { mode: 0o755 });
    const [, , , filter] = withFilter();
    if (filter === undefined) return t.skip('this architecture has no filter');
    const faults = await inject(t, process.pid, `openat:error=EIO:-P${filter}`);
    if (faults === undefined) return;
    const unread = createSandbox('auto', { ...env, PATH: `${bin}:${env.PATH}` });
    const { kind, reason } = unread;
    await faults.end();
    assert.equal(kind, 'bubblewrap', reason);
    assert.match(reason ?? '', /could not be prepared/);
  });

  it('is none when it is switched off or not installed, and says why', () => {
    for (const off of [createSandbox('off', env), createSandbox('auto', { PATH: '/no/such' })]) {
      assert.equal(off.kind, 'none');
      assert.match(off.reason ?? '', /settings|install/);
      assert.deepEqual(
        off.wrap(['a', 'b'], {
          cwd: '/',
          phase: 'plan',
          writable: [],
          hidden: [],
          network: 'host',
        }),
        ['a', 'b'],
      );
    }
  });
});

describe('Sandbox.wrap', { skip: missing }, () => {
  it('keeps the worktree and the repository read-only in Plan mode', async (t) => {
    const { view, git } = makePlace(t, 'plan');
    const { output } = await run(
      view,
      `pwd; cat file.txt; echo x > file.txt; echo x > new.txt; rm file.txt; echo x > ${git}/config`,
    );
    assert.match(output, new RegExp(`^${view.cwd}\nas it was\n`));
    assert.match(output, /Read-only file system/);
    assert.equal(readFileSync(join(view.cwd, 'file.txt'), 'utf8'), 'as it was\n');
    assert.equal(existsSync(join(view.cwd, 'new.txt')), false);
    assert.equal(readFileSync(join(git, 'config'), 'utf8'), '[core]\n');
  });

  it('lets Work mode write the worktree and the repository, and nothing beside them', async (t) => {
    const { view, git } = makePlace(t, 'work');
    const outside = join(temporaryDirectory(t), 'outside.txt');
    await run(
      view,
      `echo new > file.txt; echo new > ${git}/config; echo x > ${outside}; echo x > /etc/x; echo x > /root/x`,
    );
    assert.equal(readFileSync(join(view.cwd, 'file.txt'), 'utf8'), 'new\n');
    assert.equal(readFileSync(join(git, 'config'), 'utf8'), 'new\n');
    assert.equal(existsSync(outside), false);
  });

  it('shows a hidden directory empty but for the worktree, and lets nobody write there', async (t) => {
    const { view, hidden } = makePlace(t, 'work');
    const { output } = await run(
      view,
      `ls -A ${hidden} ${hidden}/worktrees; cat ${hidden}/secrets.json; echo x > ${hidden}/secrets.json`,
    );
    assert.match(output, /worktrees\n/);
    assert.doesNotMatch(output, /secret"|two/);
    assert.match(output, /No such file/);
    assert.match(output, /Read-only file system/);
  });

  it('runs nothing while the disk hides what is to be hidden', async (t) => {
    const { view } = makePlace(t, 'plan');
    const secret = join(temporaryDirectory(t), 'secret');
    writeFileSync(secret, '');
    const hiding = { ...view, hidden: [...view.hidden, secret] };
    const faults = await inject(t, process.pid, `statx,newfstatat:error=EIO:-P${secret}`);
    if (faults === undefined) return;
    assert.throws(() => sandbox.wrap(['/bin/true'], hiding), { code: 'EIO' });
    await faults.end();
    sandbox.wrap(['/bin/true'], hiding);
  });

  it('hides a directory inside a writable one, and a single file', async (t) => {
    const { view, git } = makePlace(t, 'work');
    writeFiles(git, { 'private/key': 'k', token: 't' });
    const seen = { ...view, hidden: [join(git, 'private'), join(git, 'token')] };
    const { output } = await run(seen, `ls ${git}/private; cat ${git}/token`);
    assert.match(output, /^cat: .*: Permission denied$/);
  });

  it('keeps a readable path inside a writable one from being written', async (t) => {
    const { view, git } = makePlace(t, 'work');
    const { output } = await run(
      { ...view, readable: [join(git, 'config')] },
      `echo x > ${git}/config; echo x > ${git}/HEAD`,
    );
    assert.match(output, /Read-only file system/);
    assert.equal(readFileSync(join(git, 'config'), 'utf8'), '[core]\n');
    assert.equal(existsSync(join(git, 'HEAD')), true);
  });

  it('lays files and directories over others, in hidden directories too, to be written or not', async (t) => {
    const { view, hidden } = makePlace(t, 'work');
    writeFiles(hidden, { 'turn/HEAD': 'turn\n', pointer: 'pointer\n' });
    writeFiles(view.cwd, { '.git': 'real\n' });
    const binds = [
      { from: join(hidden, 'turn'), to: join(hidden, 'turn'), write: true },
      { from: join(hidden, 'pointer'), to: join(view.cwd, '.git'), write: false },
    ];
    const script = `cat .git; echo x > .git; rm -f .git; mv .git x; cat .git; echo new > ${hidden}/turn/HEAD`;
    const { output } = await run({ ...view, binds }, script);
    assert.equal(output.match(/^pointer$/gm)?.length, 2, output);
    assert.equal(readFileSync(join(view.cwd, '.git'), 'utf8'), 'real\n');
    assert.equal(readFileSync(join(hidden, 'turn/HEAD'), 'utf8'), 'new\n');
  });

  it('lets the agent write its own state in both modes, but in Plan mode never through the worktree', async (t) => {
    const { view, state } = makePlace(t, 'plan');
    await run(
      { ...view, state: [state, view.cwd, join(view.cwd, '..')] },
      `echo s > ${state}/s; echo x > file.txt`,
    );
    assert.equal(readFileSync(join(state, 's'), 'utf8'), 's\n');
    assert.equal(readFileSync(join(view.cwd, 'file.txt'), 'utf8'), 'as it was\n');
  });

  it('makes the directories of an agent that was never run, but no file, and nothing in the worktree', async (t) => {
    const { view, state } = makePlace(t, 'plan');
    const wanted = [join(state, 'sessions'), `${state}.json`, join(view.cwd, 'state')];

    const { output } = await run({ ...view, state: wanted }, `touch ${wanted[0]}/one`);

    assert.equal(output, '');
    assert.deepEqual(wanted.map(existsSync), [true, false, false]);
    assert.equal(existsSync(join(state, 'sessions/one')), true);
  });

  it('gives an empty, writable /tmp that nobody else sees', async (t) => {
    const { view } = makePlace(t, 'plan');
    const name = `/tmp/${randomUUID()}`;
    const { output } = await run(
      view,
      `echo mine > ${name} && cat ${name}; echo $TMPDIR; ls /tmp | grep -c dossier-test || true`,
    );
    assert.match(output, /^mine\n\/tmp\n/);
    assert.equal(existsSync(name), false);
  });

  it('shows a program that lies in /tmp and is named in the arguments', async (t) => {
    const { view } = makePlace(t, 'plan');
    const root = temporaryDirectory(t);
    writeFiles(root, { 'agent.mjs': 'console.log("here")' });
    const argv = sandbox.wrap([process.execPath, join(root, 'agent.mjs')], view);
    const lines: string[] = [];
    await startProgram({
      argv,
      cwd: '/',
      env,
      marker: randomUUID(),
      ...UNTABLED,
      onLine: (line) => lines.push(line),
    }).exited;
    assert.deepEqual(lines, ['here']);
  });

  it('dies whole when it is ended, shells in sessions of their own included', async (t) => {
    const { view } = makePlace(t, 'plan');
    const marker = randomUUID();
    const script =
      'trap "" TERM; env -i /usr/bin/setsid /bin/sleep 600 & echo up; while :; do sleep 600; done';
    const argv = sandbox.wrap(['/bin/sh', '-c', script], view);
    const program = startProgram({ argv, cwd: '/', env, marker, ...UNTABLED });
    await once(program.stdout, 'data');
    assert.equal(await alive(marker), true);
    await program.end();
    assert.equal(await alive(marker), false);
  });

  it('is found and killed by its marker alone, as a restarted daemon does it', async (t) => {
    const { view } = makePlace(t, 'plan');
    const marker = randomUUID();
    const argv = sandbox.wrap(['/bin/sh', '-c', 'echo up; exec sleep 600'], view);
    const program = startProgram({ argv, cwd: '/', env, marker, ...UNTABLED });
    await once(program.stdout, 'data');
    assert.ok((await killRun(marker)) >= 1);
    assert.equal((await program.exited).signal, 'SIGKILL');
  });
});
