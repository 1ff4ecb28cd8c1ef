import { Type } from 'typebox';
import { created, tagged } from '../lib/http/answer.ts';
import { createListCache, PageQuery } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { changeCase, createCase, removeCase, setState } from '../lib/work/cases/change.ts';
import { getCase, getHistory, listCases, versionOf } from '../lib/work/cases/read.ts';
import { Case, Description, StateName } from '../store/records/case.ts';
import { HistoryEntry } from '../store/records/history.ts';
import { Id, Word } from '../store/records/id.ts';

const Title = Type.String({
  minLength: 1,
  maxLength: 200,
  description: 'One line, without control characters',
});

// A moment, to whatever precision and in whatever zone.
const Time = Type.String({
  format: 'date-time',
  description: 'RFC 3339; that very moment is not in it',
});

// What `fields` leaves of one.
const PartOfCase = Type.Object(
  { ...Type.Partial(Case).properties, id: Id },
  { $id: 'PartOfCase', description: 'A Work item with the fields that were asked for' },
);

const served = ({ body, etag }: { body: Buffer; etag: string }) => tagged<Case>(body, etag);

const readyLists = createListCache<Case>();

export const caseRoutes = [
  route('GET /cases', {
    summary: 'List Work items, oldest first',
    description: '`X-Total-Count` says how many match, of which a page has some.',
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
          description: 'Words that all occur in its title or its description, in either case',
        }),
      ),
      ids: Type.Optional(
        Type.String({ maxLength: 10_000, description: 'With commas between: of these alone' }),
      ),
      id_prefix: Type.Optional(
        Type.String({
          pattern: '^[0-9A-Fa-f-]{1,36}$',
          description: 'What its id begins with: an id is as good as known by its first digits',
        }),
      ),
      order: Type.Optional(
        Type.Enum(['oldest', 'newest'], { description: 'Which comes first; default: oldest' }),
      ),
      fields: Type.Optional(
        Type.String({
          description:
            'Names of fields with commas between, such as `id,title,state`: each Work item has these alone, and its id',
        }),
      ),
      ...PageQuery,
    }),
    response: Type.Array(Type.Union([Case, PartOfCase])),
    handler: ({ query }, { store }) =>
      readyLists(versionOf(store), { path: '/cases', query }, () => listCases(store, query)),
  }),
  route('POST /cases', {
    summary: 'Create a Work item',
    description: 'It is OPEN, and a directory below `cases/`; nothing runs.',
    body: Type.Object({
      title: Title,
      type: Word,
      description: Type.Optional(Description),
      project: Type.Optional(
        Type.String({
          minLength: 1,
          description:
            'Of the settings. Without one `default`, or where there is no such, the only one',
        }),
      ),
    }),
    response: Case,
    status: 201,
    // While somebody else moves or removes what is being made.
    errors: ['file_busy', 'not_found', 'trust_needed'],
    handler: async ({ body }, service) => {
      const { id } = await createCase(service, body);
      const { body: json, etag } = await getCase(service.store, id);
      return created<Case>(`/cases/${id}`, json, etag);
    },
  }),
  route('GET /cases/{id}', {
    summary: 'Read a Work item',
    response: Case,
    handler: async ({ params }, { store }) => served(await getCase(store, params.id)),
  }),
  route('PUT /cases/{id}', {
    summary: 'Change the title, the type, the description or the project of a Work item',
    description:
      'Fields that are not named keep what stands in case.md, also what was written there by hand meanwhile. The directory keeps its name.',
    body: Type.Object(
      {
        title: Type.Optional(Title),
        type: Type.Optional(Word),
        description: Type.Optional(Description),
        project: Type.Optional(
          Type.String({
            minLength: 1,
            description: 'Of the settings. 409 `already_exists` once the Work item has a worktree',
          }),
        ),
      },
      { minProperties: 1 },
    ),
    response: Case,
    conditional: true,
    errors: ['trust_needed', 'unreadable_record', 'file_busy', 'already_exists'],
    handler: async ({ params, body, ifMatch }, service) =>
      served(await changeCase(service, params.id, body, ifMatch)),
  }),
  route('DELETE /cases/{id}', {
    summary: 'Delete a Work item and all that belongs to it; there is no way back',
    description:
      'Its own worktree goes too. Uncommitted or unpushed work there is refused, unless `force` is true: then it is kept under a recovery ref of the repository first. Its issue and its pull request on the code host stay as they are.',
    query: Type.Object({ force: Type.Optional(Type.Boolean()) }),
    conditional: true,
    errors: [
      ...(['session_active', 'lock_held', 'work_would_be_lost', 'worktree_busy'] as const),
      ...(['worktree_tampered', 'unreadable_record', 'file_busy'] as const),
    ],
    handler: ({ params, query, ifMatch }, service) =>
      removeCase(service, params.id, { force: query.force === true, ifMatch }),
  }),
  route('PUT /cases/{id}/state', {
    summary: 'Set the state of a Work item, past sessions and the proof gate',
    description:
      'The compatibility path for scripts. The same state again changes nothing and makes no event. `outcome` is kept with a state that closes (RESOLVED, NON_ISSUE), where its default is `resolved` or `non_issue`; a Work item in any other state has none.',
    body: Type.Object({ state: StateName, outcome: Type.Optional(Word) }),
    response: Case,
    conditional: true,
    errors: ['unreadable_record', 'file_busy'],
    handler: async ({ params, body, ifMatch }, { store }) =>
      served(await setState(store, params.id, body, ifMatch)),
  }),
  route('GET /cases/{id}/history', {
    summary: "List the workspace's git commits that touched a Work item, newest first",
    query: Type.Object({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })) }),
    response: Type.Array(HistoryEntry),
    handler: ({ params, query }, { store }) => getHistory(store, params.id, query.limit),
  }),
];
