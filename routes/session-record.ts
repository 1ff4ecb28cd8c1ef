import { Type } from 'typebox';
import { SESSION_STREAM } from '../lib/daemon/events.ts';
import { patchAnswer } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { getStream } from '../lib/work/sessions/lifecycle/read.ts';
import { getDiff, getDiffFiles } from '../lib/work/sessions/lifecycle/session-texts.ts';
import { DiffFile } from '../store/records/diff-file.ts';

const Since = Type.Object({ since: Type.Optional(Type.Enum(['base', 'approval'])) });

/** What a session did. */
export const sessionRecordRoutes = [
  route('GET /cases/{id}/sessions/{sid}/diff', {
    summary: 'Read what the session changed, as a patch',
    description:
      'diff.patch as it was kept when the work was over, or was stopped; 404 before. With `since=approval` only what changed since the plan was approved: without what stood in the worktree then, of another session or by hand.',
    query: Since,
    response: Type.String(),
    produces: 'text/x-diff',
    errors: ['unreadable_record'],
    handler: async ({ params, query }, service) =>
      patchAnswer(await getDiff(service, params.id, params.sid, query.since)),
  }),
  route('GET /cases/{id}/sessions/{sid}/diff/files', {
    operationId: 'listDiffFiles',
    summary: 'List the files that the session changed, those first that run later',
    description:
      'The files of diff.patch. `runs` says when a program runs that the file names: sentences such as "runs when you run `make`", compared with the base.',
    query: Since,
    response: Type.Array(DiffFile),
    errors: ['unreadable_record'],
    handler: ({ params, query }, service) =>
      getDiffFiles(service, params.id, params.sid, query.since),
  }),
  route('GET /cases/{id}/sessions/{sid}/stream', {
    summary: "Follow a session's execution events; the stream ends after `complete`",
    description: 'Server-sent events, or those so far as JSON where Accept prefers it.',
    produces: 'text/event-stream',
    stream: SESSION_STREAM,
    errors: ['unreadable_record'],
    handler: ({ params }, service) => getStream(service, params.id, params.sid),
  }),
];
