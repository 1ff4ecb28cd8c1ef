// An OpenAPI document of ours as TypeScript: named types for the schemas that have a name, and `Operations`.

/** @typedef {Record<string, any>} Json */

const HEAD = `// Made by .ci/client-types.mjs from the schemas of the routes: not to be edited.
import type { Binary, EventOf, Upload } from './platform.ts';
`;

/** The whole text of lib/client/operations.ts. */
export const operationsText = ({ paths, components }) => {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ key: `${method.toUpperCase()} ${path}`, operation },
      parameters: operation.parameters.map((one) => resolved(one, components)),
    })),
  );
  return [
    HEAD,
    `/** What a problem's \`code\` can be. */\nexport type ErrorCode = ${typeOf(components.schemas.Problem.properties.code)};\n`,
    ...Object.entries(components.schemas)
      .filter(([name]) => name !== 'Problem')
      .map(([name, schema]) => named(name, schema)),
    ...operations.filter(isStream).map(eventTypes),
    '/** Every call: what it takes, what it answers by status, and what its stream sends. */\nexport interface Operations {',
    ...operations.map(member),
    '}\n',
  ].join('\n');
};

const resolved = (part, components) =>
  part.$ref === undefined ? part : components.parameters[part.$ref.split('/').pop()];

const isStream = ({ operation }) => contentOf(operation)['text/event-stream'] !== undefined;

const contentOf = (operation) => operation.responses[200]?.content ?? {};

const named = (name, schema) => {
  const type = typeOf(schema);
  const isBlock = type.startsWith('{') && type.indexOf('\n}') === type.length - 2;
  return `${comment(schema.description)}export ${isBlock ? `interface ${name} ${type}` : `type ${name} = ${type};`}\n`;
};

// What is not of one session is of the workspace.
const eventName = (key) => (key.includes('/sessions/') ? 'SessionEvent' : 'WorkspaceEvent');

const eventTypes = ({ key, operation }) => {
  const { oneOf } = contentOf(operation)['application/json'].schema.items;
  const events = oneOf.map(({ description, properties: { event, data } }) =>
    field(event.const, { ...data, description }, true),
  );
  const name = eventName(key);
  return `/** The data of each event that \`${key}\` sends. */\nexport interface ${name}s ${block(events)}\n\nexport type ${name} = EventOf<${name}s>;\n`;
};

const member = ({ key, operation, parameters }) => {
  const { summary, description } = operation;
  const said = [summary, ...(description === '' ? [] : [description])].join('\n\n');
  const input = inputOf(operation, parameters);
  const fields = [
    `input: ${input.length === 0 ? 'Record<never, never>' : block(input)};`,
    `answers: ${answersOf(key, operation)};`,
    ...wholeOf(answersOf(key, operation)),
    ...(isStream({ operation }) ? [`events: ${eventName(key)};`] : []),
  ];
  return indent(`${comment(said)}'${key}': ${block(fields)};`);
};

/** Headers by the names of the client's options. */
const HEADERS = {
  'If-Match': 'ifMatch',
  'If-None-Match': 'ifNoneMatch',
  'Idempotency-Key': 'idempotencyKey',
};
const OWN = ['query', 'body', 'headers', 'signal', ...Object.values(HEADERS)];

const inputOf = (operation, parameters) => {
  const at = (place) => parameters.filter((one) => one.in === place);
  for (const { name } of at('path'))
    if (OWN.includes(name)) throw new Error(`{${name}} of a path is an option of the client`);
  const query = at('query').map((one) =>
    field(one.name, { ...one.schema, description: one.description }, one.required, true),
  );
  const isNeeded = at('query').some((one) => one.required);
  return [
    ...at('path').map((one) =>
      field(one.name, { ...one.schema, description: one.description }, true),
    ),
    ...(query.length === 0
      ? []
      : [`query${isNeeded ? '' : '?'}: ${block(query)}${orUndefined(isNeeded)};`]),
    ...bodyOf(operation.requestBody),
    ...at('header')
      .filter(({ name }) => name in HEADERS)
      .map(
        ({ name, description }) => `${comment(description)}${HEADERS[name]}?: string | undefined;`,
      ),
  ];
};

