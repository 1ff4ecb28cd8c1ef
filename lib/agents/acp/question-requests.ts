import { randomUUID } from 'node:crypto';
import { visible, visibleWithin } from '../../../store/base/visible.ts';
import {
  type AnswerContent,
  FIELD_FORMATS,
  FIELD_TYPES,
  type QuestionAnswer,
  type QuestionEvent,
  type QuestionField,
  type QuestionOption,
} from '../../../store/records/question.ts';
import { ServiceError } from '../../errors.ts';
import { list, number, record, text, type Wire } from '../../text/unknown-json.ts';
import { validateAnswer } from '../question-answer.ts';

interface DeskDeps {
  /** The operator can answer questions. */
  attended: boolean;
  tell: (event: QuestionEvent) => void;
  /** Called with true for the first open question and with false after the last. */
  onWaiting: (waiting: boolean) => void;
}

/** Limits of open questions, and of questions in a turn. */
const MOST_OPEN = 10;
const MOST_ASKED = 100;

interface Open extends Question {
  settle: (answer: QuestionAnswer) => void;
}

interface State extends DeskDeps {
  open: Map<string, Open>;
  asked: number;
  closed: boolean;
}

/** Holds an agent's questions until the operator answers. */
export const createQuestionRequests = (deps: DeskDeps) => {
  const state: State = { ...deps, open: new Map(), asked: 0, closed: false };
  return {
    /** Resolves with the answer for the agent; `signal`: the agent withdrew the question. */
    ask: async (params: unknown, signal: AbortSignal): Promise<unknown> => {
      if (state.closed || signal.aborted) return CANCEL;
      state.asked += 1;
      const question = acceptable(state, params);
      if (typeof question === 'string') return decline(state, params, question);
      return park(state, question, signal);
    },
    /** The operator's answer; false if there is no such open question. Throws `answer_invalid` for an invalid answer. */
    reply: (question_id: string, answer: QuestionAnswer): boolean => {
      const question = state.open.get(question_id);
      if (question === undefined) return false;
      checkAnswer(question, answer);
      resolve(state, question_id, { ...answer, by: 'operator' });
      return true;
    },
    /** Whether the agent asked anything in this turn. */
    asked: (): boolean => state.asked > 0,
    /** Cancels open and later questions. */
    close: (): void => {
      state.closed = true;
      for (const id of [...state.open.keys()]) resolve(state, id, { ...CANCEL, ...OVER });
    },
    /** Accepts questions again, for another prompt. */
    open: (): void => {
      state.closed = false;
    },
  };
};
export type QuestionRequests = ReturnType<typeof createQuestionRequests>;

const DECLINE = { action: 'decline' } as const;
const CANCEL = { action: 'cancel' } as const;
const OVER = { by: 'daemon', reason: 'The turn ended before the question was answered.' } as const;
const TAKEN_BACK = { by: 'agent', reason: 'The agent withdrew the question, or exited.' } as const;

const acceptable = ({ attended, open, asked }: State, params: unknown): Question | string => {
  if (!attended) return 'This session cannot ask the operator.';
  if (open.size >= MOST_OPEN) return `${MOST_OPEN} questions are already open.`;
  if (asked > MOST_ASKED) return `The agent has asked ${MOST_ASKED} questions in this turn.`;
  return questionOf(params);
};

const LONGEST = 2000;

const decline = ({ tell, asked }: State, params: unknown, reason: string): QuestionAnswer => {
  // Reported once, so that an agent cannot fill the log.
  if (asked > MOST_ASKED + 1) return DECLINE;
  const message = visible((text(record(params).message) ?? '').slice(0, LONGEST));
  const question_id = randomUUID();
  const why = { ...DECLINE, by: 'daemon', reason } as const;
  tell({ type: 'question_resolved', data: { question_id, message, ...why } });
  return DECLINE;
};

const park = (state: State, question: Question, signal: AbortSignal): Promise<unknown> => {
  const question_id = randomUUID();
  state.tell({ type: 'question_request', data: { question_id, ...question } });
  if (state.open.size === 0) state.onWaiting(true);
  signal.addEventListener('abort', () => resolve(state, question_id, { ...CANCEL, ...TAKEN_BACK }));
  return new Promise((settle) => {
    state.open.set(question_id, { ...question, settle });
  });
};

type Resolution = QuestionAnswer & { by: 'operator' | 'agent' | 'daemon'; reason?: string };

const resolve = (state: State, question_id: string, resolution: Resolution): void => {
  const question = state.open.get(question_id);
  if (question === undefined) return;
  const { action, content, ...why } = resolution;
  state.open.delete(question_id);
  if (state.open.size === 0) state.onWaiting(false);
  const { message } = question;
  const told = { action, ...(content && { content: shown(content) }), ...why };
  state.tell({ type: 'question_resolved', data: { question_id, message, ...told } });
  question.settle({ action, ...(content && { content }) });
};

// Makes invisible characters in any field visible.
const shown = (content: AnswerContent): AnswerContent =>
  Object.fromEntries(Object.entries(content).map(([name, value]) => [name, visibleWithin(value)]));

const checkAnswer = ({ fields }: Question, { action, content }: QuestionAnswer): void => {
  const needless = [{ path: '/content', message: 'requires the action accept' }];
  const unfit = content === undefined ? [] : needless;
  const errors = action === 'accept' ? validateAnswer(fields, content ?? {}) : unfit;
  if (errors.length === 0) return;
  throw new ServiceError(
    'answer_invalid',
    'The answer does not fit the question. Correct the fields in `errors`, or decline. The question stays open.',
    { errors },
  );
};

type Question = Omit<Extract<QuestionEvent, { type: 'question_request' }>['data'], 'question_id'>;

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
