import { Type } from 'typebox';
import { importIssue } from '../lib/host/links/import-issue.ts';
import {
  createImportJob,
  importJob,
  importJobs,
  setImportStatus,
} from '../lib/host/links/import-jobs.ts';
import { extractFrom } from '../lib/host/links/read.ts';
import { syncAll } from '../lib/host/links/sync-all.ts';
import { created, tagged } from '../lib/http/answer.ts';
import { PageQuery, page } from '../lib/http/pagination.ts';
import { route } from '../lib/http/route.ts';
import { getCase } from '../lib/work/cases/read.ts';
import { Case } from '../store/records/case.ts';
import { ExtractedIssue } from '../store/records/extracted.ts';
import { Id, Word } from '../store/records/fields.ts';
import { ImportFilter, ImportJob, IssueNumber, IssueNumbers } from '../store/records/import-job.ts';
import { SyncedAll } from '../store/records/sync.ts';
import { HOST_ERRORS, HOSTED } from './problems.ts';

const Project = Type.String({
  minLength: 1,
  description:
    'A project in the settings, whose remotes determine the repository; default: `default`',
});
const JOBS = '/api/codehost/import/jobs';

const ImportedCase = Type.Object(
  {
    ...Case.properties,
    notes: Type.Array(Type.String(), {
      description: 'What was changed or left out of the issue; issue.md has the original',
    }),
  },
  { $id: 'ImportedCase' },
);

export const codehostIssueRoutes = [
  route('POST /api/codehost/issues/extract', {
    operationId: 'extractIssue',
    summary: 'Extract structured content from an issue',
    description: 'With `body`, makes no request to the code host. Writes nothing.',
    body: Type.Object(
      {
        body: Type.Optional(Type.String({ description: 'Markdown' })),
        number: Type.Optional(IssueNumber),
        project: Type.Optional(Project),
      },
      { description: 'Either a `body`, or the `number` of an issue on the code host' },
    ),
    response: ExtractedIssue,
    errors: HOSTED,
    handler: ({ body }, service) => extractFrom(service, body),
  }),
  route('POST /api/codehost/issues/import-case', {
    operationId: 'importIssueAsCase',
    summary: 'Import an issue as a Work item',
    description:
      'The new Work item is linked to the issue. The default of `type` is the first label that names one (bug, feature or enhancement, docs, chore, question), else `task`. With `case_id`, that Work item is linked instead and keeps its title and description.',
    body: Type.Object({
      number: IssueNumber,
      project: Type.Optional(Project),
      type: Type.Optional(Word),
      case_id: Type.Optional(Id),
    }),
    response: ImportedCase,
    status: 201,
    errors: ['not_found', 'already_exists', 'unreadable_record', 'file_busy', ...HOSTED],
    handler: async ({ body }, service) => {
      const { case_id, notes } = await importIssue(service, body);
      const { body: json, etag } = await getCase(service.store, case_id);
      const record = { ...(JSON.parse(json.toString()) as Case), notes };
      return created(`/cases/${case_id}`, record, etag);
    },
  }),
  route(`GET ${JOBS}`, {
    summary: 'List the import jobs, oldest first',
    query: Type.Object(PageQuery),
    response: Type.Array(ImportJob),
    handler: ({ query }, { store }) => page(importJobs(store), query, JOBS),
  }),
  route(`POST ${JOBS}`, {
    operationId: 'startCodehostImport',
    summary: 'Import many issues as Work items, in the background',
    description:
      'Imports one issue after another; issues that are already linked to a Work item count as done. At a rate limit the job stops, and reports when it can be resumed. After a restart of the daemon, resume it by hand.',
    body: Type.Object(
      {
        numbers: Type.Optional(IssueNumbers),
        filter: Type.Optional(ImportFilter),
        project: Type.Optional(Project),
        type: Type.Optional(Word),
      },
      { description: 'Either `numbers` or a `filter`' },
    ),
    response: ImportJob,
    status: 202,
    errors: [
      'codehost_repo_not_detected',
      'no_repository',
      'trust_needed',
      'git_failed',
      'tool_timeout',
      'unavailable',
    ],
    handler: async ({ body }, service) => {
      const { job } = await createImportJob(service, body);
      return created(`${JOBS}/${job.id}`, job);
    },
  }),
  route(`GET ${JOBS}/{id}`, {
    summary: 'Read an import job, with its progress and the outcome of each issue',
    response: ImportJob,
    errors: ['unreadable_record'],
    handler: ({ params }, { store }) => {
      const { job, etag } = importJob(store, params.id);
      return tagged(job, etag);
    },
  }),
  route(`PATCH ${JOBS}/{id}`, {
    summary: 'Resume, cancel or complete an import job',
    description:
      '`running` resumes a pending or failed job. `cancelled` and `completed` end it at once; its Work items are kept.',
    body: Type.Object({ status: Type.Enum(['running', 'completed', 'cancelled']) }),
    response: ImportJob,
    conditional: true,
    errors: ['invalid_state', 'unreadable_record', 'file_busy'],
    handler: async ({ params, body, ifMatch }, service) => {
      const { job, etag } = await setImportStatus(service, params.id, body.status, ifMatch);
      return tagged(job, etag);
    },
  }),
  route('POST /api/codehost/sync-all', {
    summary: 'Sync all Work items with their issues',
    description:
      'In batches of 50, least recently synced first. A conflict is reported for its Work item. At a rate limit it stops and reports that; the next call continues from there.',
    response: SyncedAll,
    errors: ['sync_running', ...HOST_ERRORS],
    handler: (_input, service) => syncAll(service),
  }),
];
