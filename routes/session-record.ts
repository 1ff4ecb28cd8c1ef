import { Type } from 'typebox';
import { SESSION_STREAM } from '../lib/daemon/events.ts';
import { patchAnswer } from '../lib/http/answer.ts';
import { route } from '../lib/http/route.ts';
import { getStream } from '../lib/work/sessions/lifecycle/read.ts';
import { getDiff, getDiffFiles } from '../lib/work/sessions/lifecycle/session-texts.ts';
import { DiffFile } from '../store/records/diff-file.ts';

const Since = Type.Object({ since: Type.Optional(Type.Enum(['base', 'approval'])) });

/** The diff and the event stream of a session. */
export const sessionRecordRoutes = [
  route('GET /cases/{id}/sessions/{sid}/diff', {
    summary: 'Read the changes of a session as a patch',
    description:
      'The content of diff.patch, which is written when the work ends or stops; 404 before. With `since=approval`, only changes since the approval of the plan: without earlier changes in the worktree, by another session or by hand. If the file is not the one that this machine wrote, `GET /api/diagnostics` says so: `patch_changed`.',
    query: Since,
    response: Type.String(),
    produces: 'text/x-diff',
    errors: ['unreadable_record'],
    handler: async ({ params, query }, service) =>
      patchAnswer(await getDiff(service, params.id, params.sid, query.since)),
  }),
  route('GET /cases/{id}/sessions/{sid}/diff/files', {
    operationId: 'listDiffFiles',
    summary: 'List the files that a session changed, starting with those that run later',
    description:
      'The files of diff.patch. `runs` says, compared with the base, when the file starts a program: sentences such as "runs when you run `make`".',
    query: Since,
    response: Type.Array(DiffFile),
    errors: ['unreadable_record'],
    handler: ({ params, query }, service) =>
      getDiffFiles(service, params.id, params.sid, query.since),
  }),
  route('GET /cases/{id}/sessions/{sid}/stream', {
    summary: "Follow a session's events; the stream ends after `complete`",
    description: 'Server-sent events, or the recorded events as JSON if Accept prefers that.',
    stream: SESSION_STREAM,
    errors: ['unreadable_record'],
    handler: ({ params }, service) => getStream(service, params.id, params.sid),
  }),
];
