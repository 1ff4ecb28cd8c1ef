/** A real process, killed while an agent writes a planning file, and started again on the same files. */

import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { alive } from '../helpers/processes.ts';
import { gitIn, makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { withAgent } from '../helpers/sessions.ts';
import { clientOf } from '../helpers/stream.ts';

const killedInPlanning = async (t: TestContext) => {
  const { settings, env = {}, files = {} } = withAgent(t, 'scribble-on');
  const repository = await makeRepository(t, { files });
  const workspace = temporaryDirectory(t);
  mkdirSync(join(env.HOME ?? '', '.test-agent'));
  writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
  const args = ['--workspace', workspace, '--repo', repository.root];
  const daemon = await startDaemon(t, args, env);
  const client = clientOf(daemon.url);
  const { id, path } = await client.post('/cases', { title: 'Think', type: 'chore' });
  const answer = fetch(`${daemon.url}/api/cases/${id}/planning/hypotheses-file`, {
    method: 'POST',
  }).catch(() => undefined);
  const tree = join(workspace, '.dossier/worktrees', basename(String(path)));
  // The last thing that the agent does.
  await eventually(() =>
    assert.match(readFileSync(join(tree, '.git'), 'utf8') && headOf(tree), /elsewhere/),
  );
  const baselines = join(workspace, '.dossier/baselines');
  const record = readFileSync(join(baselines, `${id}.json`), 'utf8');
  await daemon.end('SIGKILL');
  await answer;
  return {
    ...{ id, workspace, tree, baselines },
    dir: join(workspace, String(path)),
    marker: (JSON.parse(record) as { session_id: string }).session_id,
    again: async () => clientOf((await startDaemon(t, args, env)).url),
  };
};

const headOf = (tree: string): string => gitIn(tree)('symbolic-ref', 'HEAD');

describe('a daemon that is killed while an agent plans', () => {
  it('ends it at the next start, undoes what it changed, and frees the lock', async (t) => {
    const it = await killedInPlanning(t);
    assert.equal(existsSync(join(it.dir, 'sessions/lock.md')), true);
    assert.equal(await alive(it.marker), true);
    const client = await it.again();
    assert.equal(await alive(it.marker), false);
    assert.equal(readFileSync(join(it.tree, 'a.txt'), 'utf8'), 'one\n');
    assert.equal(gitIn(it.tree)('status', '--porcelain'), '');
    assert.equal(gitIn(it.tree)('log', '--format=%s').trim(), 'start');
    assert.doesNotMatch(headOf(it.tree), /elsewhere/);
    assert.deepEqual(readdirSync(it.baselines), []);
    assert.equal(existsSync(join(it.dir, 'memory/hypotheses.md')), false);
    assert.equal((await client.get(`/api/worktrees/${it.id}/lock`)).locked, false);
  });
});
