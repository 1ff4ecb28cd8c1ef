import { Type } from 'typebox';
import { created, tagged, untrustedFile } from '../lib/http/answer.ts';
import type { Upload } from '../lib/http/body.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { abortCheck } from '../lib/work/checks/end.ts';
import { runCheck } from '../lib/work/checks/run.ts';
import {
  attachFile,
  attachProof,
  getMedia,
  getProof,
  listProofs,
} from '../lib/work/proof/attach.ts';
import { changeProof, removeProof, unverifyProof, verifyProof } from '../lib/work/proof/change.ts';
import { textOf, Word } from '../store/records/fields.ts';
import { Proof } from '../store/records/proof.ts';

const MAX_CONTENT = 1_048_576;
// JSON may write a byte with six characters.
const MAX_BODY = 6 * MAX_CONTENT + 65_536;

const Content = Type.String({ maxLength: MAX_CONTENT, description: 'Free text' });
const SessionOf = Type.Optional(
  Type.String({
    format: 'uuid',
    description: 'The session whose work it proves; default: the newest in Work mode',
  }),
);
const MAX_FILE = 26_214_400;

const which = (params: { id: string; pid: string }, ifMatch: string | undefined) => ({
  caseId: params.id,
  id: params.pid,
  ifMatch,
});

type Read = { proof: Proof; etag: string };

const served = ({ proof, etag }: Read) => tagged(proof, etag);

const attached = (caseId: string, { proof, etag }: Read) =>
  created(`/cases/${caseId}/proof/${proof.id}`, proof, etag);

export const proofRoutes = [
  route('GET /cases/{id}/proof', {
    operationId: 'listCaseProofs',
    summary: 'List the proofs of a Work item, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Proof),
    handler: async ({ params, query }, { store }) =>
      page(await listProofs(store, params.id), query, `/cases/${params.id}/proof`),
  }),
  route('POST /cases/{id}/proof', {
    summary: 'Attach a proof',
    body: Type.Object({ type: Word, content: Content, session_id: SessionOf }),
    maxBytes: MAX_BODY,
    response: Proof,
    status: 201,
    errors: ['unreadable_record'],
    handler: async ({ params, body }, service) =>
      attached(params.id, await attachProof(service, params.id, body)),
  }),
  route('POST /cases/{id}/proof/run', {
    operationId: 'runCaseCheck',
    summary: 'Run a check in the worktree, and attach the result as proof',
    description:
      'Runs the command with `sh -c` in the sandbox of sessions, while holding the session lock. Returns the proof with status `running`; the event `proof_updated` reports its end. The proof belongs to the tree of the worktree at the start, and is stale once that changes. It still has to be verified by the operator.',
    body: Type.Object({
      command: textOf('notBlank', { minLength: 1, maxLength: 2000 }),
      type: Type.Optional(
        Type.Union([Word], { description: 'The type of the proof; default: `check`' }),
      ),
    }),
    response: Proof,
    status: 202,
    errors: [
      'session_active',
      'lock_held',
      'worktree_busy',
      'worktree_missing',
      'worktree_tampered',
      'worktree_elsewhere',
      'rebase_in_progress',
      'unreadable_record',
      'unavailable',
      'git_failed',
    ],
    handler: ({ params, body }, service) =>
      runCheck(service, params.id, { command: body.command, type: body.type ?? 'check' }),
  }),
  route('POST /cases/{id}/proof/{pid}/abort', {
    operationId: 'abortCaseCheck',
    summary: 'Abort a running check',
    description:
      'Returns after all its processes have ended. The record stays, with status `aborted`, and proves nothing.',
    response: Proof,
    errors: ['invalid_state', 'unreadable_record'],
    handler: ({ params }, service) => abortCheck(service, params.id, params.pid),
  }),
  route('POST /cases/{id}/proof/files', {
    operationId: 'uploadCaseProof',
    summary: 'Attach a file as proof: a screenshot, a recording, a report',
    description:
      'The body is the file, of any Content-Type and at most 25 MB. It is stored as `proof/<type>-<id>.<extension>`; a verification also covers its content.',
    query: Type.Object({
      type: Word,
      name: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description:
            'A file name such as `shot.png`, whose extension is kept; default: an extension for the Content-Type',
        }),
      ),
      session_id: SessionOf,
    }),
    upload: true,
    body: Type.Unsafe<Upload>({ type: 'string', format: 'binary' }),
    maxBytes: MAX_FILE,
    response: Proof,
    status: 201,
    errors: ['unreadable_record'],
    handler: async ({ params, query: { type, name, session_id }, body }, service) => {
      const file = { type, name, session_id, media: body.type, chunks: body.chunks };
      return attached(params.id, await attachFile(service, params.id, file));
    },
  }),
  route('GET /cases/{id}/proof/{pid}/file', {
    summary: 'Read the file of a proof',
    description:
      'Images, recordings and plain text are displayed by their extension; other files are downloads. Browsers run no code in them. Supports `Range`, so that a browser can seek in a recording.',
    response: Type.String({ format: 'binary' }),
    produces: 'application/octet-stream',
    errors: ['range_not_satisfiable'],
    handler: async ({ params }, { store }) =>
      untrustedFile(await getMedia(store, params.id, params.pid)),
  }),
  route('GET /cases/{id}/proof/{pid}', {
    summary: 'Read a proof',
    response: Proof,
    handler: async ({ params }, { store }) => served(await getProof(store, params.id, params.pid)),
  }),
  route('PATCH /cases/{id}/proof/{pid}', {
    summary: 'Change the type or the content of a proof, which removes its verification',
    body: Type.Object(
      { type: Type.Optional(Word), content: Type.Optional(Content) },
      { minProperties: 1 },
    ),
    maxBytes: MAX_BODY,
    response: Proof,
    conditional: true,
    errors: ['unreadable_record'],
    handler: async ({ params, body, ifMatch }, { store }) =>
      served(await changeProof(store, which(params, ifMatch), body)),
  }),
  route('DELETE /cases/{id}/proof/{pid}', {
    summary: 'Delete a proof; its file is kept in `.dossier/undo/` for some days',
    conditional: true,
    errors: ['unreadable_record'],
    handler: ({ params, ifMatch }, { store }) => removeProof(store, which(params, ifMatch)),
  }),
  route('PUT /cases/{id}/proof/{pid}/verify', {
    operationId: 'verifyCaseProof',
    summary: 'Verify a proof; a VERIFYING Work item is RESOLVED once the gate is satisfied',
    description:
      'The end of a session resolves nothing. If the gate is satisfied by then, the Work item stays VERIFYING until you verify a proof again, tick or waive an item, or set the state. A proof that is verified already does not change otherwise.',
    response: Proof,
    conditional: true,
    errors: ['invalid_state', 'unreadable_record'],
    handler: async ({ params, ifMatch, key }, { store }) =>
      served(await verifyProof(store, which(params, ifMatch), key)),
  }),
  route('DELETE /cases/{id}/proof/{pid}/verify', {
    operationId: 'unverifyCaseProof',
    summary: 'Revoke the verification of a proof; the state of the Work item does not change',
    response: Proof,
    conditional: true,
    errors: ['unreadable_record'],
    handler: async ({ params, ifMatch }, { store }) =>
      served(await unverifyProof(store, which(params, ifMatch))),
  }),
];
