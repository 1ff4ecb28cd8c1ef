/** What programs beside sessions reach of the network is told, too: refused here, which needs no network. */
import assert from 'node:assert/strict';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import type { Tried } from '../../store/records/provider.ts';
import type { Worktree } from '../../store/records/worktree.ts';
import { eventually } from '../helpers/eventually.ts';
import { missing } from '../helpers/inside.ts';
import { temporaryDirectory } from '../helpers/repository.ts';
import { scriptedServer } from '../helpers/scripted-language-server.ts';
import { startForTest } from '../helpers/service.ts';
import { withCase } from '../helpers/sessions.ts';

const ASK = 'curl -s -o /dev/null http://metadata.google.internal/';
const REFUSED = {
  ...{ host: 'metadata.google.internal', port: 80, allowed: false },
  reason: 'metadata.google.internal is a cloud metadata service, which runs may not reach',
};

const program = (t: TestContext, then: string): string => {
  const path = join(temporaryDirectory(t), 'asks');
  writeFileSync(path, `#!/bin/sh\n${ASK} </dev/null >/dev/null 2>&1\n${then}\n`);
  chmodSync(path, 0o755);
  return path;
};

describe('what is asked of the network', { skip: missing }, () => {
  it('by a set-up is in its record, once for each goal', async (t) => {
    const setup = JSON.stringify([`${ASK}; :`, `${ASK}; :`]);
    const { call, item } = await withCase(t, undefined, {
      settings: `worktrees: { setup: ${setup} }`,
    });
    const { body } = await call<Worktree>('POST', '/api/worktrees', { case_id: item.id });
    assert.deepEqual([body.setup?.status, body.setup?.network], ['completed', [REFUSED]]);
    const { body: kept } = await call<Worktree>('POST', `/api/worktrees/${item.id}/setup`);
    assert.deepEqual(kept.setup?.network, [REFUSED]);
  });

  it('by a session’s set-up is in its stream', async (t) => {
    const settings = `worktrees: { setup: ${JSON.stringify([`${ASK}; :`])} }`;
    const test = await withCase(t, undefined, { settings });
    const { id } = await test.planned();
    const { at: _, ...data } = (await test.untilEvent(id, 'network')).data;
    assert.deepEqual(data, REFUSED);
  });

  it('by a provider that is tried out is in the answer', async (t) => {
    const path = program(t, 'echo hello');
    const plan = `[${path}]`;
    const settings = `providers:\n  mine: { kind: command, plan: ${plan}, work: ${plan}, output: text }`;
    const { call } = await startForTest(t, { settings });
    const { body } = await call<Tried>('POST', '/providers/mine/run', { prompt: 'Hello.' });
    assert.deepEqual([body.outcome, body.network], ['completed', [REFUSED]]);
  });

  it('by a language server is in the log', async (t) => {
    const path = program(t, `exec ${scriptedServer(t).path} "$@"`);
    const settings = `language_servers: { rust: { command: ${path} } }`;
    const { call, logged } = await startForTest(t, { settings });
    const message = { id: 1, method: 'x/echo' };
    await call('POST', '/lsp/rust/message', { project_id: 'default', message });
    await eventually(() => {
      const told = logged.find(
        (one) => one.message === 'network connection of a language server refused',
      );
      const { root: _, ...details } = { root: '', ...told?.details };
      assert.deepEqual(details, { language: 'rust', ...REFUSED });
    });
  });
});
