import { Compile } from 'typebox/compile';
import type { TLocalizedValidationError as SchemaError } from 'typebox/error';
import { patternError } from '../../store/records/patterns.ts';
import type { FieldError } from '../errors.ts';
import type { JsonSchema } from './schema.ts';

export type CheckValue = (value: unknown) => FieldError[];

/** Compiles the schema at the first call. The checker returns errors in plain English, without duplicates. */
export const checker = (schemaOf: () => JsonSchema): CheckValue => {
  const compiled = lazy(() => {
    const schema = schemaOf();
    return { schema, validator: Compile(schema) };
  });
  return (value) => {
    const { schema, validator } = compiled();
    return validator.Check(value) ? [] : explain(schema, validator.Errors(value));
  };
};

/** Calls `make` at the first call and returns that value from then on. */
export const lazy = <T>(make: () => T): (() => T) => {
  let made: { value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
};

const explain = (schema: JsonSchema, complaints: SchemaError[]): FieldError[] => {
  const found = new Map<string, FieldError>();
  for (const complaint of complaints.filter((one) => !isEcho(one, complaints))) {
    for (const error of toFieldErrors(schema, complaint))
      found.set(`${error.path} ${error.message}`, error);
  }
  return [...found.values()];
};

// typebox reports an unknown field twice, for the field and for its object, an empty text also by its pattern, and a mismatch
// with a union once for each branch. What is wrong in the branch for a value of this type says more.
const isEcho = (one: SchemaError, all: SchemaError[]): boolean => {
  if (one.keyword === 'additionalProperties') return true;
  if (one.keyword === 'pattern') return all.some((other) => isEmptyText(other, one.instancePath));
  return isMisfit(one) && all.some((other) => isWithin(other, one.instancePath));
};

const isEmptyText = ({ keyword, instancePath }: SchemaError, path: string): boolean =>
  keyword === 'minLength' && instancePath === path;

const isMisfit = (one: SchemaError): boolean =>
  one.keyword === 'anyOf' || (BRANCH.test(one.schemaPath) && IN_BRANCH.has(one.keyword));

const isWithin = (other: SchemaError, path: string): boolean =>
  other.instancePath.startsWith(`${path}/`) || (other.instancePath === path && !isMisfit(other));

const BRANCH = /\/anyOf\/\d+$/;
const IN_BRANCH = new Set(['const', 'enum', 'type']);

const toFieldErrors = (root: JsonSchema, one: SchemaError): FieldError[] => {
  const path = one.instancePath;
  if (one.keyword === 'required') {
    return one.params.requiredProperties.map((name) => ({
      path: `${path}/${name}`,
      message: 'is required',
    }));
  }
  if (isUnknownField(one)) return [{ path, message: unknownField(at(root, one.schemaPath, 1)) }];
  if (isMisfit(one)) {
    const union = at(root, one.schemaPath.replace(BRANCH, ''));
    return [{ path, message: `must be ${describe(union)}` }];
  }
  return [{ path, message: MESSAGES[one.keyword]?.(one, at(root, one.schemaPath)) ?? one.message }];
};

const isUnknownField = (one: SchemaError): boolean =>
  one.keyword === 'boolean' && one.schemaPath.endsWith('/additionalProperties');

const unknownField = (object: JsonSchema): string => {
  const known = Object.keys(object.properties ?? {});
  if (known.length === 0) return 'is unknown: no field is expected here';
  return `is unknown: expected ${known.join(', ')}`;
};

/** The part of a schema at a path such as `#/properties/title`, or `up` steps above it. */
const at = (root: JsonSchema, schemaPath: string, up = 0): JsonSchema => {
  const steps = schemaPath.split('/').slice(1);
  return steps
    .slice(0, steps.length - up)
    .reduce<JsonSchema>((part, step) => (part as Record<string, JsonSchema>)[step] ?? {}, root);
};

const describe = (schema: JsonSchema): string => {
  if (schema.const !== undefined) return String(schema.const);
  if (schema.enum !== undefined) return oneOf(schema.enum.map(String));
  if (schema.anyOf?.every((variant) => variant.const !== undefined)) {
    return oneOf(schema.anyOf.map(describe));
  }
  if (schema.anyOf !== undefined) return [...new Set(schema.anyOf.map(describe))].join(' or ');
  return NAMES[String(schema.type)] ?? 'of another type';
};

const oneOf = (words: string[]): string => (words.length > 1 ? 'one of ' : '') + words.join(', ');

const NAMES: Record<string, string> = {
  string: 'a string',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  object: 'an object',
  array: 'a list',
  null: 'null',
};

const limit = (one: SchemaError): number => Number((one.params as { limit: number }).limit);

const MESSAGES: Record<string, (one: SchemaError, schema: JsonSchema) => string> = {
  type: (_one, schema) => `must be ${describe(schema)}`,
  const: (_one, schema) => `must be ${describe(schema)}`,
  enum: (_one, schema) => `must be ${describe(schema)}`,
  format: (_one, schema) => `must be a valid ${schema.format}`,
  pattern: (one, { pattern }) => patternError(pattern) ?? one.message,
  minLength: (one) => (limit(one) === 1 ? 'must not be empty' : atLeast(one, 'characters')),
  maxLength: (one) => atMost(one, 'characters'),
  minProperties: (_one, { properties = {} }) =>
    `must have at least one of ${Object.keys(properties).join(', ')}`,
  minItems: (one) => (limit(one) === 1 ? 'must not be empty' : atLeast(one, 'entries')),
  maxItems: (one) => atMost(one, 'entries'),
  minimum: (one) => `must be ${limit(one)} or more`,
  maximum: (one) => `must be ${limit(one)} or less`,
  uniqueItems: () => 'must not contain the same entry twice',
};

const atLeast = (one: SchemaError, unit: string): string =>
  `must have ${limit(one)} ${unit} or more`;
const atMost = (one: SchemaError, unit: string): string =>
  `must have ${limit(one)} ${unit} or fewer`;
