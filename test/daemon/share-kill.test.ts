/** A daemon that is killed in the middle of a copy leaves neither half a snapshot nor half a directory. */
import assert from 'node:assert/strict';
import { chmodSync, existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, it } from 'node:test';
import { connect, type Worktree } from '../../lib/client/client.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { skipOf } from '../helpers/git-scene.ts';
import { makeRepository, temporaryDirectory, writeFiles } from '../helpers/repository.ts';
import { NPM } from '../helpers/shared-install.ts';

// Outside the sandbox, where the file is visible, it copies a part and hangs.
const CP = (hang: string, halfway: string): string => `#!/bin/sh
[ -e ${hang} ] || exec /bin/cp "$@"
for to; do :; done
mkdir -p "$to/dep"; echo half > "$to/dep/index.js"
echo $$ > ${halfway}
exec sleep 300
`;

describe('a daemon that is killed while it copies a shared directory', {
  skip: skipOf('auto'),
}, () => {
  it('leaves nothing half: the next one starts again', async (t) => {
    const home = temporaryDirectory(t);
    const [bin, hang, halfway] = [join(home, '.local/bin'), join(home, 'hang'), join(home, 'half')];
    writeFiles(bin, { npm: NPM(''), cp: CP(hang, halfway) });
    for (const name of ['npm', 'cp']) chmodSync(join(bin, name), 0o755);
    const workspace = temporaryDirectory(t);
    writeFiles(workspace, {
      'workspace.md': '---\nworktrees:\n  setup: [npm ci]\n  share: [node_modules]\n---\n',
    });
    const { root } = makeRepository(t, {
      files: {
        '.gitignore': 'node_modules/\n',
        'package.json': '{"name":"x"}\n',
        'package-lock.json': '{"lock":1}\n',
      },
    });
    const state = temporaryDirectory(t);
    const args = ['--workspace', workspace, '--repo', root, '--state-dir', state];
    const env = { HOME: home, PATH: `${bin}:${process.env.PATH}` };
    const begin = async () => {
      const daemon = await startDaemon(t, args, env);
      return { ...daemon, api: connect({ url: daemon.url }) };
    };
    const partial = (dir: string): string[] =>
      readdirSync(dir, { recursive: true, encoding: 'utf8' }).filter((name) =>
        /\.(?:partial|copying|removed)-|\.copying-/.test(name),
      );

    /** Kills the daemon in the middle of the copy for a new worktree, and returns it as the next daemon leaves it. */
    const killedInCopy = async (): Promise<{
      daemon: Awaited<ReturnType<typeof begin>>;
      made: Worktree;
    }> => {
      const first = await begin();
      writeFileSync(hang, '');
      rmSync(halfway, { force: true });
      const { id } = await first.api.call('POST /cases', { body: { title: 'A', type: 'bug' } });
      const making = first.api.call('POST /api/worktrees', { body: { case_id: id } });
      making.catch(() => undefined);
      const pid = await eventually(async () => {
        assert.ok(existsSync(halfway));
        return Number(readFileSync(halfway, 'utf8'));
      });
      assert.equal(
        partial(state).length + partial(join(workspace, '.dossier/worktrees')).length > 0,
        true,
      );
      await first.end('SIGKILL');
      rmSync(hang);
      const daemon = await begin();
      assert.throws(() => process.kill(pid, 0), /ESRCH/);
      const made = await daemon.api.call('GET /api/cases/{id}/worktree', { id });
      assert.equal(made.setup?.status, 'interrupted');
      assert.deepEqual([...partial(state), ...partial(dirname(made.path))], []);
      return { daemon, made };
    };

    const keeping = await killedInCopy();
    assert.deepEqual(await keeping.daemon.api.call('GET /api/worktrees/shared'), []);
    const { id } = await keeping.daemon.api.call('POST /cases', {
      body: { title: 'B', type: 'bug' },
    });
    await keeping.daemon.api.call('POST /api/worktrees', { body: { case_id: id } });
    assert.equal((await keeping.daemon.api.call('GET /api/worktrees/shared')).length, 1);
    await keeping.daemon.end('SIGTERM');

    const copying = await killedInCopy();
    assert.equal(existsSync(join(copying.made.path, 'node_modules')), false);
    const again = await copying.daemon.api.call('POST /api/worktrees/{case_id}/setup', {
      case_id: copying.made.case_id,
    });
    assert.deepEqual(
      again.setup?.commands.map(({ status }) => status),
      ['skipped'],
    );
    const file = join(copying.made.path, 'node_modules/dep/index.js');
    assert.equal(readFileSync(file, 'utf8'), '{"lock":1}\n');
  });
});
