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
    id: Type.String({ description: 'Stable while the entry is listed' }),
    kind: Type.Enum([...ATTENTION_KINDS], {
      description:
        '`plan`: a plan waits for approval. `permission`: an agent requests a permission. `question`: an agent asks a question. `done`: a session has completed its work; listed until it is dismissed or merged, a proof is verified, another session starts, or the state of the Work item changes. `failed`: a session failed; listed until another session starts or the state of the Work item changes. `blocked`: sessions are queued for a BLOCKED Work item. `paused`: a session was paused or interrupted, or reached a limit. `waiting`: a session waits for its model, for one of the `max_sessions` slots, for a lock that an operator holds, or whose session has no record here, or until the end of its run can be written; it needs no answer. `manual`: a session of the manual provider waits for your plan, or until you finish it. `conflict`: a rebase has conflicts or was interrupted. `overlap`: the branch of finished work conflicts with that of another Work item, or with its base, which moved. `review`: a review requests changes, or a check fails. `feedback`: reviews are queued, and no session works on them. `sync`: an issue changed both here and on the host. `webhook`: a webhook is disabled, by hand or because its receiver responded with 410. `held`: a change by file waits for confirmation. `trust`: a setting, a webhook, or a session whose start or approval is recorded only in its files, waits for your trust. `file`: a file is not a valid record',
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
