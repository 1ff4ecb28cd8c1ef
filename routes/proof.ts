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
import {
  addToChecklist,
  dropChecklist,
  getGate,
  listChecklist,
  tickChecklist,
  waiveChecklist,
} from '../lib/work/proof/checklist.ts';
import { Word } from '../store/records/id.ts';
import { ChecklistEntry, ChecklistItem, Gate, Proof } from '../store/records/proof.ts';

const { description, type, required, command } = ChecklistEntry.properties;
const MAX_CONTENT = 1_048_576;

const Content = Type.String({ maxLength: MAX_CONTENT, description: 'Free text' });
const SessionOf = Type.Optional(
  Type.String({
    format: 'uuid',
    description: 'The session whose work it proves; default: the newest that worked',
  }),
);
const MAX_FILE = 26_214_400;
const CHANGE_ERRORS = ['unreadable_record', 'file_busy'] as const;

const which = (params: { id: string; pid: string }, ifMatch: string | undefined) => ({
  ...{ caseId: params.id, id: params.pid, ifMatch },
});

const inList = (params: { id: string; item_id: string }, ifMatch: string | undefined) => ({
  ...{ caseId: params.id, id: params.item_id, ifMatch },
});

const served = ({ proof, etag }: { proof: Proof; etag: string }) => tagged(proof, etag);

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
    body: Type.Object({
      type: Word,
      content: Content,
      session_id: SessionOf,
    }),
    maxBytes: 2 * MAX_CONTENT,
    response: Proof,
    status: 201,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ params, body }, service) => {
      const { proof, etag } = await attachProof(service, params.id, body);
      return created(`/cases/${params.id}/proof/${proof.id}`, proof, etag);
    },
  }),
  route('POST /cases/{id}/proof/run', {
    operationId: 'runCaseCheck',
    summary: 'Run a check in the worktree, and attach what it came to as proof',
    description:
      'It runs this very command, with `sh -c`, in the sandbox of the sessions, and holds the session lock meanwhile. The answer is its record, which says `running`; `proof_updated` tells its end. The proof is of the tree that the worktree held as it began: it is stale once that is another. It is not verified: the operator does that.',
    body: Type.Object({
      command: Type.String({ minLength: 1, maxLength: 2000, pattern: '\\S' }),
      type: Type.Optional(Type.Union([Word], { description: 'Of the proof; default: `check`' })),
    }),
    response: Proof,
    status: 202,
    errors: [
      ...(['session_active', 'lock_held', 'worktree_busy', 'worktree_missing'] as const),
      ...(['worktree_tampered', 'worktree_elsewhere', 'rebase_in_progress'] as const),
      ...(['unreadable_record', 'file_busy', 'unavailable', 'git_failed'] as const),
    ],
    handler: ({ params, body }, service) =>
      runCheck(service, params.id, { command: body.command, type: body.type ?? 'check' }),
  }),
  route('POST /cases/{id}/proof/{pid}/abort', {
    operationId: 'abortCaseCheck',
    summary: 'Abort a check that runs',
    description:
      'No process of it is alive once this answers. Its record stays as `aborted`, and proves nothing.',
    response: Proof,
    errors: ['invalid_state', 'unreadable_record', 'file_busy'],
    handler: ({ params }, service) => abortCheck(service, params.id, params.pid),
  }),
  route('POST /cases/{id}/proof/files', {
    operationId: 'uploadCaseProof',
    summary: 'Attach a file as proof: a screenshot, a recording, a report',
    description:
      'The body is the file, of any Content-Type and 25 MB at most. It is kept beside its record as `proof/<type>-<id>.<ending>`; a verification binds to its bytes, too.',
    query: Type.Object({
      type: Word,
      name: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 255,
          description: 'Such as `shot.png`: its ending is kept; default: one of the Content-Type',
        }),
      ),
      session_id: SessionOf,
    }),
    upload: true,
    body: Type.Unsafe<Upload>({ type: 'string', format: 'binary' }),
    maxBytes: MAX_FILE,
    response: Proof,
    status: 201,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ params, query: { type, name, session_id }, body }, service) => {
      const file = { type, name, session_id, media: body.type, chunks: body.chunks };
      const { proof, etag } = await attachFile(service, params.id, file);
      return created(`/cases/${params.id}/proof/${proof.id}`, proof, etag);
    },
  }),
  route('GET /cases/{id}/proof/{pid}/file', {
    summary: 'Show the file that a proof is about',
    description:
      'Images, recordings and plain text are shown as what their ending says, all else is handed over as a file: nothing in it is run. Some of its bytes may be asked for by `Range`, so that a browser can seek in a recording.',
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
    summary: 'Change the type or the content of a proof; it is not verified any more',
    body: Type.Object(
      { type: Type.Optional(Word), content: Type.Optional(Content) },
      { minProperties: 1 },
    ),
    maxBytes: 2 * MAX_CONTENT,
    response: Proof,
    conditional: true,
    errors: CHANGE_ERRORS,
    handler: async ({ params, body, ifMatch }, { store }) =>
      served(await changeProof(store, which(params, ifMatch), body)),
  }),
  route('DELETE /cases/{id}/proof/{pid}', {
    summary: 'Take a proof away; it is kept in `.dossier/undo/` for some days',
    conditional: true,
    errors: CHANGE_ERRORS,
    handler: ({ params, ifMatch }, { store }) => removeProof(store, which(params, ifMatch)),
  }),
  route('PUT /cases/{id}/proof/{pid}/verify', {
    operationId: 'verifyCaseProof',
    summary:
      'Mark a proof verified; once the gate is satisfied, a Work item that is VERIFYING is RESOLVED',
    response: Proof,
    conditional: true,
    errors: ['invalid_state', ...CHANGE_ERRORS],
    handler: async ({ params, ifMatch, key }, { store }) =>
      served(await verifyProof(store, which(params, ifMatch), key)),
  }),
  route('DELETE /cases/{id}/proof/{pid}/verify', {
    operationId: 'unverifyCaseProof',
    summary: 'Take the verification of a proof back; the state of the Work item stays as it is',
    response: Proof,
    conditional: true,
    errors: CHANGE_ERRORS,
    handler: async ({ params, ifMatch }, { store }) =>
      served(await unverifyProof(store, which(params, ifMatch))),
  }),
  route('GET /cases/{id}/proof/checklist', {
    operationId: 'listCaseChecklist',
    summary: 'List what has to be proven',
    query: Type.Object(PageQuery),
    response: Type.Array(ChecklistItem),
    handler: async ({ params, query }, { store }) =>
      page(await listChecklist(store, params.id), query, `/cases/${params.id}/proof/checklist`),
  }),
  route('POST /cases/{id}/proof/checklist', {
    operationId: 'addCaseChecklistItem',
    summary: 'Add to what has to be proven',
    body: Type.Object({ description, type, required, command }),
    response: ChecklistItem,
    status: 201,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ params, body }, { store }) =>
      created(`/cases/${params.id}/proof/checklist`, await addToChecklist(store, params.id, body)),
  }),
  route('PATCH /cases/{id}/proof/checklist/{item_id}', {
    operationId: 'tickCaseChecklistItem',
    summary: 'Tick a task line of the checklist, or take its mark away',
    description:
      'It changes that one mark of `proof/checklist.md`. What its front matter lists under `items` is proven by a verified proof of its type instead (422).',
    body: Type.Object({ done: Type.Boolean() }),
    response: ChecklistItem,
    conditional: true,
    errors: ['invalid_state', 'unreadable_record', 'file_busy'],
    handler: ({ params, body, ifMatch }, { store }) =>
      tickChecklist(store, inList(params, ifMatch), body.done),
  }),
  route('PUT /cases/{id}/proof/checklist/{item_id}/waiver', {
    operationId: 'waiveCaseChecklistItem',
    summary: 'Waive a line of the checklist, by name and reason',
    description:
      'The gate asks for it no more, and it is shown as waived. `waived` in the front matter of `proof/checklist.md` has it: remove it there to ask again.',
    body: Type.Object({
      by: Type.String({ minLength: 1, maxLength: 200, pattern: '\\S' }),
      reason: Type.String({ minLength: 1, maxLength: 1000, pattern: '\\S' }),
    }),
    response: ChecklistItem,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: ({ params, body, ifMatch }, { store }) =>
      waiveChecklist(store, inList(params, ifMatch), body),
  }),
  route('DELETE /cases/{id}/proof/checklist/{item_id}', {
    operationId: 'dropCaseChecklistItem',
    summary: 'Take one off what has to be proven',
    description:
      'Its line of `proof/checklist.md`, or its entry in the front matter, goes; all else in the file stays. The gate asks for it no more. `If-Match` takes the ETag of the whole list.',
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: ({ params, ifMatch }, { store }) => dropChecklist(store, inList(params, ifMatch)),
  }),
  route('GET /cases/{id}/proof/gate', {
    summary: 'Say whether the proof gate is satisfied, and what is missing',
    description:
      'It is satisfied once each required item of the checklist has a verified proof of its type; without a checklist, once one proof is verified.',
    response: Gate,
    handler: ({ params }, service) => getGate(service, params.id),
  }),
];
