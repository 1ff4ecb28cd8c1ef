import { Type } from 'typebox';
import {
  createEditorFile,
  deleteFile,
  listEditorDirectory,
  makeEditorDirectory,
  readBaseFile,
  readFile,
  rename,
  writeFile,
} from '../lib/code/editor/files.ts';
import { projectFile } from '../lib/code/editor/project-files.ts';
import { complete } from '../lib/code/language-server/complete.ts';
import { created, tagged } from '../lib/http/answer.ts';
import { pageAnswer } from '../lib/http/pagination.ts';
import { Answer, route } from '../lib/http/route.ts';
import { EditorEntry, EditorFile, Encoding, WrittenFile } from '../store/records/editor.ts';
import { LanguageName, SERVING, scope } from './language-server.ts';
import { GIT, READING } from './problems.ts';

const Path = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'Relative to the top of the working tree, separated by /',
  examples: ['src/main.ts'],
});
const AtPath = Type.Object({ path: Path });

const ProjectPath = { id: Type.String({ minLength: 1, maxLength: 200 }) };

const content = {
  content: Type.String({ description: 'The whole file, at most 4 MiB' }),
  encoding: Type.Optional(Encoding),
};

// JSON may escape each byte as six characters.
const MAX_BODY = 6 * 4 * 1_048_576 + 65_536;

const CHANGING = [...READING, 'session_active', 'worktree_busy'] as const;

const SAFE =
  'Returns 400 for a path that leaves the worktree, enters `.git` or contains a symbolic link, and for anything but a regular file (a link, a pipe, a hard link).';

const Place = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

