import { type Document, resolved, type Schema } from './document.ts';

/** A field of what is sent or answered, with those inside it. */
export interface Field {
  name: string;
  type: string;
  required: boolean;
  /** In the words of the document. */
  about: string;
  fields: Field[];
}

/** Below this many others nothing is shown of a field but its type. */
const DEEPEST = 5;

/** The fields of a value, through lists and names; none of a value that has none. */
export const fieldsOf = (
  schema: Schema,
  document: Document,
  within: readonly Schema[] = [],
): Field[] => {
  const whole = resolved(schema, document);
  if (within.length > DEEPEST || within.includes(whole)) return [];
  const on = [...within, whole];
  const inside = (one: Schema) => fieldsOf(one, document, on);
  if (whole.items !== undefined) return inside(whole.items);
  if (whole.allOf !== undefined) return whole.allOf.flatMap(inside);
  const choices = whole.anyOf ?? whole.oneOf;
  if (choices !== undefined) return ofChoices(choices, document, on);
  const { properties = {}, required = [], additionalProperties } = whole;
  const fields = Object.entries(properties).map(([name, one]) => ({
    ...fieldOf(name, one, document, on),
    required: required.includes(name),
  }));
  return typeof additionalProperties === 'object'
    ? [...fields, fieldOf('any name', additionalProperties, document, on)]
    : fields;
};

/** One field, of this name. */
export const fieldOf = (
  name: string,
  schema: Schema,
  document: Document,
  within: readonly Schema[] = [],
): Field => ({
  name,
  ...{ type: typeOf(schema), required: false },
  about: [resolved(schema, document).description, ...limitsOf(schema)]
    .filter((said) => said !== undefined && said !== '')
    .join('. '),
  fields: fieldsOf(schema, document, within),
});

// Of choices with fields each is named, unless there is no choice.
const ofChoices = (choices: readonly Schema[], document: Document, within: readonly Schema[]) => {
  const all = choices.map((one) => ({ one, fields: fieldsOf(one, document, within) }));
  const [first, ...others] = all.filter(({ fields }) => fields.length > 0);
  if (first === undefined || others.length === 0) return first?.fields ?? [];
  return [first, ...others].map(({ one, fields }, at) => ({
    ...fieldOf(one.title ?? `${at === 0 ? 'either' : 'or'}`, one, document, within),
    fields,
  }));
};

/** What a value is, in a few words. */
export const typeOf = (schema: Schema): string => {
  const { $ref, const: only, enum: values = only === undefined ? [] : [only], items } = schema;
  if ($ref !== undefined) return $ref.split('/').pop() ?? '';
  if (values.length > 0) return values.map((value) => JSON.stringify(value)).join(' or ');
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return [...new Set(choices.map(typeOf))].join(' or ');
  if (items !== undefined) return `list of ${typeOf(items)}`;
  return schema.format ?? [schema.type ?? 'anything'].flat().join(' or ');
};

const LIMITS: Readonly<Record<string, (value: unknown) => string>> = {
  minLength: (least) => (least === 1 ? 'Not empty' : `At least ${least} characters`),
  maxLength: (most) => `At most ${most} characters`,
  minimum: (least) => `At least ${least}`,
  maximum: (most) => `At most ${most}`,
  minItems: (least) => `At least ${least} entries`,
  maxItems: (most) => `At most ${most} entries`,
  pattern: (pattern) => `Matches \`${pattern}\``,
  default: (value) => `Default: \`${JSON.stringify(value)}\``,
};

const limitsOf = (schema: Schema): string[] =>
  Object.entries(schema).flatMap(([name, value]) => LIMITS[name]?.(value) ?? []);
