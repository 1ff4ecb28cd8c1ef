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
import { jsonBody, linkTo, tagOf } from '../lib/http/pagination.ts';
import { Answer, route } from '../lib/http/route.ts';
import { EditorEntry, EditorFile, Encoding, WrittenFile } from '../store/records/editor.ts';
import { LanguageName, SERVING, scope } from './language-server.ts';
import { GIT, READING } from './problems.ts';

const Path = Type.String({
  minLength: 1,
  maxLength: 4096,
  description: 'From the top of the working files, names separated by /',
  examples: ['src/main.ts'],
});
const AtPath = Type.Object({ path: Path });

const ProjectPath = { id: Type.String({ minLength: 1, maxLength: 200 }) };

const content = {
  content: Type.String({ description: 'The whole file, of 4 MiB at most' }),
  encoding: Type.Optional(Encoding),
};

// JSON may write each byte as six.
const MAX_BODY = 6 * 4 * 1_048_576 + 65_536;

const CHANGING = [...READING, 'session_active', 'worktree_busy', 'file_busy'] as const;

const SAFE =
  'A path that leaves the worktree, enters `.git` or leads through a symbolic link is 400; so is one that is no plain file (a link, a pipe, a hard link).';

const fileAt = (at: string, path: string): string =>
  `${at}/editor/files?path=${encodeURIComponent(path)}`;

const Place = Type.Integer({ minimum: 0, maximum: 2_147_483_647 });

export const editorRoutes = [
  route('POST /editor/complete', {
    operationId: 'completeAtCursor',
    summary: 'What could stand at the cursor, from the language server',
    description:
      'The position counts from 0, in UTF-16 units. With `content` the text as the editor has it, saved or not. The items are those of the Language Server Protocol.',
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
    summary: "Make a file in a project's own checkout, or read one",
    description: `With \`content\` it is made (201), and must not be there yet. Without, it is read (200). The id is the project's name in workspace.md; \`default\` is the one that \`--repo\` names. ${SAFE}`,
    params: ProjectPath,
    body: Type.Object({
      path: Path,
      content: Type.Optional(content.content),
      encoding: content.encoding,
    }),
    maxBytes: MAX_BODY,
    response: EditorFile,
    orStatus: 201,
    errors: ['not_found', 'already_exists', 'file_busy', 'no_repository', 'trust_needed', ...GIT],
    handler: async ({ params, body }, service) => {
      const { file, etag, made } = await projectFile(service, params.id, body);
      const location = `/projects/${encodeURIComponent(params.id)}/files?path=${encodeURIComponent(file.path)}`;
      return new Answer<EditorFile>(file, { location }, etag, made ? 201 : 200);
    },
  }),
  route('GET /projects/{id}/files', {
    summary: "Read a file of a project's own checkout as it is on disk",
    description: `As POST without a content. ${SAFE}`,
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
    summary: 'List a directory of the worktree, by name',
    description:
      'Without a path its top. `.git` is left out; what git ignores is marked. `after` is the name of the last one of the page before.',
    query: Type.Object({
      path: Type.Optional(Type.String({ maxLength: 4096 })),
      limit: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1000, description: 'How many at most; default: 1000' }),
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
      const body = jsonBody(entries);
      const at = `/cases/${params.id}/editor/directories`;
      const next = more ? entries.at(-1)?.name : undefined;
      return new Answer<EditorEntry[]>(body, linkTo(at, query, next), tagOf(body));
    },
  }),
  route('POST /cases/{id}/editor/directories', {
    summary: 'Make a directory in the worktree, with those on the way to it',
    description: 'git keeps no directory that is empty.',
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
    summary: 'Read a file of the worktree as it is on disk, or as the base has it',
    description: `As a record, so that a client is told whether it is text. With \`which=base\` as it was in the commit that the worktree began with. The ETag is the start of the file's SHA-256. More than 4 MiB are 413. ${SAFE}`,
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
    summary: 'Make a file in the worktree, with the directories on the way to it',
    description: `It must not be there yet. ${SAFE}`,
    body: Type.Object({ path: Path, ...content }),
    maxBytes: MAX_BODY,
    response: WrittenFile,
    status: 201,
    errors: [...CHANGING, 'already_exists'],
    handler: async ({ params, body }, service) => {
      const { file, etag } = await createEditorFile(service, params.id, body);
      return created(fileAt(`/cases/${params.id}`, file.path), file, etag);
    },
  }),
  route('PUT /cases/{id}/editor/files', {
    summary: 'Write a file of the worktree that is there',
    description: `Its mode and owner stay; what it held is kept in .dossier/undo for some days. Told in the stream of a session that goes on. ${SAFE}`,
    query: AtPath,
    body: Type.Object(content),
    maxBytes: MAX_BODY,
    response: WrittenFile,
    conditional: true,
    errors: [...CHANGING],
    handler: async ({ params, query, body, ifMatch }, service) => {
      const { file, etag } = await writeFile(service, params.id, { ...query, ...body, ifMatch });
      return tagged(file, etag);
    },
  }),
  route('DELETE /cases/{id}/editor/files', {
    summary: 'Delete a file of the worktree, or an empty directory',
    description: `A file is kept in .dossier/undo for some days; one of more than 64 MiB is 413. ${SAFE}`,
    query: AtPath,
    conditional: true,
    errors: [...CHANGING, 'too_large', 'invalid_state'],
    handler: ({ params, query, ifMatch }, service) =>
      deleteFile(service, params.id, { ...query, ifMatch }),
  }),
  route('POST /cases/{id}/editor/rename', {
    operationId: 'renameCaseEditorFile',
    summary: 'Give a file or a directory of the worktree another name',
    description: `Never one that something has: 409. The directories on the way are made. ${SAFE}`,
    body: Type.Object({ from: Path, to: Path }),
    response: Type.Object({ from: Path, path: Path }),
    errors: [...CHANGING, 'already_exists'],
    handler: ({ params, body }, service) => rename(service, params.id, body),
  }),
];
