import { Type } from 'typebox';
import { Commands } from './commands.ts';
import { Id, Sha256, Time } from './id.ts';
import { orNull } from './or-null.ts';
import { RUN_EVENTS } from './run-event.ts';
import { PauseReason, STATUSES, TextWarning } from './session.ts';

const Text = Type.String();
const Message = Type.String({ description: 'For people' });
const Status = Type.Enum([...STATUSES]);

const ChangedRef = Type.Object({
  ref: Text,
  before: orNull(Text, 'null: it was not there'),
  after: orNull(Text, 'null: it is not there'),
  kept_ref: orNull(Text, 'Under which what would be lost is'),
  by: Type.Optional(orNull(Text, 'Whom git names for what was left as it is')),
});

/** What the daemon itself tells of a session, by the name of the event. */
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
    { description: 'The session is in another status than before, or waits' },
  ),
  plan_ready: Type.Object(
    {
      plan: Text,
      plan_sha256: orNull(Sha256),
      warnings: Type.Optional(Type.Array(TextWarning)),
    },
    { description: 'The plan waits for the operator' },
  ),
  comments_changed: Type.Object(
    {},
    { description: 'comments.md, what the operator says of the plan, is another than before' },
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
        "The operator's yes, told once: what runs after it is the text of this hash, kept as approved.md",
    },
  ),
  operator_message: Type.Object(
    { message_id: Id, text: Text, sha256: Sha256, now: Type.Optional(Type.Boolean()) },
    { description: 'The operator says something to the session; `now` where it interrupts' },
  ),
  operator_message_delivered: Type.Object(
    { message_id: Id },
    { description: 'The agent was heard after it had the message' },
  ),
  block_skipped: Type.Object(
    { tool_call_id: Text, title: Text },
    { description: 'A block that was cut off is left as it is, as the operator said on resuming' },
  ),
  operator_edit: Type.Object(
    {
      action: Type.Enum(['created', 'written', 'deleted', 'renamed', 'directory_created']),
      path: Text,
      from: Type.Optional(Type.String({ description: 'The former path, of what was renamed' })),
    },
    { description: 'The operator changed a file of the worktree by way of the API meanwhile' },
  ),
  diff: Type.Object(
    { files: Type.Integer(), additions: Type.Integer(), deletions: Type.Integer() },
    { description: 'The work is over, or was stopped: diff.patch has what it changed' },
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
      more: Type.Optional(Type.Integer({ description: 'Refs that are not among them' })),
    },
    {
      description: `Why a session failed, or what went wrong in one that goes on. \`plan_mode_violation\`: what Plan mode
found changed was undone; \`files\` and \`kept_ref\` have what was in the worktree, \`refs\` are branches, tags and stashes.
\`refs_changed\`: such \`refs\` changed while nothing but a comparison held the agent, and nothing says that it was the
agent: they are left as they are. \`processes_left\`: processes outlived the turn. \`login_kept\`: an agent's login is
another than before and did not go home; \`message\` says where it is. The others tell what a turn's
repository came to besides the work on its branch. A stream, not the JSON, sends it as \`session_error\` also, for
EventSource has an \`error\` of its own`,
    },
  ),
  log_continued: Type.Object(
    { message: Message },
    { description: 'events.ndjson has 5 MiB: what follows is whole on this machine alone' },
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

/** The data of each event of a session's stream, but for `at`, which all have that were written. */
export const SESSION_EVENTS = { ...RUN_EVENTS, ...DAEMON_EVENTS };
