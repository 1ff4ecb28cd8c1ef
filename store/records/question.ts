import { type Static, Type } from 'typebox';
import { Id } from './fields.ts';

const Text = Type.String();

const AnswerValue = Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Array(Text)]);

/** The values, by the name of the field. */
export const AnswerContent = Type.Record(Type.String(), AnswerValue);
export type AnswerContent = Static<typeof AnswerContent>;

export const QuestionOption = Type.Object({
  value: Text,
  title: Type.Optional(Text),
  description: Type.Optional(Text),
});
export type QuestionOption = Static<typeof QuestionOption>;

export const FIELD_TYPES = ['string', 'number', 'integer', 'boolean', 'array'] as const;
export const FIELD_FORMATS = ['email', 'uri', 'date', 'date-time'] as const;

export const QuestionField = Type.Object(
  {
    name: Text,
    type: Type.Enum([...FIELD_TYPES], { description: '`array`: any of its `options`' }),
    required: Type.Boolean(),
    title: Type.Optional(Text),
    description: Type.Optional(Text),
    options: Type.Optional(Type.Array(QuestionOption, { description: 'The only possible values' })),
    format: Type.Optional(Type.Enum([...FIELD_FORMATS])),
    pattern: Type.Optional(
      Type.String({
        description: 'A regular expression of the agent, which the daemon does not run',
      }),
    ),
    min_length: Type.Optional(Type.Number()),
    max_length: Type.Optional(Type.Number()),
    minimum: Type.Optional(Type.Number()),
    maximum: Type.Optional(Type.Number()),
    min_items: Type.Optional(Type.Number()),
    max_items: Type.Optional(Type.Number()),
    default: Type.Optional(AnswerValue),
  },
  { $id: 'QuestionField' },
);
export type QuestionField = Static<typeof QuestionField>;

export const AnswerAction = Type.Enum(['accept', 'decline', 'cancel'], {
  description:
    '`accept`: with `content`. `decline`: the operator declines to answer. `cancel`: the operator dismisses the question',
});

export const AnsweredBy = Type.Enum(['operator', 'agent', 'daemon'], {
  description:
    '`agent`: the agent withdrew the question or exited. `daemon`: the run was ended, or the operator was not asked',
});

/** The operator's answer. */
export const QuestionAnswer = Type.Object({
  action: AnswerAction,
  content: Type.Optional(AnswerContent),
});
export type QuestionAnswer = Static<typeof QuestionAnswer>;

const asked = { question_id: Id, message: Text };

/** The events of questions in a session's stream. */
export const QUESTION_EVENTS = {
  question_request: Type.Object(
    {
      ...asked,
      fields: Type.Array(QuestionField, { description: 'The fields of the answer; may be empty' }),
      tool_call_id: Type.Optional(Text),
    },
    { description: 'The agent asks the operator a question, and the turn waits for the answer' },
  ),
  question_resolved: Type.Object(
    {
      ...asked,
      action: AnswerAction,
      content: Type.Optional(AnswerContent),
      by: AnsweredBy,
      reason: Type.Optional(Type.String({ description: 'Why there is no answer' })),
    },
    { description: 'Follows a request, or comes alone if the daemon declined the question' },
  ),
};

type Data = { [E in keyof typeof QUESTION_EVENTS]: Static<(typeof QUESTION_EVENTS)[E]> };
export type QuestionEvent = { [E in keyof Data]: { type: E; data: Data[E] } }[keyof Data];
