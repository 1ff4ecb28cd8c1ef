import { Type } from 'typebox';
import { getHostedLink, getLink, syncLog } from '../lib/host/links/read.ts';
import { syncCase } from '../lib/host/links/sync.ts';
import { tagged } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { Id } from '../store/records/fields.ts';
import { IssueLink } from '../store/records/link.ts';
import { ProblemRecord } from '../store/records/problem.ts';
import { PULL_STATES } from '../store/records/pull-request.ts';
import { Sync, SyncResult } from '../store/records/sync.ts';
import { optionalBody } from './fields.ts';
import { HOST_ERRORS } from './problems.ts';

const Link = Type.Object(
  {
    case_id: Id,
    issue: Type.Union([Type.Null(), IssueLink]),
    pr: Type.Union([
      Type.Null(),
      Type.Object({
        host: Type.String(),
        repository: Type.String(),
        number: Type.Integer(),
        title: Type.String(),
        state: Type.Enum([...PULL_STATES]),
        url: Type.Union([Type.Null(), Type.String()]),
        stale: Type.Boolean(),
      }),
    ]),
    problems: Type.Optional(
      Type.Array(ProblemRecord, {
        description: 'The problems of link.md; `issue` is the last valid value',
      }),
    ),
    hosted: Type.Optional(
      Type.Boolean({
        description:
          'With `hosted=true`: whether a remote of the project, or the settings, names a repository on a code host. Absent if unknown',
      }),
    ),
  },
  { $id: 'Link' },
);

export const linkRoutes = [
  route('GET /api/cases/{id}/github', {
    summary: 'Read the linked issue and pull request of a Work item',
    description: 'Read from files, without a request to the code host.',
    query: Type.Object({ hosted: Type.Optional(Type.Boolean()) }),
    response: Link,
    errors: ['unreadable_record'],
    handler: async ({ params, query }, service) => {
      const { record, etag } =
        query.hosted === true
          ? await getHostedLink(service, params.id)
          : getLink(service.store, params.id);
      return tagged(record, etag);
    },
  }),
  route('POST /api/cases/{id}/github/sync', {
    summary: 'Sync a Work item with its issue',
    description:
      'A three-way merge with the issue as last synced: changes on the code host are taken over, changes here are kept. Returns 409 `sync_conflict` if a field changed on both sides, unless `prefer` decides. Writes nothing to the issue, and does not change the state of the Work item.',
    body: optionalBody({ prefer: Type.Optional(Type.Enum(['local', 'remote'])) }),
    response: SyncResult,
    errors: ['not_linked', 'sync_conflict', 'unreadable_record', ...HOST_ERRORS],
    handler: ({ params, body }, service) => syncCase(service, params.id, body?.prefer),
  }),
  route('GET /api/cases/{id}/github/sync-log', {
    summary: 'List the syncs of a Work item, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(Sync),
    errors: ['unreadable_record'],
    handler: ({ params, query }, { store }) =>
      page(syncLog(store, params.id), query, `/api/cases/${params.id}/github/sync-log`),
  }),
];
