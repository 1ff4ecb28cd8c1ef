/** What a run can do to the snapshots that later worktrees are made from. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { eventually } from '../helpers/eventually.ts';
import { skipOf } from '../helpers/git-scene.ts';
import { writeFiles } from '../helpers/repository.ts';
import {
  installedIn,
  type SharedInstall,
  saidOf,
  withSharedInstall,
} from '../helpers/shared-install.ts';
import { commit } from '../lib/code/worktrees/fixture.ts';

/** The names, modes and contents of all files below a directory, as one hash. */
const hashOf = (dir: string): string =>
  execFileSync(
    'sh',
    ['-c', 'find . -printf "%p %m %y %l\\n" | sort; find . -type f -exec sha256sum {} + | sort'],
    {
      cwd: dir,
      encoding: 'utf8',
    },
  );

/** Runs a script in Work mode, in a worktree of its own. */
const runInWork = async ({ call }: SharedInstall, script: string): Promise<Session> => {
  const description = `\`\`\`sh\n${script}\n\`\`\`\n`;
  const text = { title: 'Hostile', type: 'bug', description };
  const { body: item } = await call<Case>('POST', '/cases', text);
  const at = `/cases/${item.id}/sessions`;
  const { body } = await call<Session>('POST', at, { type: 'implementing' });
  const until = (status: string) =>
    eventually(async () => {
      const { body: now } = await call<Session>('GET', `${at}/${body.id}`);
      assert.equal(now.status, status, now.error ?? undefined);
      return now;
    });
  await until('plan_ready');
  await call('POST', `${at}/${body.id}/approve`);
  return until('completed');
};

describe('snapshots of shared directories', { skip: skipOf('auto') }, () => {
  it('cannot be read or changed by a run in the sandbox, and are not what a run changed', async (t) => {
    const shared = await withSharedInstall(t);
    await shared.create();
    const place = shared.place();
    const before = hashOf(place);
    assert.equal(statSync(place).mode & 0o777, 0o700);
    await runInWork(
      shared,
      [
        'cp node_modules/dep/index.js seen.txt',
        'echo poison > node_modules/dep/index.js',
        'echo poison > node_modules/dep/new.js',
        `ls -A ${place} > listed.txt 2>&1 || true`,
        `find ${shared.running.service.config.state} -name '*.json' > found.txt 2>/dev/null || true`,
        `for file in ${join(place, shared.snapshots()[0] ?? '', '0/dep/index.js')} ${place}/evil; do echo poison > $file; done || true`,
        '! test -s found.txt',
      ].join('\n'),
    );
    assert.equal(hashOf(place), before);
    const later = await shared.create();
    assert.deepEqual(saidOf(later), ['completed', ['skipped']]);
    assert.equal(installedIn(later), '{"lock":1}\n');
  });

  it('are for worktrees of one commit alone, where the default branch does not have that commit', async (t) => {
    const shared = await withSharedInstall(t, { more: '[ -f hook.sh ] && . ./hook.sh' });
    const { git, root } = shared.repository;
    git('checkout', '--quiet', '-b', 'evil');
    writeFiles(root, { 'hook.sh': 'echo poison > node_modules/dep/index.js\n' });
    commit(git, root, 'evil.txt');
    git('checkout', '--quiet', '-');
    const evil = await shared.create({ base: 'evil' });
    assert.equal(installedIn(evil), 'poison\n');
    assert.deepEqual(saidOf(await shared.create({ base: 'evil' })), ['completed', ['skipped']]);
    const clean = await shared.create();
    assert.deepEqual(saidOf(clean).slice(0, 2), ['completed', ['completed']]);
    assert.equal(installedIn(clean), '{"lock":1}\n');
  });

  it('are neither made nor used without a sandbox', async (t) => {
    const shared = await withSharedInstall(t, { sandbox: 'off' });
    for (const made of [await shared.create(), await shared.create()])
      assert.deepEqual(saidOf(made), [
        'completed',
        ['completed'],
        'node_modules: not shared, because the sandbox is not enforced, so runs could change the snapshot.',
      ]);
    assert.deepEqual(shared.snapshots(), []);
  });

  it('are removed before a program without a sandbox starts', async (t) => {
    const shared = await withSharedInstall(t);
    await shared.create();
    assert.equal(shared.snapshots().length, 1);
    const { runs } = shared.running.service;
    const run = runs.enter({ marker: 'test', loopback: false, sandboxed: false });
    assert.equal(shared.snapshots().filter((name) => !name.startsWith('.removed-')).length, 0);
    const meanwhile = await shared.create();
    assert.match(meanwhile.setup.share?.join() ?? '', /a program without a sandbox is running/);
    runs.leave(run);
    assert.deepEqual(saidOf(await shared.create()).slice(0, 2), ['completed', ['completed']]);
    assert.equal(shared.snapshots().length, 1);
  });
});
