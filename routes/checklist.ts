import { Type } from 'typebox';
import { created } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import {
  addToChecklist,
  getGate,
  listChecklist,
  removeFromChecklist,
  tickChecklist,
  waiveChecklist,
} from '../lib/work/proof/checklist.ts';
import { textOf } from '../store/records/fields.ts';
import { ChecklistEntry, ChecklistItem, Gate } from '../store/records/proof.ts';

const { description, type, required, command } = ChecklistEntry.properties;

const inList = (params: { id: string; item_id: string }, ifMatch: string | undefined) => ({
  caseId: params.id,
  id: params.item_id,
  ifMatch,
});

export const checklistRoutes = [
  route('GET /cases/{id}/proof/checklist', {
    operationId: 'listCaseChecklist',
    summary: 'List the proof checklist',
    query: Type.Object(PageQuery),
    response: Type.Array(ChecklistItem),
    handler: async ({ params, query }, { store }) =>
      page(await listChecklist(store, params.id), query, `/cases/${params.id}/proof/checklist`),
  }),
  route('POST /cases/{id}/proof/checklist', {
    operationId: 'addCaseChecklistItem',
    summary: 'Add an item to the proof checklist',
    body: Type.Object({ description, type, required, command }),
    response: ChecklistItem,
    status: 201,
    errors: ['unreadable_record'],
    handler: async ({ params, body }, { store }) =>
      created(`/cases/${params.id}/proof/checklist`, await addToChecklist(store, params.id, body)),
  }),
  route('PATCH /cases/{id}/proof/checklist/{item_id}', {
    operationId: 'tickCaseChecklistItem',
    summary: 'Tick or untick a task line of the checklist',
    description:
      'It changes that one mark of `proof/checklist.md`. What its front matter lists under `items` is proven by a verified proof of its type instead (422).',
    body: Type.Object({ done: Type.Boolean() }),
    response: ChecklistItem,
    conditional: true,
    errors: ['invalid_state', 'unreadable_record'],
    handler: ({ params, body, ifMatch }, { store }) =>
      tickChecklist(store, inList(params, ifMatch), body.done),
  }),
  route('PUT /cases/{id}/proof/checklist/{item_id}/waiver', {
    operationId: 'waiveCaseChecklistItem',
    summary: 'Waive an item of the checklist, with a name and a reason',
    description:
      'The gate no longer requires it, and it is shown as waived. Stored under `waived` in the front matter of `proof/checklist.md`; remove it there to require the item again.',
    body: Type.Object({
      by: textOf('notBlank', { minLength: 1, maxLength: 200 }),
      reason: textOf('notBlank', { minLength: 1, maxLength: 1000 }),
    }),
    response: ChecklistItem,
    conditional: true,
    errors: ['unreadable_record'],
    handler: ({ params, body, ifMatch }, { store }) =>
      waiveChecklist(store, inList(params, ifMatch), body),
  }),
  route('DELETE /cases/{id}/proof/checklist/{item_id}', {
    operationId: 'dropCaseChecklistItem',
    summary: 'Remove an item from the proof checklist',
    description:
      'Removes its line, or its entry in the front matter, from `proof/checklist.md` and changes nothing else. `If-Match` is the ETag of the whole list.',
    conditional: true,
    errors: ['unreadable_record'],
    handler: ({ params, ifMatch }, { store }) =>
      removeFromChecklist(store, inList(params, ifMatch)),
  }),
  route('GET /cases/{id}/proof/gate', {
    summary: 'Check whether the proof gate is satisfied, and what is missing',
    description:
      'The gate is satisfied if each required item of the checklist has a verified proof of its type; without a checklist, if one proof is verified.',
    response: Gate,
    handler: ({ params }, service) => getGate(service, params.id),
  }),
];
