/** What is stricter than the defaults is not forgotten with `.dossier/workspace`, nor while no decision counts. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { createKey } from '../../lib/guard/api-keys/keys.ts';
import { layoutOf } from '../../store/layout.ts';
import type { WaitingValue } from '../../store/records/trust.ts';
import { refreshGlobals, settingsOf } from '../../store/settings/globals.ts';
import { openTrustLog } from '../../store/settings/trust/tightening.ts';
import { dossier } from '../helpers/command.ts';
import { startHere } from '../helpers/daemon-here.ts';
import { until } from '../helpers/eventually.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { withCase } from '../helpers/sessions.ts';
import { STATE_DIR } from '../helpers/state-dir.ts';

describe('a workspace at a path where this machine knew another', () => {
  const keyed = async (t: TestContext) => {
    const test = await withCase(t, undefined, { trust: false });
    const { workspace } = test.running;
    const settings = join(workspace, 'workspace.md');
    writeFileSync(settings, '---\nrequire_key: true\nnetwork: { allow: [example.com] }\n---\n');
    await test.running.call('POST', '/trust', { all: true });
    await createKey(test.running.service, 'mine');
    const asked = (key?: string) =>
      test.running.call<{ code: string }[]>('GET', '/api/diagnostics', undefined, {
        ...(key !== undefined && { authorization: `Bearer ${key}` }),
      });
    await until(async () => (await asked()).status === 401);
    return { test, workspace, settings, asked };
  };

  it('asks for a key as that did, without its id and its setting, until that is confirmed', async (t) => {
    const { test, workspace, settings, asked } = await keyed(t);
    await test.running.stop();
    rmSync(join(workspace, '.dossier/workspace'));
    writeFileSync(settings, '---\n---\n');
    await test.running.restart();
    assert.equal((await asked()).status, 401);
    const { text: again } = await createKey(test.running.service, 'again');
    const { body: told } = await asked(again);
    assert.ok(told.some(({ code }) => code === 'workspace_replaced'));
    const authorization = `Bearer ${again}`;
    const listed = await test.running.call<WaitingValue[]>('GET', '/trust', undefined, {
      authorization,
    });
    const values = listed.body.filter(({ kind }) => kind === 'setting');
    assert.deepEqual(
      values.map(({ key, trusted_value }) => [key, trusted_value]),
      [
        ['network', { allow: ['example.com'] }],
        ['require_key', true],
      ],
    );
    const wish = { values: values.map(({ key, hash }) => ({ key, hash })) };
    await test.running.call('POST', '/trust', wish, { authorization });
    const { status, body } = await asked();
    assert.equal(status, 200);
    assert.ok(!body.some(({ code }) => code === 'workspace_replaced'));
  });

  it('is not made in the empty directory of that one, whose disk may not be mounted, unless init says so', async (t) => {
    const workspace = temporaryDirectory(t);
    const start = async () => (await startHere(t, ['--workspace', workspace])).end();
    await start();
    for (const name of readdirSync(workspace)) rmSync(join(workspace, name), { recursive: true });
    for (const words of [['serve', '--port', '0'], ['up'], ['check'], ['doctor']]) {
      const { code, stdout, stderr } = await dossier(t, ...words, '--workspace', workspace);
      assert.equal(code, 1);
      assert.match(
        words[0] === 'doctor' ? stdout : stderr,
        /is empty, but was a workspace .* mounted.* dossier init --workspace \S+/,
      );
    }
    assert.deepEqual(readdirSync(workspace), []);
    assert.equal((await dossier(t, 'init', '--workspace', workspace)).code, 0);
    const { code } = await dossier(t, 'up', '--workspace', workspace);
    await dossier(t, 'stop', '--workspace', workspace);
    assert.equal(code, 0);
    rmSync(workspace, { recursive: true });
    const again = await dossier(t, 'up', '--workspace', workspace);
    await dossier(t, 'stop', '--workspace', workspace);
    assert.equal(again.code, 0);
  });

  it('is asked nothing more where that one was moved, and went on elsewhere', async (t) => {
    const { test, workspace, settings, asked } = await keyed(t);
    await test.running.stop();
    const moved = `${workspace}-moved`;
    renameSync(workspace, moved);
    openTrustLog(layoutOf(moved, STATE_DIR));
    mkdirSync(workspace);
    writeFileSync(settings, '---\n---\n');
    await test.running.restart();
    assert.equal((await asked()).status, 200);
    rmSync(moved, { recursive: true });
  });

  it('goes on to ask for a key while git tracks what is private, with the setting taken out', async (t) => {
    const { test, settings, asked } = await keyed(t);
    const { store } = test.running.service;
    store.consent.withhold(true);
    writeFileSync(settings, '---\nmax_sessions: 2\n---\n');
    // Before anybody looks again whether git does.
    const refreshed = refreshGlobals(store);
    assert.deepEqual([settingsOf(store).max_sessions, settingsOf(store).require_key], [2, true]);
    await refreshed;
    assert.equal((await asked()).status, 401);
  });
});