const bodyOf = (requestBody) => {
  if (requestBody === undefined) return [];
  const [[type, { schema }]] = Object.entries(requestBody.content);
  const text = type === '*/*' ? 'Upload' : typeOf(schema, true);
  const { required } = requestBody;
  return [`body${required ? '' : '?'}: ${text}${orUndefined(required)};`];
};

const orUndefined = (isNeeded) => (isNeeded ? '' : ' | undefined');

// Parts of a record are answered where `fields` asks for them.
const wholeOf = (answers) =>
  answers.includes('PartOf') ? [`whole: ${answers.replace(/\((\w+) \| PartOf\1\)/g, '$1')};`] : [];

const answersOf = (key, operation) => {
  const statuses = Object.entries(operation.responses).filter(
    ([status]) => status >= 200 && status < 400,
  );
  // 204 is what its stream, not its JSON, ends with.
  if (isStream({ operation })) return `{ 200: ${eventName(key)}[] }`;
  return `{ ${statuses.map(([status, { content }]) => `${status}: ${answerOf(content)}`).join('; ')} }`.replace(
    '{  }',
    'Record<never, never>',
  );
};

const answerOf = (content) => {
  if (content === undefined) return 'undefined';
  const [[type, { schema }]] = Object.entries(content);
  if (type.startsWith('text/')) return 'string';
  return type === 'application/json' ? typeOf(schema) : 'Binary';
};

/** A schema as a type. What is sent may have undefined where it may have nothing: JSON and queries leave it out. */
const typeOf = (schema, isSent = false) => {
  if (schema.$ref !== undefined) return schema.$ref.split('/').pop();
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (schema.enum !== undefined) return union(schema.enum.map((one) => JSON.stringify(one)));
  const choices = schema.anyOf ?? schema.oneOf;
  if (choices !== undefined) return union(choices.map((one) => typeOf(one, isSent)));
  return (KINDS[schema.type] ?? unknownKind)(schema, isSent);
};

const unknownKind = (schema) => {
  if (Object.keys(schema).some((key) => key !== 'description'))
    throw new Error(`No type for ${JSON.stringify(schema)}`);
  return 'unknown';
};

const arrayOf = ({ items }, isSent) => {
  const one = typeOf(items ?? {}, isSent);
  return /^[\w.]+$/.test(one) || (one.startsWith('{') && one.indexOf('\n}') === one.length - 2)
    ? `${one}[]`
    : `(${one})[]`;
};

const objectOf = (
  { properties = {}, required = [], additionalProperties, patternProperties = {} },
  isSent,
) => {
  const fields = Object.entries(properties).map(([name, schema]) =>
    field(name, schema, required.includes(name), isSent),
  );
  const [others = additionalProperties] = Object.values(patternProperties);
  const rest = typeof others === 'object' ? typeOf(others, isSent) : 'unknown';
  if (fields.length === 0) return `Record<string, ${rest}>`;
  // An index signature has to hold for the named ones too.
  return block(
    others === undefined || others === false ? fields : [...fields, '[name: string]: unknown;'],
  );
};

const KINDS = {
  string: () => 'string',
  number: () => 'number',
  integer: () => 'number',
  boolean: () => 'boolean',
  null: () => 'null',
  array: arrayOf,
  object: objectOf,
};

const field = (name, schema, isNeeded, isSent = false) => {
  const key = /^[A-Za-z_]\w*$/.test(name) ? name : JSON.stringify(name);
  const type = typeOf(schema, isSent);
  const end = isSent ? orUndefined(isNeeded) : '';
  return `${comment(schema.description)}${key}${isNeeded ? '' : '?'}: ${type}${end};`;
};

const union = (types) => [...new Set(types)].join(' | ');

const block = (lines) => `{\n${lines.map(indent).join('\n')}\n}`;

const indent = (text) => text.replaceAll(/^(?=.)/gm, '  ');

const comment = (text) => {
  if (text === undefined || text === '') return '';
  const safe = text.trim().replaceAll('*/', '*\\/');
  if (!safe.includes('\n')) return `/** ${safe} */\n`;
  return `/**\n${safe.replaceAll(/^/gm, ' * ').replaceAll(/ +$/gm, '')}\n */\n`;
};
