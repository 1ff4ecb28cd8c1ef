/** Whoever can push to the workspace's repository grants nothing with what git brings, into `.dossier/` too. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { WaitingValue } from '../../store/records/trust.ts';
import { DOSSIER } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { asyncGit } from '../helpers/git-workspace.ts';
import { temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { type Running, startForTest } from '../helpers/service.ts';

const WHO = ['-c', 'user.name=A', '-c', 'user.email=a@example.com'];

const push = async (dir: string, files: Readonly<Record<string, string>>): Promise<void> => {
  writeFiles(dir, files);
  await asyncGit(dir)('add', '--all', '--force');
  await asyncGit(dir)(...WHO, 'commit', '--quiet', '--message', 'more');
};

const cloned = async (t: TestContext) => {
  const [upstream, parent] = [temporaryDirectory(t), temporaryDirectory(t)];
  await asyncGit(upstream)('init', '--quiet', '--initial-branch=main');
  await push(upstream, {
    '.gitignore': '.dossier/\n',
    'workspace.md': '---\nprovider: runbook\n---\n',
  });
  const workspace = join(parent, 'space');
  await asyncGit(parent)('clone', '--quiet', upstream, workspace);
  return { upstream, workspace };
};

const EVIL = { 'workspace.md': '---\nsandbox: off\nworktrees: { setup: ["touch evil"] }\n---\n' };

/** All that an older or a present version might believe, written by somebody who knows how. */
const forged = (workspace: string): Record<string, string> => {
  const at = '2026-11-20T10:00:00Z';
  const line = (key: string, value: unknown): string =>
    `${JSON.stringify({ at, key, value, by: 'operator' })}\n`;
  const book = line('sandbox', 'off') + line('worktrees.setup', ['touch evil']);
  const id = existsSync(join(workspace, '.dossier/workspace'))
    ? readFileSync(join(workspace, '.dossier/workspace'), 'utf8')
    : 'b5c7e6d2-7e0f-4f0a-9c3e-2f5a4d3b2a10\n';
  return {
    '.dossier/trust/trusted.ndjson': book,
    '.dossier/consent.log': book,
    '.dossier/workspace': id,
  };
};

const waiting = async ({ call }: Running): Promise<string[]> =>
  (await call<WaitingValue[]>('GET', '/trust')).body.map(({ key }) => key);

const dossier = (...args: string[]) => {
  const { status, stdout, stderr } = spawnSync(process.execPath, [DOSSIER, ...args], {
    env: { ...process.env, DOSSIER_TRUST: '' },
    encoding: 'utf8',
  });
  return { status, said: stdout + stderr };
};

describe('a pull that brings files below .dossier/', () => {
  it('grants nothing while the daemon runs, and what was trusted counts again once they are untracked', async (t) => {
    const { upstream, workspace } = await cloned(t);
    const running = await startForTest(t, { workspace, watch: true, trust: false });
    await running.call('POST', '/trust', { all: true });
    assert.deepEqual(await waiting(running), []);
    await push(upstream, { ...EVIL, ...forged(workspace) });
    await asyncGit(workspace)('pull', '--quiet');
    await eventually(async () => {
      const { body } = await running.call<{ code: string; message: string }[]>(
        'GET',
        '/api/diagnostics',
      );
      const told = body.find(({ code }) => code === 'tracked_private');
      assert.match(told?.message ?? '', /git -C \S+ rm -r --cached --quiet -- \.dossier/);
    });
    assert.deepEqual((await waiting(running)).toSorted(), ['sandbox', 'worktrees.setup']);
    await asyncGit(workspace)('rm', '-r', '--cached', '--quiet', '--', '.dossier');
    await asyncGit(workspace)(...WHO, 'commit', '--quiet', '--message', 'untracked');
    await eventually(async () => {
      const { body } = await running.call<{ code: string }[]>('GET', '/api/diagnostics');
      assert.equal(body.filter(({ code }) => code === 'tracked_private').length, 0);
    });
    assert.deepEqual((await waiting(running)).toSorted(), ['sandbox', 'worktrees.setup']);
  });

  it('keeps a daemon from starting, which names them and the command; check and doctor do, too', async (t) => {
    const { upstream, workspace } = await cloned(t);
    await push(upstream, { ...EVIL, ...forged(workspace) });
    await asyncGit(workspace)('pull', '--quiet');
    const served = dossier('serve', '--workspace', workspace, '--port', '0');
    assert.equal(served.status, 1);
    const untrack =
      /\.dossier\/\S+ and 2 more: Git tracks this file.* rm -r --cached --quiet -- \.dossier/;
    assert.match(served.said, untrack);
    assert.equal(existsSync(join(workspace, '.dossier', 'journal')), false);
    const checked = dossier('check', '--workspace', workspace);
    assert.equal(checked.status, 1);
    assert.match(checked.said, /\.dossier\/workspace.*error tracked_private/);
    assert.match(
      dossier('doctor', '--workspace', workspace).said,
      /Git tracks this file.*--cached/,
    );
    await asyncGit(workspace)('rm', '-r', '--cached', '--quiet', '--', '.dossier');
    const running = await startForTest(t, { workspace, trust: false });
    assert.deepEqual((await waiting(running)).toSorted(), ['sandbox', 'worktrees.setup']);
  });

  for (const [what, bring] of [
    [
      'a link',
      async (upstream: string) => {
        symlinkSync('/var/tmp', join(upstream, '.dossier'));
        await push(upstream, {});
      },
    ],
    [
      'a submodule',
      async (upstream: string, t: TestContext) => {
        const theirs = temporaryDirectory(t);
        await asyncGit(theirs)('init', '--quiet', '--initial-branch=main');
        await push(theirs, { 'secrets/incoming': 'known to them\n' });
        const add = ['submodule', '--quiet', 'add', '--force', theirs, '.dossier'];
        await asyncGit(upstream)('-c', 'protocol.file.allow=always', ...add);
        await push(upstream, {});
      },
    ],
  ] as const) {
    it(`starts no daemon in a clone where .dossier is ${what}, and is told by check`, async (t) => {
      const { upstream } = await cloned(t);
      await bring(upstream, t);
      const workspace = join(temporaryDirectory(t), 'space');
      await asyncGit(upstream)(
        ...['-c', 'protocol.file.allow=always', 'clone', '--quiet', '--recurse-submodules'],
        ...[upstream, workspace],
      );
      const served = dossier('serve', '--workspace', workspace, '--port', '0');
      assert.equal(served.status, 1, served.said);
      const checked = dossier('check', '--workspace', workspace);
      assert.equal(checked.status, 1);
      assert.match(checked.said, /\.dossier .*tracked_private.*Git tracks \.dossier itself/);
      assert.doesNotMatch(checked.said, /git checkout/);
    });
  }

  it('is told of a lock of sessions, and the daemon starts', async (t) => {
    const { upstream, workspace } = await cloned(t);
    await push(upstream, {
      'cases/2026-11/a-b28c3de2/sessions/lock.md': '---\nkind: manual\n---\n',
    });
    await asyncGit(workspace)('pull', '--quiet');
    const checked = dossier('check', '--workspace', workspace);
    assert.match(checked.said, /sessions\/lock\.md.*tracked_private.*-- cases\/2026-11\S+lock\.md/);
    await startForTest(t, { workspace, trust: false });
  });
});