export const editorRoutes = [
  route('POST /editor/complete', {
    operationId: 'completeAtCursor',
    summary: 'Complete code at the cursor, with the language server',
    description:
      'The position is zero-based, in UTF-16 code units. `content` is the unsaved text of the editor. Returns items of the Language Server Protocol.',
    body: Type.Object({
      language: LanguageName,
      ...scope,
      path: Type.String({ minLength: 1, maxLength: 4096, examples: ['src/main.ts'] }),
      position: Type.Object({ line: Place, character: Place }),
      content: Type.Optional(Type.String({ maxLength: 4 * 1_048_576 })),
    }),
    maxBytes: 25 * 1_048_576,
    response: Type.Object({ items: Type.Array(Type.Record(Type.String(), Type.Unknown())) }),
    errors: [...SERVING, 'file_busy'],
    handler: ({ body }, service) => complete(service, body),
  }),
  route('POST /projects/{id}/files', {
    operationId: 'createOrReadProjectFile',
    summary: "Create or read a file in a project's own checkout",
    description: `With \`content\` the file is created (201) and must not exist; without, it is read (200). The id is the project's name in workspace.md; \`default\` is the project of \`--repo\`. ${SAFE}`,
    params: ProjectPath,
    body: Type.Object({
      path: Path,
      content: Type.Optional(content.content),
      encoding: content.encoding,
    }),
    maxBytes: MAX_BODY,
    response: EditorFile,
    orStatus: 201,
    reads: ({ content: text }) => text === undefined,
    errors: ['not_found', 'already_exists', 'file_busy', 'no_repository', 'trust_needed', ...GIT],
    handler: async ({ params, body }, service) => {
      const { file, etag, made } = await projectFile(service, params.id, body);
      const location = `/projects/${encodeURIComponent(params.id)}/files?path=${encodeURIComponent(file.path)}`;
      return new Answer<EditorFile>(file, { location }, etag, made ? 201 : 200);
    },
  }),
  route('GET /projects/{id}/files', {
    summary: "Read a file in a project's own checkout, as it is on disk",
    description: `The same as POST without \`content\`. ${SAFE}`,
    params: ProjectPath,
    query: AtPath,
    response: EditorFile,
    errors: ['not_found', 'too_large', 'file_busy', 'no_repository', 'trust_needed', ...GIT],
    handler: async ({ params, query }, service) => {
      const { file, etag } = await projectFile(service, params.id, query);
      return tagged(file, etag);
    },
  }),
  route('GET /cases/{id}/editor/directories', {
    summary: 'List a directory of the worktree, sorted by name',
    description:
      'Default: the top directory. `.git` is left out; entries that git ignores are marked. `after` is the last name of the previous page.',
    query: Type.Object({
      path: Type.Optional(Type.String({ maxLength: 4096 })),
      limit: Type.Optional(
        Type.Integer({
          minimum: 1,
          maximum: 1000,
          description: 'The largest number of entries; default: 1000',
        }),
      ),
      after: Type.Optional(Type.String({ maxLength: 1024 })),
    }),
    response: Type.Array(EditorEntry),
    errors: [...READING, 'file_busy', ...GIT],
    handler: async ({ params, query }, service) => {
      const { path = '', limit = 1000, after } = query;
      const { entries, more } = await listEditorDirectory(service, params.id, {
        path,
        limit,
        after,
      });
      const next = more ? entries.at(-1)?.name : undefined;
      return pageAnswer(entries, query, { path: `/cases/${params.id}/editor/directories`, next });
    },
  }),
  route('POST /cases/{id}/editor/directories', {
    summary: 'Create a directory in the worktree, with its parents',
    description: 'git does not track empty directories.',
    body: AtPath,
    response: AtPath,
    status: 201,
    errors: [...CHANGING, 'already_exists'],
    handler: async ({ params, body }, service) => {
      const made = await makeEditorDirectory(service, params.id, body.path);
      const at = `/cases/${params.id}/editor/directories?path=${encodeURIComponent(made.path)}`;
      return created(at, made);
    },
  }),
  route('GET /cases/{id}/editor/files', {
    summary: 'Read a file of the worktree, on disk or in its base commit',
    description: `Returns a record that says whether the file is text. With \`which=base\`, the file in the commit from which the worktree was created. The ETag is the beginning of the file's SHA-256. Returns 413 for a file of more than 4 MiB. ${SAFE}`,
    query: Type.Object({ path: Path, which: Type.Optional(Type.Enum(['current', 'base'])) }),
    response: EditorFile,
    errors: [...READING, 'too_large', 'file_busy', ...GIT],
    handler: async ({ params, query: { path, which } }, service) => {
      const { file, etag } = await (which === 'base'
        ? readBaseFile(service, params.id, path)
        : readFile(service.store, params.id, path));
      return tagged(file, etag);
    },
  }),
  route('POST /cases/{id}/editor/files', {
    summary: 'Create a file in the worktree, with its parent directories',
    description: `The file must not exist. ${SAFE}`,
    body: Type.Object({ path: Path, ...content }),
    maxBytes: MAX_BODY,
    response: WrittenFile,
    status: 201,
    errors: [...CHANGING, 'already_exists'],
    handler: async ({ params, body }, service) => {
      const { file, etag } = await createEditorFile(service, params.id, body);
      const at = `/cases/${params.id}/editor/files?path=${encodeURIComponent(file.path)}`;
      return created(at, file, etag);
    },
  }),
  route('PUT /cases/{id}/editor/files', {
    summary: 'Replace the content of a file in the worktree',
    description: `Keeps its mode and owner. The old content is kept in .dossier/undo for some days. An active session gets an event. ${SAFE}`,
    query: AtPath,
    body: Type.Object(content),
    maxBytes: MAX_BODY,
    response: WrittenFile,
    conditional: true,
    errors: CHANGING,
    handler: async ({ params, query, body, ifMatch }, service) => {
      const { file, etag } = await writeFile(service, params.id, { ...query, ...body, ifMatch });
      return tagged(file, etag);
    },
  }),
  route('DELETE /cases/{id}/editor/files', {
    summary: 'Delete a file of the worktree, or an empty directory',
    description: `The file is kept in .dossier/undo for some days. Returns 413 for a file of more than 64 MiB. ${SAFE}`,
    query: AtPath,
    conditional: true,
    errors: [...CHANGING, 'too_large', 'invalid_state'],
    handler: ({ params, query, ifMatch }, service) =>
      deleteFile(service, params.id, { ...query, ifMatch }),
  }),
  route('POST /cases/{id}/editor/rename', {
    operationId: 'renameCaseEditorFile',
    summary: 'Rename a file or a directory of the worktree',
    description: `Parent directories are created. Returns 409 if the target exists. ${SAFE}`,
    body: Type.Object({ from: Path, to: Path }),
    response: Type.Object({ from: Path, path: Path }),
    errors: [...CHANGING, 'already_exists'],
    handler: ({ params, body }, service) => rename(service, params.id, body),
  }),
];
