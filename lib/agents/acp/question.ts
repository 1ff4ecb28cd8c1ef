import { visible, visibleWithin } from '../../../store/base/visible.ts';
import {
  FIELD_FORMATS,
  FIELD_TYPES,
  type QuestionEvent,
  type QuestionField,
  type QuestionOption,
} from '../../../store/records/question.ts';
import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';
import { validateAnswer } from '../question-answer.ts';

export type Question = Omit<
  Extract<QuestionEvent, { type: 'question_request' }>['data'],
  'question_id'
>;

/** The longest question, in characters of JSON. */
const LARGEST = 65_536;
const MOST_FIELDS = 50;
const MOST_OPTIONS = 200;
const LONGEST_NAME = 200;

/** Converts an agent's question into a form, or returns why it cannot be shown, as a sentence. */
export const questionOf = (params: unknown): Question | string => {
  const { mode = 'form', sessionId, message, requestedSchema, toolCallId } = record(params);
  if (mode === 'url') return 'The question asks to open an address, which is not supported.';
  if (mode !== 'form') return 'The question has an unknown mode.';
  // Questions outside a session ask for credentials.
  if (text(sessionId) === undefined) return 'The question belongs to no session.';
  const words = text(message)?.trim() ?? '';
  if (words === '') return 'The question has no message.';
  const fields = fieldsOf(record(requestedSchema));
  if (typeof fields === 'string') return fields;
  const tool_call_id = text(toolCallId);
  const question = { message: words, fields, ...(tool_call_id !== undefined && { tool_call_id }) };
  if (JSON.stringify(question).length > LARGEST) return 'The question is too long.';
  return visibleWithin(question);
};

const fieldsOf = ({ properties, required }: Wire): QuestionField[] | string => {
  const asked = Object.entries(record(properties));
  if (asked.length > MOST_FIELDS) return `The question has more than ${MOST_FIELDS} fields.`;
  const needed = new Set(list(required));
  const unknown = [...needed].find((name) => !asked.some(([known]) => known === name));
  if (unknown !== undefined) return 'The question requires a field that it does not describe.';
  const fields = asked.map(([name, schema]) => fieldOf(name, record(schema), needed.has(name)));
  return (
    fields.find((field) => typeof field === 'string') ??
    fields.filter((field) => typeof field !== 'string')
  );
};

const fieldOf = (name: string, schema: Wire, required: boolean): QuestionField | string => {
  if (!isName(name)) return `The name of a field is invalid: ${visible(name.slice(0, 50))}`;
  const type = FIELD_TYPES.find((known) => known === schema.type);
  if (type === undefined) return `The field ${name} has an unknown type.`;
  const options = optionsOf(type, schema);
  const isFilledIn = options === undefined && type !== 'array';
  if (!isFilledIn && !isChoice(options)) return `The options of the field ${name} cannot be shown.`;
  const format = FIELD_FORMATS.find((known) => known === schema.format);
  const field: QuestionField = {
    name,
    type,
    required,
    ...defined({ title: text(schema.title), description: text(schema.description) }),
    ...(options !== undefined && { options }),
    ...(isFilledIn && defined({ format, pattern: text(schema.pattern) })),
    ...BOUNDS[type](schema),
  };
  const given = { [name]: schema.default } as Record<string, string>;
  const isFitting = schema.default !== undefined && validateAnswer([field], given).length === 0;
  return isFitting ? { ...field, default: schema.default as string } : field;
};

// The operator must see the name as it is sent. No request body may contain `__proto__`.
const isName = (name: string): boolean =>
  name.trim() !== '' &&
  name.length <= LONGEST_NAME &&
  visible(name) === name &&
  !/[\n\t]/.test(name) &&
  name !== '__proto__';

const isChoice = (options: QuestionOption[] | undefined): boolean =>
  options !== undefined &&
  options.length > 0 &&
  options.length <= MOST_OPTIONS &&
  options.every(({ value }) => visible(value) === value);

// Undefined for a free text; empty if the options cannot be read.
const optionsOf = (type: QuestionField['type'], schema: Wire): QuestionOption[] | undefined => {
  const source = type === 'array' ? record(schema.items) : schema;
  if (type !== 'array' && type !== 'string') return undefined;
  const named = [source.oneOf, source.anyOf].find(Array.isArray);
  const listed = named ?? (Array.isArray(source.enum) ? source.enum : undefined);
  if (listed === undefined) return undefined;
  if (listed.length > MOST_OPTIONS) return [];
  const names = list(source.enumNames);
  const options = listed.flatMap((one, at) =>
    named === undefined ? optionOf({ const: one, title: names[at] }) : optionOf(record(one)),
  );
  return options.length === listed.length ? options : [];
};

const optionOf = ({ const: value, title, description }: Wire): QuestionOption[] =>
  typeof value === 'string'
    ? [{ value, ...defined({ title: text(title), description: text(description) }) }]
    : [];

const ofNumber = ({ minimum, maximum }: Wire) =>
  defined({ minimum: number(minimum), maximum: number(maximum) });

const BOUNDS: Record<QuestionField['type'], (schema: Wire) => Partial<QuestionField>> = {
  string: ({ minLength, maxLength }) =>
    defined({ min_length: number(minLength), max_length: number(maxLength) }),
  number: ofNumber,
  integer: ofNumber,
  boolean: () => ({}),
  array: ({ minItems, maxItems }) =>
    defined({ min_items: number(minItems), max_items: number(maxItems) }),
};

type Defined<T> = { [K in keyof T]?: Exclude<T[K], undefined> };

const defined = <T extends object>(values: T): Defined<T> =>
  Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined),
  ) as Defined<T>;
