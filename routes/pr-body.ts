import { Type } from 'typebox';
import {
  approveUpdate,
  getUpdate,
  servedUpdate,
  servedUpdates,
  suggestUpdate,
} from '../lib/host/pull-requests/body-updates.ts';
import { composePullBody, keptDraft } from '../lib/host/pull-requests/compose.ts';
import { created, tagged } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { BodyUpdate } from '../store/records/body-update.ts';
import { Sha256 } from '../store/records/fields.ts';
import { Labels, PullTitle } from '../store/records/pull-call.ts';
import { PullDraft } from '../store/records/pull-request.ts';
import { optionalBody } from './fields.ts';
import { GIT, HOST_ERRORS, PULL_WRITE } from './problems.ts';

export const pullBodyRoutes = [
  route('POST /api/cases/{id}/pr-body/compose', {
    summary: 'Compose the body of the pull request from session summaries and proof',
    description:
      'Writes pr/draft.md, and publishes nothing. Keeps the text below the line `<!-- Below this line is yours … -->`, and title and labels unless they are given.',
    body: optionalBody({
      title: Type.Optional(PullTitle),
      labels: Type.Optional(Labels),
      overwrite: Type.Optional(
        Type.Boolean({
          description:
            'Replace the composed part even if it was edited by hand, which otherwise causes a 409',
        }),
      ),
    }),
    response: PullDraft,
    errors: ['draft_edited', 'invalid_state', 'unreadable_record'],
    handler: async ({ params, body }, { store }) => {
      const { draft, etag } = await composePullBody(store, params.id, body ?? {});
      return tagged(draft, etag);
    },
  }),
  route('GET /api/cases/{id}/pr-body/draft', {
    summary: 'Read the draft of the body, including edits by hand',
    response: PullDraft,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => {
      const { draft, etag } = keptDraft(store, params.id);
      return tagged(draft, etag);
    },
  }),
  route('POST /api/cases/{id}/pr-body/suggest-update', {
    operationId: 'suggestCasePrBodyUpdate',
    summary: 'Suggest an update of the published body, for approval',
    description:
      'Publishes nothing. Returns the difference to the current body on the code host; an approval is only valid for that body.',
    body: optionalBody({
      body: Type.Optional(
        Type.String({ minLength: 1, maxLength: 65_536, description: 'Default: the draft' }),
      ),
    }),
    response: BodyUpdate,
    status: 201,
    errors: ['unreadable_record', ...GIT, ...HOST_ERRORS],
    handler: async ({ params: { id }, body }, service) => {
      const update = await suggestUpdate(service, id, body ?? {});
      return created(`/api/cases/${id}/pr-body/updates/${update.id}`, update);
    },
  }),
  route('GET /api/cases/{id}/pr-body/updates', {
    summary: 'List the suggested and published updates of the body, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(BodyUpdate),
    errors: ['unreadable_record', ...GIT],
    handler: async ({ params: { id }, query }, service) =>
      page(await servedUpdates(service, id), query, `/api/cases/${id}/pr-body/updates`),
  }),
  route('GET /api/cases/{id}/pr-body/updates/{update_id}', {
    summary: 'Read an update of the body',
    response: BodyUpdate,
    errors: ['unreadable_record', ...GIT],
    handler: async ({ params }, service) => {
      const kept = getUpdate(service.store, params.id, params.update_id);
      return tagged(await servedUpdate(service, kept), kept.etag);
    },
  }),
  route('POST /api/cases/{id}/pr-body/updates/{update_id}/approve', {
    summary: 'Approve a suggested update and publish it',
    description:
      'Publishes once, including edits by hand in its file; `body_sha256` ties the approval to the text that you read. If the body has changed on the code host, the answer is 409 with the diff, and nothing is published.',
    body: optionalBody({ body_sha256: Type.Optional(Sha256) }),
    response: BodyUpdate,
    errors: ['update_changed', 'codehost_conflict', 'unreadable_record', ...GIT, ...PULL_WRITE],
    handler: ({ params, body }, service) =>
      approveUpdate(service, params.id, params.update_id, body?.body_sha256),
  }),
];
