import { Type } from 'typebox';
import { Commands } from './commands.ts';
import { Id, orNull, Sha256, Time } from './fields.ts';
import { RUN_EVENTS } from './run-event.ts';
import { PauseReason, STATUSES, TextWarning } from './session.ts';

const Text = Type.String();
const Message = Type.String({ description: 'For people' });
const Status = Type.Enum([...STATUSES]);

const ChangedRef = Type.Object({
  ref: Text,
  before: orNull(Text, 'Null if it did not exist'),
  after: orNull(Text, 'Null if it no longer exists'),
  kept_ref: orNull(Text, 'The ref that keeps commits which would be lost'),
  by: Type.Optional(orNull(Text, 'The committer of a change that was left as it is')),
});

/** The daemon's events of a session, by name. */
const DAEMON_EVENTS = {
  status: Type.Object(
    {
      status: Status,
      mode: Type.Enum(['plan', 'work']),
      waits_for: Type.Optional(Type.Enum(['max_sessions', 'trust'])),
      message: Type.Optional(Message),
      pause_reason: Type.Optional(PauseReason),
      resume_at: Type.Optional(Time),
    },
    { description: 'The status of the session changed, or it waits' },
  ),
  plan_ready: Type.Object(
    {
      plan: Text,
      plan_sha256: orNull(Sha256),
      warnings: Type.Optional(Type.Array(TextWarning)),
    },
    { description: 'The plan is ready for approval' },
  ),
  comments_changed: Type.Object(
    {},
    { description: 'comments.md, the comments of the operator on the plan, changed' },
  ),
  approved: Type.Object(
    {
      approved_at: orNull(Time),
      approved_by: orNull(Text),
      approved_sha256: Sha256,
      unasked: Type.Optional(
        Type.Array(Text, { description: 'The commands of the plan that run without asking' }),
      ),
    },
    {
      description:
        'The operator approved the plan. Only the text with this hash runs; it is kept as approved.md',
    },
  ),
  operator_message: Type.Object(
    {
      message_id: Id,
      text: Text,
      sha256: Sha256,
      now: Type.Optional(Type.Boolean()),
      from: Type.Optional(Type.Enum(['attach'])),
    },
    {
      description:
        "The operator sent a message to the session; `now` if it interrupts; `from: attach` if it was said in the agent's own terminal interface",
    },
  ),
  operator_message_delivered: Type.Object(
    { message_id: Id },
    { description: 'The agent answered after it got the message' },
  ),
  terminal_attached: Type.Object(
    {},
    { description: "The agent's own terminal interface was started at the operator's terminal" },
  ),
  terminal_detached: Type.Object(
    { started_at: Time },
    { description: 'It ended; it was attached since `started_at`' },
  ),
  block_skipped: Type.Object(
    { tool_call_id: Text, title: Text },
    { description: 'An interrupted block is not run again, as requested on resuming' },
  ),
  operator_edit: Type.Object(
    {
      action: Type.Enum(['created', 'written', 'deleted', 'renamed', 'directory_created']),
      path: Text,
      from: Type.Optional(Type.String({ description: 'The former path of a renamed file' })),
    },
    { description: 'The operator changed a file of the worktree through the API meanwhile' },
  ),
  diff: Type.Object(
    { files: Type.Integer(), additions: Type.Integer(), deletions: Type.Integer() },
    { description: 'The work ended or was stopped; diff.patch has its changes' },
  ),
  error: Type.Object(
    {
      message: Type.Optional(Message),
      code: Type.Optional(
        Type.Enum([
          ...['plan_mode_violation', 'refs_changed', 'processes_left', 'refs_kept'],
          ...['branch_held', 'repository_kept', 'repositories_disarmed', 'left_unseen'],
          ...['git_noted', 'login_kept'],
        ]),
      ),
      files: Type.Optional(Type.Array(Text)),
      kept_ref: Type.Optional(Text),
      refs: Type.Optional(Type.Array(ChangedRef, { description: '100 at most' })),
      more: Type.Optional(Type.Integer({ description: 'The number of further refs' })),
    },
    {
      description: `Why a session failed, or an error in a running one. \`plan_mode_violation\`: changes made in Plan mode were
undone; \`files\` and \`kept_ref\` have those of the worktree, \`refs\` the branches, tags and stashes. \`refs_changed\`: such
\`refs\` changed while the agent ran without an enforced sandbox; nothing shows that the agent changed them, so they were left
as they are. \`processes_left\`: processes outlived the turn. \`login_kept\`: an agent's login changed and could not be stored
in its home directory; \`message\` has its path. The other codes report on the import of a turn's repository. A stream
also sends this event as \`session_error\`, because EventSource has an \`error\` of its own`,
    },
  ),
  log_continued: Type.Object(
    { message: Message },
    { description: 'events.ndjson reached 5 MiB; later events are complete on this machine only' },
  ),
  complete: Type.Object(
    {
      status: Status,
      error: orNull(Text),
      commands: Type.Optional(Commands),
    },
    { description: 'The session has ended, and this is the last event' },
  ),
};

/** The data of each event of a session's stream, without `at`, which all stored events have. */
export const SESSION_EVENTS = { ...RUN_EVENTS, ...DAEMON_EVENTS };
