import assert from 'node:assert/strict';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { describe, it } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LSPClient } from '@codemirror/lsp-client';
import { WebSocket } from 'ws';
import { atEnd } from '../../../helpers/at-end.ts';
import { startDaemon } from '../../../helpers/daemon.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';

const BIN = fileURLToPath(new URL('../../../../../node_modules/.bin', import.meta.url));

const TEXT = `import { shout } from '../../language-server/shout';
const loud = shout('a');
const wrong: number = 'text';
loud.toUp
`;

interface Item {
  label: string;
}

describe('TypeScript 7 behind the bridge', () => {
  it('completes, explains, warns and renames for a real client', async (t) => {
    const { root } = makeRepository(t, {
      files: {
        'tsconfig.json': '{"compilerOptions":{"strict":true,"module":"esnext"}}',
        'shout.ts': 'export const shout = (text: string): string => text;\n',
        'main.ts': 'export {};\n',
      },
    });
    const PATH = [BIN, dirname(process.execPath), process.env.PATH].join(delimiter);
    const daemon = await startDaemon(t, ['--workspace', temporaryDirectory(t), '--repo', root], {
      PATH,
    });
    const socket = new WebSocket(
      `${daemon.url.replace('http', 'ws')}/lsp/typescript/ws?project_id=default`,
    );
    atEnd(t, () => socket.terminate());
    await once(socket, 'open');
    const client = new LSPClient({
      rootUri: pathToFileURL(root).href,
      timeout: 60_000,
    });
    const hearers = new Map<(text: string) => void, (data: Buffer) => void>();
    client.connect({
      send: (message) => socket.send(message),
      subscribe: (hear) => {
        const listener = (data: Buffer): void => hear(data.toString());
        hearers.set(hear, listener);
        socket.on('message', listener);
      },
      unsubscribe: (hear) => socket.off('message', hearers.get(hear) ?? hear),
    });
    await client.initializing;
    assert.equal(client.serverCapabilities?.hoverProvider, true);
    const uri = pathToFileURL(`${root}/main.ts`).href;
    client.notification('textDocument/didOpen', {
      textDocument: { uri, languageId: 'typescript', version: 1, text: TEXT },
    });
    const textDocument = { uri };
    const ask = <T>(method: string, line: number, character: number, more = {}) =>
      client.request<object, T>(method, { textDocument, position: { line, character }, ...more });

    await eventually(async () => {
      const found = await ask<{ items: Item[] }>('textDocument/completion', 3, 9);
      assert.ok(found.items.some(({ label }) => label === 'toUpperCase'));
    });
    const hover = await ask<object>('textDocument/hover', 1, 15);
    assert.match(JSON.stringify(hover), /\(text: string\) => string/);
    const warned = await ask<object>('textDocument/diagnostic', 0, 0);
    assert.match(JSON.stringify(warned), /not assignable to type 'number'/);
    const edit = await ask<object>('textDocument/rename', 1, 15, { newName: 'whisper' });
    assert.match(JSON.stringify(edit), /shout as whisper/);

    const completed = await fetch(`${daemon.url}/editor/complete`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        ...{ language: 'typescript', project_id: 'default', path: 'main.ts' },
        ...{ position: { line: 0, character: 3 }, content: '"".toL' },
      }),
    });
    const { items } = (await completed.json()) as { items: Item[] };
    assert.equal(completed.status, 200);
    assert.ok(items.some(({ label }) => label === 'toLowerCase'));
    client.disconnect();
  });

  it('is how rust-analyzer would be tried, too', (t) => {
    t.skip(
      'rust-analyzer cannot be had here: a machine has only the proxy of rustup, and its component is out of reach',
    );
  });
});
