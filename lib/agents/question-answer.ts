import { ownValue } from '../../store/base/own-value.ts';
import type { AnswerContent, QuestionField } from '../../store/records/question.ts';
import type { FieldError } from '../errors.ts';

/** Validates an answer against the fields of a question. Returns an error for each invalid field. */
export const validateAnswer = (
  fields: readonly QuestionField[],
  content: AnswerContent,
): FieldError[] => {
  const known = new Set(fields.map(({ name }) => name));
  const unknown = Object.keys(content).filter((name) => !known.has(name));
  const expected = known.size === 0 ? 'no fields are' : `one of ${[...known].join(', ')} is`;
  return [
    ...fields.flatMap((field) => validateField(field, content)),
    ...unknown.map((name) => wrong(name, `is unknown: ${expected} expected`)),
  ];
};

type Value = AnswerContent[string];

const validateField = (field: QuestionField, content: AnswerContent): FieldError[] => {
  const { name, required, type } = field;
  const value = ownValue(content, name);
  if (value === undefined) return required ? [wrong(name, 'is required')] : [];
  const message = CHECKS[type](field, value);
  return message === undefined ? [] : [wrong(name, message)];
};

const wrong = (name: string, message: string): FieldError => ({
  path: `/content/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`,
  message,
});

/** In characters. */
const LONGEST_ANSWER = 20_000;

type CheckValue = (field: QuestionField, value: Value) => string | undefined;

const checkText: CheckValue = ({ options, format, ...field }, value) => {
  if (typeof value !== 'string') return 'must be a string';
  if (options !== undefined) return isOption(options, value) ? undefined : mustBe(options);
  const { min_length: least = 0, max_length: most = LONGEST_ANSWER } = field;
  const { length } = [...value.slice(0, 2 * LONGEST_ANSWER)];
  if (length < least) return `must have ${least} characters or more`;
  if (length > Math.min(most, LONGEST_ANSWER))
    return `must have ${Math.min(most, LONGEST_ANSWER)} characters or fewer`;
  if (format !== undefined && !FORMATS[format](value)) return `must be a valid ${format}`;
  return undefined;
};

const checkNumber: CheckValue = ({ type, minimum, maximum }, value) => {
  if (typeof value !== 'number') return 'must be a number';
  if (type === 'integer' && !Number.isInteger(value)) return 'must be a whole number';
  if (minimum !== undefined && value < minimum) return `must be ${minimum} or more`;
  if (maximum !== undefined && value > maximum) return `must be ${maximum} or less`;
  return undefined;
};

const checkChoice: CheckValue = ({ options = [], min_items = 0, max_items }, value) => {
  if (!Array.isArray(value)) return 'must be a list';
  if (!value.every((one) => isOption(options, one))) return `each ${mustBe(options)}`;
  if (new Set(value).size < value.length) return 'must not hold the same entry twice';
  if (value.length < min_items) return `must have ${min_items} entries or more`;
  if (max_items !== undefined && value.length > max_items)
    return `must have ${max_items} entries or fewer`;
  return undefined;
};

const CHECKS: Record<QuestionField['type'], CheckValue> = {
  string: checkText,
  number: checkNumber,
  integer: checkNumber,
  boolean: (_field, value) => (typeof value === 'boolean' ? undefined : 'must be true or false'),
  array: checkChoice,
};

type Options = NonNullable<QuestionField['options']>;

const isOption = (options: Options, given: string): boolean =>
  options.some(({ value }) => value === given);

const mustBe = (options: Options): string =>
  `must be one of ${options.map(({ value }) => value).join(', ')}`;

const DAY = /^\d{4}-\d{2}-\d{2}$/;
const MOMENT = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/i;

const FORMATS: Record<NonNullable<QuestionField['format']>, (value: string) => boolean> = {
  email: (value) => /^[^\s@]+@[^\s@]+$/.test(value),
  uri: URL.canParse,
  date: (value) => DAY.test(value) && isDay(value),
  'date-time': (value) => MOMENT.test(value) && isDay(value.slice(0, 10)) && isMoment(value),
};

// Date accepts February 30.
const isDay = (day: string): boolean =>
  isMoment(day) && new Date(day).toISOString().startsWith(day);

const isMoment = (value: string): boolean => !Number.isNaN(Date.parse(value));
