/** `dossier mcp`, driven by a client of the protocol's own package and by hand. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { describe, it, type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { connect } from '../../../../lib/client/client.ts';
import { atEnd, killAtEnd } from '../../../helpers/at-end.ts';
import { dossier } from '../../../helpers/command.ts';
import { DOSSIER, startDaemon } from '../../../helpers/daemon.ts';
import { temporaryDirectory } from '../../../helpers/repository.ts';

const variables = (): Record<string, string> =>
  Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, value]],
    ),
  );

const client = async (t: TestContext, workspace: string): Promise<Client> => {
  const made = new Client({ name: 'test', version: '1' });
  const args = [DOSSIER, 'mcp', '--workspace', workspace];
  await made.connect(
    new StdioClientTransport({ command: process.execPath, args, env: variables() }),
  );
  atEnd(t, () => made.close());
  return made;
};

describe('dossier mcp', () => {
  it('serves a client over standard input and output, and over a restart of the daemon', async (t) => {
    const workspace = temporaryDirectory(t);
    const args = ['--workspace', workspace];
    const daemon = await startDaemon(t, args);
    const body = { title: 'Read by MCP', type: 'chore' };
    const { id } = await connect({ url: daemon.url }).call('POST /cases', { body });
    const mcp = await client(t, workspace);
    const { tools } = await mcp.listTools();
    assert.ok(tools.every(({ annotations }) => annotations?.readOnlyHint === true));
    const listed = async () => JSON.stringify(await mcp.callTool({ name: 'list_work_items' }));
    assert.ok((await listed()).includes(id));
    await daemon.end('SIGTERM');
    await assert.rejects(listed(), /No daemon is running/);
    await startDaemon(t, args);
    assert.ok((await listed()).includes(id));
  });

  it('answers what is no message with an error, and ends with its input', async (t) => {
    const workspace = temporaryDirectory(t);
    await startDaemon(t, ['--workspace', workspace]);
    const child = spawn(process.execPath, [DOSSIER, 'mcp', '--workspace', workspace]);
    killAtEnd(t, child);
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const next = async () => JSON.parse((await lines.next()).value ?? 'null');
    child.stdin.write('no json\n');
    assert.deepEqual((await next()).error.code, -32_700);
    for (const none of ['[{"jsonrpc":"2.0","id":0,"method":"ping"}]', '[]', '{}']) {
      child.stdin.write(`${none}\n`);
      const { id, error } = await next();
      assert.deepEqual([id, error.code], [null, -32_600], none);
    }
    child.stdin.write('{"id":1}\n');
    assert.deepEqual((await next()).id, 1);
    child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n\n');
    child.stdin.end('{"jsonrpc":"2.0","id":"two","method":"ping"}\n');
    assert.deepEqual(await next(), { jsonrpc: '2.0', id: 'two', result: {} });
    assert.deepEqual(await once(child, 'exit'), [0, null]);
  });

  it('needs a daemon to begin with', async (t) => {
    const ended = await dossier(t, 'mcp', '--workspace', temporaryDirectory(t));
    assert.equal(ended.code, 3);
    assert.match(ended.stderr, /There is no workspace in/);
  });
});
