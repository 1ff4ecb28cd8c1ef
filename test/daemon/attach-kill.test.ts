/** A real daemon and a real command at a terminal: each is killed while a terminal is attached. */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { connect } from '../../lib/client/client.ts';
import { attachable } from '../helpers/attachable.ts';
import { startDaemon } from '../helpers/daemon.ts';
import { eventually } from '../helpers/eventually.ts';
import { processesNaming } from '../helpers/processes.ts';
import { makeRepository, temporaryDirectory } from '../helpers/repository.ts';
import { atTerminal, noTerminal } from '../helpers/terminal.ts';

describe('dossier attach', { skip: noTerminal }, () => {
  it('leaves nothing running when it, its terminal or the daemon is killed', async (t) => {
    const { settings, env, home } = attachable(t);
    const workspace = temporaryDirectory(t);
    writeFileSync(join(workspace, 'workspace.md'), `---\n${settings}\n---\n`);
    const { root } = makeRepository(t, { files: { 'a.txt': 'one\n' } });
    const start = () => startDaemon(t, ['--workspace', workspace, '--repo', root], env);
    const daemon = await start();
    const api = connect({ url: daemon.url });
    const body = { title: 'Attach to me', type: 'bug', description: 'Attach.' };
    const { id } = await api.call('POST /cases', { body });
    const made = { type: 'implementing' };
    const { id: sid } = await api.call('POST /cases/{id}/sessions', { id, body: made });
    const at = { id, sid };
    const session = () => api.call('GET /cases/{id}/sessions/{sid}', at);
    await eventually(async () => assert.equal((await session()).status, 'plan_ready'));
    const inside = () => processesNaming(join(home, 'bin/codex'));
    const attach = (kill: () => unknown) =>
      atTerminal(
        t,
        ['attach', 'attach', '--workspace', workspace],
        [[/ready/, () => Promise.resolve(kill()).then(() => '')]],
        { env },
      );

    const command = () => processesNaming(`dossier.js\0attach\0attach\0--workspace\0${workspace}`);
    await attach(() => {
      assert.ok(inside().length > 0);
      for (const pid of command()) process.kill(pid, 'SIGKILL');
    });
    await eventually(async () => {
      assert.deepEqual(inside(), []);
      assert.ok((await session()).attached?.at(-1)?.ended_at);
    });

    const { text } = await attach(() => daemon.end('SIGKILL'));
    assert.match(text, /No connection to the daemon of/);
    assert.deepEqual(inside(), []);
    const again = connect({ url: (await start()).url });
    const after = await again.call('GET /cases/{id}/sessions/{sid}', at);
    assert.equal(after.status, 'plan_ready');
    assert.equal(after.attached?.length, 2);
    assert.ok(after.attached?.every(({ ended_at }) => ended_at !== null));
  });
});
