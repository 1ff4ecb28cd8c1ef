import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, type Row, worktree } from './surface.ts';

const inWorktree = async (path: string, body: object): Promise<Answered<unknown>> => {
  const { case_id } = await worktree();
  return call('POST', path, { case_id, ...body });
};

const LANGUAGE_SERVERS: Row[] = [
  {
    method: 'POST',
    path: '/editor/complete',
    does: 'suggests what could stand at the cursor',
    call: () =>
      inWorktree('/editor/complete', {
        ...{ language: 'rust', path: 'src/main.rs', content: 'fn unsaved' },
        position: { line: 0, character: 3 },
      }),
    status: 200,
    check: ({ body }: Answered<{ items: object[] }>) =>
      assert.deepEqual(body.items, [{ label: 'fn unsaved' }]),
  },
  {
    method: 'GET',
    path: '/lsp/:language/ws',
    does: 'is a WebSocket, and says so to whoever asks without an upgrade',
    call: async () => call('GET', `/lsp/rust/ws?case_id=${(await worktree()).case_id}`),
    status: 426,
  },
  {
    method: 'POST',
    path: '/lsp/:language/message',
    does: "returns the server's response to one message",
    call: async () =>
      call('POST', `/lsp/rust/message?case_id=${(await worktree()).case_id}`, {
        ...{ jsonrpc: '2.0', id: 7, method: 'x/echo', params: [1] },
      }),
    status: 200,
    check: ({ body }: Answered<object>) =>
      assert.deepEqual(body, { jsonrpc: '2.0', id: 7, result: [1] }),
  },
];

describeRows('language-servers', LANGUAGE_SERVERS);
