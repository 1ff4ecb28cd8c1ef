import assert from 'node:assert/strict';
import { once } from 'node:events';
import { delimiter, dirname } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { LSPClient } from '@codemirror/lsp-client';
import { WebSocket } from 'ws';
import { atEnd } from '../../../helpers/at-end.ts';
import { startHere } from '../../../helpers/daemon-here.ts';
import { eventually } from '../../../helpers/eventually.ts';
import { makeRepository, temporaryDirectory } from '../../../helpers/repository.ts';
import { scriptedServer } from '../../../helpers/scripted-language-server.ts';

const BIN = fileURLToPath(new URL('../../../../../node_modules/.bin', import.meta.url));

const TEXT = `import { shout } from './shout';
const loud = shout('a');
const wrong: number = 'text';
loud.toUp
`;

interface Item {
  label: string;
}

/** A real client of the language server of a repository, found on a PATH that begins with these. */
const connect = async (
  t: TestContext,
  language: string,
  { files, path }: { files: Record<string, string>; path: string[] },
) => {
  const { root } = makeRepository(t, { files });
  const PATH = [...path, dirname(process.execPath), process.env.PATH].join(delimiter);
  const daemon = await startHere(t, ['--workspace', temporaryDirectory(t), '--repo', root], {
    PATH,
  });
  const socket = new WebSocket(
    `${daemon.url.replace('http', 'ws')}/lsp/${language}/ws?project_id=default`,
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
  return { root, daemon, client };
};

const completed = async (
  url: string,
  language: string,
  at: { path: string; character: number; content: string },
): Promise<Item[]> => {
  const { path, character, content } = at;
  const position = { line: 0, character };
  const answer = await fetch(`${url}/editor/complete`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ language, project_id: 'default', path, position, content }),
  });
  assert.equal(answer.status, 200);
  return ((await answer.json()) as { items: Item[] }).items;
};

describe('TypeScript 7 behind the bridge', () => {
  it('completes, explains, warns and renames for a real client', async (t) => {
    const { root, daemon, client } = await connect(t, 'typescript', {
      path: [BIN],
      files: {
        'tsconfig.json': '{"compilerOptions":{"strict":true,"module":"esnext"}}',
        'shout.ts': 'export const shout = (text: string): string => text;\n',
        'main.ts': 'export {};\n',
      },
    });
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

    const items = await completed(daemon.url, 'typescript', {
      ...{ path: 'main.ts', character: 3, content: '"".toL' },
    });
    assert.ok(items.some(({ label }) => label === 'toLowerCase'));
    client.disconnect();
  });

  it('is how rust-analyzer would be tried, too', async (t) => {
    const { path } = scriptedServer(t, 'good', 'rust-analyzer');
    const { root, daemon, client } = await connect(t, 'rust', {
      path: [dirname(path)],
      files: { 'src/main.rs': 'fn main() {}\n' },
    });
    const uri = pathToFileURL(`${root}/src/main.rs`).href;
    const textDocument = { uri, languageId: 'rust', version: 1, text: 'fn shout() {}' };
    client.notification('textDocument/didOpen', { textDocument });
    const hover = await client.request('textDocument/hover', {
      textDocument: { uri },
      position: { line: 0, character: 4 },
    });
    assert.equal(hover, 'fn shout() {}');
    const unsaved = { path: 'src/main.rs', character: 3, content: 'fn whisper() {}' };
    const items = await completed(daemon.url, 'rust', unsaved);
    assert.deepEqual(
      items.map(({ label }) => label),
      ['fn whisper() {}'],
    );
    client.disconnect();
  });
});
