import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Case } from '../../store/records/case.ts';
import type { Session } from '../../store/records/session.ts';
import { atEnd, killAtEnd } from '../helpers/at-end.ts';
import { DOSSIER, firstUrl } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { gitIn, writeFiles } from '../helpers/repository.ts';

/** A /tmp of its own, full in one way or the other, around a program. */
const FULL = {
  blocks: 'mount -t tmpfs -o size=64k full /tmp; cat /dev/zero > /tmp/filler 2>/dev/null || true',
  names: 'mount -t tmpfs -o nr_inodes=1 full /tmp',
} as const;

const canMount = (): boolean => {
  try {
    execFileSync('unshare', ['--mount', 'sh', '-ec', FULL.names], { stdio: 'pipe' });
    return true;
  } catch {
    return false;
  }
};

const startIn = async (t: TestContext, script: string, args: readonly string[]) => {
  const command = `${script}; exec "$0" "$@"`;
  const child = spawn(
    'unshare',
    ['--mount', 'sh', '-ec', command, process.execPath, DOSSIER, 'serve', ...args],
    { stdio: ['ignore', 'pipe', 'ignore'], env: { ...process.env, DOSSIER_TRUST: '1' } },
  );
  killAtEnd(t, child);
  return { child, url: await firstUrl(child) };
};

describe('a full /tmp', () => {
  for (const [kind, script] of Object.entries(FULL))
    it(`fails no session whose workspace has room: no ${kind} left`, async (t) => {
      if (!canMount()) {
        assert.notEqual(process.env.CI, 'true', 'nothing can be mounted here');
        return t.skip('nothing can be mounted here');
      }
      // Not below /tmp, which the daemon does not see.
      const dir = mkdtempSync('/var/tmp/dossier-');
      atEnd(t, () => rmSync(dir, { recursive: true, force: true }));
      const [workspace, repo] = [join(dir, 'space'), join(dir, 'repository')];
      mkdirSync(repo);
      const git = gitIn(repo);
      git('init', '--quiet', '--initial-branch=main');
      writeFiles(repo, { 'README.md': '# Sample\n' });
      git('add', '--all');
      git(
        '-c',
        'user.name=Me',
        '-c',
        'user.email=me@example.com',
        'commit',
        '--quiet',
        '-m',
        'one',
      );
      const places = ['--workspace', workspace, '--repo', repo, '--state-dir', join(dir, 'state')];
      const args = [...places, '--port', '0'];
      const { child, url } = await startIn(t, script, args);
      const call = async <T>(method: string, path: string, body?: object): Promise<T> => {
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(`${url}${path}`, {
          ...{ method, headers },
          ...(body && { body: JSON.stringify(body) }),
        });
        assert.ok(answer.ok, await answer.clone().text());
        return (await answer.json()) as T;
      };
      const description = '```sh\nprintf "hello\\n" > hello.txt\n```\n';
      const item = await call<Case>('POST', '/cases', { title: 'x', type: 'bug', description });
      const at = `/cases/${item.id}/sessions`;
      const { id } = await call<Session>('POST', at, { type: 'implementing' });
      const until = (status: string): Promise<void> =>
        eventually(async () => {
          const session = await call<Session>('GET', `${at}/${id}`);
          assert.equal(session.status, status, session.error ?? undefined);
        });
      await until('plan_ready');
      await call('POST', `${at}/${id}/approve`);
      await until('completed');
      const diff = await fetch(`${url}${at}/${id}/diff`);
      assert.match(await diff.text(), /\+hello/);
      child.kill('SIGTERM');
      await new Promise((resolve) => child.once('exit', resolve));
      assert.deepEqual(readdirSync(join(workspace, '.dossier/tmp')), []);
    });
});
