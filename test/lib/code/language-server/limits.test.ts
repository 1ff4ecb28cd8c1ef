import assert from 'node:assert/strict';
import { describe, it, type TestContext } from 'node:test';
import type { ServerLimits } from '../../../../lib/code/language-server/running.ts';
import { until } from '../../../helpers/eventually.ts';
import { processesNaming } from '../../../helpers/processes.ts';
import { scriptedServer } from '../../../helpers/scripted-language-server.ts';
import { startForTest } from '../../../helpers/service.ts';
import { assertProblem } from '../../../helpers/work-item.ts';

const start = async (t: TestContext, limits: Partial<ServerLimits>, mode?: string) => {
  const { path, setting } = scriptedServer(t, mode);
  const { call, service } = await startForTest(t, { settings: setting });
  Object.assign(service.languageServers.limits, limits);
  const ask = (method: string) =>
    call('POST', '/lsp/rust/message', { project_id: 'default', message: { id: 1, method } });
  const complete = () =>
    call<{ items: object[] }>('POST', '/editor/complete', {
      ...{ language: 'rust', project_id: 'default', path: 'a.rs', content: 'text' },
      position: { line: 0, character: 0 },
    });
  return { ask, complete, path };
};

describe('a language server', () => {
  it('that never initialises is ended, and told as a timeout', async (t) => {
    const { ask, path } = await start(t, { ready_ms: 300 }, 'mute');
    assertProblem(await ask('x/echo'), 504, 'tool_timeout');
    await until(() => processesNaming(path).length === 0);
  });

  it('that does not answer is told as a timeout', async (t) => {
    const { ask } = await start(t, { answer_ms: 300 });
    assertProblem(await ask('x/silence'), 504, 'tool_timeout');
  });

  it('that still loads the project is asked again until it has something to say', async (t) => {
    const { complete } = await start(t, {}, 'loading');
    assert.deepEqual((await complete()).body.items, [{ label: 'text' }]);
  });

  it('that nobody uses any more is ended', async (t) => {
    const { ask, path } = await start(t, { idle_ms: 50 });
    await ask('x/seen');
    await until(() => processesNaming(path).length === 0);
  });

  it('that ends while it is asked is told as unavailable', async (t) => {
    const { ask } = await start(t, {});
    assertProblem(await ask('x/crash'), 503, 'unavailable');
  });
});
