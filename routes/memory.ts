import { Type } from 'typebox';
import { markdown } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { getMemory, listMemory, putMemory } from '../lib/memory/case-memory.ts';
import { Id, Sha256 } from '../store/records/id.ts';
import { CasePath } from './cases.ts';

const FilePath = Type.Object({ id: Id, filename: Type.String() });

const MemoryFile = Type.Object(
  { filename: Type.String(), size: Type.Integer({ description: 'In bytes' }), sha256: Sha256 },
  { $id: 'MemoryFile' },
);

export const memoryRoutes = [
  route({
    method: 'GET',
    path: '/cases/{id}/memory',
    summary: 'List the memory files of a Work item, by name',
    params: CasePath,
    response: Type.Array(MemoryFile),
    errors: ['not_found'],
    handler: ({ params }, service) => listMemory(service, params.id),
  }),
  route({
    method: 'GET',
    path: '/cases/{id}/memory/{filename}',
    summary: 'Read a memory file as it is on disk',
    params: FilePath,
    response: Type.String(),
    produces: 'text/markdown',
    errors: ['not_found'],
    handler: ({ params }, service) => {
      const { content, sha256 } = getMemory(service, params.id, params.filename);
      return markdown(content, sha256.slice(0, 32));
    },
  }),
  route({
    method: 'PUT',
    path: '/cases/{id}/memory/{filename}',
    summary: 'Write a memory file',
    params: FilePath,
    body: Type.String(),
    consumes: 'text/markdown',
    response: Type.String(),
    produces: 'text/markdown',
    conditional: true,
    errors: ['not_found', 'precondition_failed', 'file_busy'],
    handler: async ({ params, body, ifMatch }, service) => {
      const { content, sha256 } = await putMemory(
        service,
        params.id,
        { filename: params.filename, content: body },
        ifMatch,
      );
      return markdown(content, sha256.slice(0, 32));
    },
  }),
];
