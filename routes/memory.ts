import { Type } from 'typebox';
import { created, markdown, tagged } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import {
  getGlobal,
  getMemory,
  getSnapshot,
  listGlobal,
  listMemory,
  listSnapshots,
  putMemory,
  takeSnapshot,
  writeGlobal,
} from '../lib/work/memory/memory.ts';
import { Sha256 } from '../store/records/fields.ts';
import { Snapshot, SnapshotEntry } from '../store/records/snapshot.ts';
import { GIVES_MARKDOWN, TAKES_MARKDOWN } from './fields.ts';

const MemoryFile = Type.Object(
  {
    filename: Type.String(),
    size: Type.Integer({ description: 'The size in bytes' }),
    sha256: Sha256,
  },
  { $id: 'MemoryFile' },
);

const MAX_CONTENT = 1_048_576;

const GlobalWrite = Type.Object({
  content: Type.String({ maxLength: MAX_CONTENT, description: 'Markdown' }),
  mode: Type.Enum(['replace', 'append'], {
    description: 'Appended text starts on a new line',
  }),
  case_id: Type.Optional(
    Type.String({
      format: 'uuid',
      description: 'The Work item whose session lock must be free. Default: all Work items',
    }),
  ),
  token: Type.Optional(
    Type.String({
      description: 'The token of a session lock that you hold, which does not block the write',
    }),
  ),
});

export const memoryRoutes = [
  route('GET /cases/{id}/memory', {
    summary: 'List the memory files of a Work item, by name',
    response: Type.Array(MemoryFile),
    handler: ({ params }, { store }) => listMemory(store, params.id),
  }),
  route('GET /cases/{id}/memory/{filename}', {
    summary: 'Read a memory file as it is on disk',
    params: { filename: Type.String() },
    ...GIVES_MARKDOWN,
    handler: ({ params }, { store }) => markdown(getMemory(store, params.id, params.filename)),
  }),
  route('PUT /cases/{id}/memory/{filename}', {
    summary: 'Write a memory file',
    description: 'Creates the file if needed. New sessions of the Work item receive its content.',
    params: { filename: Type.String() },
    ...TAKES_MARKDOWN,
    ...GIVES_MARKDOWN,
    conditional: true,
    errors: ['unreadable_record'],
    handler: async ({ params, body, ifMatch }, { store }) =>
      markdown(
        await putMemory(store, params.id, { filename: params.filename, content: body }, ifMatch),
      ),
  }),
  route('GET /api/global-memory', {
    summary: 'List the files of the global memory, by name',
    description: 'Every new session receives their content.',
    response: Type.Array(MemoryFile),
    handler: (_input, { store }) => listGlobal(store),
  }),
  route('GET /api/global-memory/{filename}', {
    summary: 'Read a file of the global memory as it is on disk',
    params: { filename: Type.String() },
    ...GIVES_MARKDOWN,
    errors: ['not_found'],
    handler: ({ params }, { store }) => markdown(getGlobal(store, params.filename)),
  }),
  route('POST /api/global-memory/write', {
    // Every later session receives it, so sessions may not write it.
    summary: 'Replace memory/global.md, or append to it',
    description:
      'Refused while a session or an operator holds the session lock of the Work item, or without `case_id` of any Work item. The file may have at most 1 MiB. Returns its size and hash.',
    body: GlobalWrite,
    maxBytes: 6 * MAX_CONTENT + 65_536,
    response: MemoryFile,
    conditional: true,
    errors: ['not_found', 'lock_held', 'file_busy'],
    handler: async ({ body, ifMatch }, { store }) => {
      const file = await writeGlobal(store, body, ifMatch);
      return tagged(file, file.sha256.slice(0, 32));
    },
  }),
  route('POST /api/global-memory/snapshot', {
    summary: 'Create a snapshot of the global memory, byte for byte',
    description: 'Writes one immutable Markdown file below memory/snapshots/, of at most 16 MiB.',
    response: Snapshot,
    status: 201,
    errors: ['too_large'],
    handler: async (_input, { store }) => {
      const { snapshot, etag } = await takeSnapshot(store);
      return created(`/api/global-memory/snapshots/${snapshot.id}`, snapshot, etag);
    },
  }),
  route('GET /api/global-memory/snapshots', {
    summary: 'List the snapshots of the global memory, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(SnapshotEntry),
    handler: ({ query }, { store }) =>
      page(listSnapshots(store), query, '/api/global-memory/snapshots'),
  }),
  route('GET /api/global-memory/snapshots/{id}', {
    summary: 'Read a snapshot of the global memory, with its files',
    response: Snapshot,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => {
      const { snapshot, etag } = getSnapshot(store, params.id);
      return tagged(snapshot, etag);
    },
  }),
];
