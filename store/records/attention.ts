import { type Static, Type } from 'typebox';
import { Id, Time } from './fields.ts';
import { QuestionField } from './question.ts';
import type { TrustWish } from './trust.ts';

/** The kinds of inbox entries, each with its meaning. */
export const ATTENTION_KINDS = [
  'plan',
  'permission',
  'question',
  'done',
  'failed',
  'blocked',
  'paused',
  'waiting',
  'manual',
  'conflict',
  'overlap',
  'review',
  'feedback',
  'sync',
  'webhook',
  'held',
  'trust',
  'file',
] as const;

const Call = Type.Object({
  method: Type.Enum(['GET', 'POST', 'PUT', 'DELETE']),
  path: Type.String({ description: 'The path of the call, with ids' }),
  body: Type.Optional(
    Type.Unknown({
      description:
        'The body of the request. For a permission, use one of its `options`; for a question, this body declines, and `fields` describe an answer',
    }),
  ),
});

export const AttentionItem = Type.Object(
  {
    id: Type.String({ description: 'Stable while the same thing waits' }),
    kind: Type.Enum([...ATTENTION_KINDS], {
      description:
        '`plan`: waits to be approved. `permission`: an agent asks for leave. `question`: an agent asks something. `done`: a session has completed its work, until it is dismissed, a proof is verified, or another session is begun. `failed`: a session, until another is begun or the Work item is moved on. `blocked`: sessions wait behind a Work item that is BLOCKED. `paused`: a session was paused, was interrupted, or met a limit. `waiting`: a session waits for its model, or for a place among `max_sessions`; nothing is to be answered. `manual`: yours waits for its plan, or until you finish it. `conflict`: of a rebase. `overlap`: the branch of finished work conflicts with that of another Work item, or with its base, which moved. `review`: asks for changes, or is a check that fails. `feedback`: reviews are queued, and no session is at them. `sync`: an issue changed here and on the host. `webhook`: its receiver wants no more. `held`: a change by file waits. `trust`: a setting, a receiver of events, or a session that its files alone say was started or approved, does. `file`: cannot be read as what it should be',
    }),
    case_id: Type.Optional(Id),
    session_id: Type.Optional(Id),
    other_case_id: Type.Optional(
      Type.String({ description: 'For `overlap`: the Work item of the other branch' }),
    ),
    since: Time,
    title: Type.String({ description: 'The title of the Work item, or else the file' }),
    message: Type.String({ description: 'What the operator is asked to do, and why' }),
    answer: Call,
    options: Type.Optional(
      Type.Array(
        Type.Object({ option_id: Type.String(), kind: Type.String(), name: Type.String() }),
        { description: 'The possible answers to a permission request' },
      ),
    ),
    fields: Type.Optional(
      Type.Array(QuestionField, {
        description:
          'The fields of an answer to a question: `{"action": "accept", "content": {…}}`',
      }),
    ),
    resume_at: Type.Optional(Time),
    output: Type.Optional(
      Type.String({ description: 'The end of the output of the first failed command' }),
    ),
    file: Type.Optional(Type.String({ description: 'Relative to the workspace' })),
    line: Type.Optional(Type.Integer()),
    column: Type.Optional(Type.Integer()),
  },
  { $id: 'AttentionItem' },
);
export type AttentionItem = Static<typeof AttentionItem>;

/** The request body that trusts one waiting value. */
export const trustOne = (key: string, hash: string): TrustWish => ({ values: [{ key, hash }] });
