import { Type } from 'typebox';
import { created, tagged } from '../lib/http/answer.ts';
import { createListCache, cut, PageQuery } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { changeCase, createCase, removeCase, setState } from '../lib/work/cases/change.ts';
import { comparePage, getCase, getHistory, listCases, versionOf } from '../lib/work/cases/read.ts';
import { Case, Description, MOST_CHARACTERS, StateName } from '../store/records/case.ts';
import { Id, Word } from '../store/records/fields.ts';
import { HistoryEntry } from '../store/records/history.ts';

const Title = Type.String({
  minLength: 1,
  maxLength: MOST_CHARACTERS.title,
  description: 'One line, without control characters',
});

// Any precision and time zone.
const Time = Type.String({
  format: 'date-time',
  description: 'RFC 3339, exclusive',
});

// A Work item with `fields`.
const PartOfCase = Type.Object(
  { ...Type.Partial(Case).properties, id: Id },
  { $id: 'PartOfCase', description: 'A Work item with the requested fields' },
);

const served = ({ body, etag }: { body: Buffer; etag: string }) => tagged<Case>(body, etag);

const readyLists = createListCache<Case>();

export const caseRoutes = [
  route('GET /cases', {
    early: true,
    summary: 'List Work items, oldest first',
    description: 'The `X-Total-Count` header is the number of matches on all pages.',
    query: Type.Object({
      state: Type.Optional(StateName),
      outcome: Type.Optional(Word),
      type: Type.Optional(Word),
      project: Type.Optional(Type.String({ minLength: 1 })),
      created_after: Type.Optional(Time),
      created_before: Type.Optional(Time),
      updated_after: Type.Optional(Time),
      updated_before: Type.Optional(Time),
      search: Type.Optional(
        Type.String({
          minLength: 1,
          maxLength: 200,
          description:
            'Words that must all occur in the title or the description; case-insensitive',
        }),
      ),
      ids: Type.Optional(
        Type.String({
          maxLength: 10_000,
          description: 'Only these Work items; ids separated by commas',
        }),
      ),
      id_prefix: Type.Optional(
        Type.String({
          pattern: '^[0-9A-Fa-f-]{1,36}$',
          description: 'The beginning of the id',
        }),
      ),
      order: Type.Optional(
        Type.Enum(['oldest', 'newest'], {
          description: 'The first entry of the list; default: oldest',
        }),
      ),
      fields: Type.Optional(
        Type.String({
          description:
            'Only return these fields and the id; separated by commas, such as `id,title,state`',
        }),
      ),
      ...PageQuery,
    }),
    response: Type.Array(Type.Union([Case, PartOfCase])),
    handler: async ({ query }, { store }) => {
      await comparePage(store, query, () => cut(listCases(store, query).all, query).items);
      return readyLists(versionOf(store), { path: '/cases', query }, () => listCases(store, query));
    },
  }),
  route('POST /cases', {
    summary: 'Create a Work item',
    description: 'Creates its directory below `cases/` in state OPEN. Starts no session.',
    body: Type.Object({
      title: Title,
      type: Word,
      description: Type.Optional(Description),
      project: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'A project in the settings. Default: `default`, or the only project if there is no `default`',
        }),
      ),
    }),
    response: Case,
    status: 201,
    // If another process moves or removes the new directory meanwhile.
    errors: ['file_busy', 'not_found', 'trust_needed'],
    handler: async ({ body }, service) => {
      const { id } = await createCase(service, body);
      const { body: json, etag } = await getCase(service.store, id);
      return created<Case>(`/cases/${id}`, json, etag);
    },
  }),
  route('GET /cases/{id}', {
    early: true,
    summary: 'Read a Work item',
    response: Case,
    handler: async ({ params }, { store }) => served(await getCase(store, params.id)),
  }),
  route('PUT /cases/{id}', {
    summary: 'Change the title, the type, the description or the project of a Work item',
    description:
      'Other fields of case.md are kept, also concurrent edits by hand. The directory is not renamed.',
    body: Type.Object(
      {
        title: Type.Optional(Title),
        type: Type.Optional(Word),
        description: Type.Optional(Description),
        project: Type.Optional(
          Type.String({
            minLength: 1,
            description:
              'A project in the settings. 409 `already_exists` if the Work item has a worktree',
          }),
        ),
      },
      { minProperties: 1 },
    ),
    response: Case,
    conditional: true,
    errors: ['trust_needed', 'unreadable_record', 'already_exists'],
    handler: async ({ params, body, ifMatch }, service) =>
      served(await changeCase(service, params.id, body, ifMatch)),
  }),
  route('DELETE /cases/{id}', {
    summary: 'Delete a Work item and everything that belongs to it; this cannot be undone',
    description:
      'Also removes its worktree. Returns 409 if the worktree has uncommitted or unpushed work, unless `force` is true: then this work is first saved under a recovery ref of the repository. The issue and the pull request on the code host are not changed.',
    query: Type.Object({ force: Type.Optional(Type.Boolean()) }),
    conditional: true,
    errors: [
      'session_active',
      'lock_held',
      'work_would_be_lost',
      'worktree_busy',
      'worktree_tampered',
      'unreadable_record',
    ],
    handler: ({ params, query, ifMatch }, service) =>
      removeCase(service, params.id, { force: query.force === true, ifMatch }),
  }),
  route('PUT /cases/{id}/state', {
    summary: 'Set the state of a Work item, bypassing sessions and the proof gate',
    description:
      'A compatibility path for scripts. Setting the current state again changes nothing and creates no event. `outcome` is stored only with a closing state (RESOLVED, NON_ISSUE); its default there is `resolved` or `non_issue`.',
    body: Type.Object({ state: StateName, outcome: Type.Optional(Word) }),
    response: Case,
    conditional: true,
    errors: ['unreadable_record'],
    handler: async ({ params, body, ifMatch }, { store }) =>
      served(await setState(store, params.id, body, ifMatch)),
  }),
  route('GET /cases/{id}/history', {
    summary: "List the workspace's git commits that changed a Work item, newest first",
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })) }),
    response: Type.Array(HistoryEntry),
    handler: ({ params, query }, { store }) => getHistory(store, params.id, query.limit),
  }),
];
