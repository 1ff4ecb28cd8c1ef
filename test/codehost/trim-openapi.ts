/**
 * Writes test/codehost/github-openapi.json: of GitHub's own description of its API, what OPERATIONS names and all
 * that it refers to, without prose, and with `nullable` said as JSON Schema says it. The package is 385 MB unpacked, so
 * it is installed for this alone, and removed again. Run it by `npm run codehost:schema`.
 */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { OPERATIONS } from './operations.ts';

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Objects = { [key: string]: Json };

const PACKAGE = '@octokit/openapi';
const VERSION = '23.0.2';
const TARGET = new URL('../../../test/codehost/github-openapi.json', import.meta.url);

// The API is to be asked of each of these: what one of them has not, we must not use.
const PRODUCTS = ['api.github.com', 'ghec', 'ghes-3.17', 'ghes-3.18', 'ghes-3.19'];

const main = (): void => {
  const [described = {}, ...others] = installed();
  const paths: Objects = {};
  for (const [path, methods] of Object.entries(OPERATIONS)) {
    for (const method of methods) {
      paths[`${method} ${path}`] = operation(described, path, method);
      for (const other of others) operation(other, path, method);
    }
  }
  const components = referred(described, paths);
  const source = { package: PACKAGE, version: VERSION, products: PRODUCTS };
  writeFileSync(TARGET, inLines({ source, operations: paths, schemas: components }));
  console.log(`${fileURLToPath(TARGET)}: ${Object.keys(paths).length} operations`);
};

const installed = (): Objects[] => {
  const directory = mkdtempSync(join(tmpdir(), 'github-openapi-'));
  try {
    const quiet = ['--no-audit', '--no-fund', '--ignore-scripts', '--no-save'];
    execFileSync('npm', ['install', ...quiet, '--prefix', directory, `${PACKAGE}@${VERSION}`]);
    const files = join(directory, 'node_modules', PACKAGE, 'generated');
    return PRODUCTS.map((name) => JSON.parse(readFileSync(join(files, `${name}.json`), 'utf8')));
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
};

/** One operation: its query parameters, the body it takes, and a schema for each status (null: no body). */
const operation = (described: Objects, path: string, method: string): Json => {
  const found = at(described, ['paths', path, method]);
  if (found === undefined) throw new Error(`Not every GitHub has ${method} ${path}`);
  const query: string[] = [];
  for (const each of list(found.parameters)) {
    const parameter = resolved(described, each);
    if (parameter.in === 'query') query.push(String(parameter.name));
  }
  const responses: Objects = {};
  for (const [status, each] of Object.entries(objects(found.responses))) {
    responses[status] = schemaOf(resolved(described, each)) ?? null;
  }
  const body = schemaOf(resolved(described, found.requestBody ?? {}));
  return { query, ...(body === undefined ? {} : { body }), responses };
};

const schemaOf = (holder: Objects): Json | undefined => {
  const schema = at(holder, ['content', 'application/json', 'schema']);
  return schema === undefined ? undefined : rewritten(schema);
};

const resolved = (described: Objects, value: Json): Objects => {
  const { $ref } = objects(value);
  if (typeof $ref !== 'string') return objects(value);
  return at(described, $ref.slice(2).split('/')) ?? {};
};

/** What judges nothing. */
const PROSE = new Set([
  ...['description', 'summary', 'title', 'example', 'examples', 'externalDocs'],
  ...['default', 'deprecated', 'discriminator'],
]);

/** A schema without prose, whose `nullable` is a type of its own. */
const rewritten = (schema: Json): Json => {
  if (Array.isArray(schema)) return schema.map(rewritten);
  if (schema === null || typeof schema !== 'object') return schema;
  const { nullable, ...rest } = schema;
  const kept = Object.entries(rest).filter(([key]) => !PROSE.has(key) && !key.startsWith('x-'));
  const clean = Object.fromEntries(kept.map(([key, value]) => [key, keyword(key, value)]));
  return nullable === true ? orNull(clean) : clean;
};

const keyword = (key: string, value: Json): Json => {
  if (key === '$ref') return String(value).replace('#/components/schemas/', '#/schemas/');
  if (key === 'enum' || key === 'required') return value;
  return key === 'properties' ? mapped(value) : rewritten(value);
};

// Names of properties are no keywords: one may well be called `title`.
const mapped = (properties: Json): Objects =>
  Object.fromEntries(
    Object.entries(objects(properties)).map(([name, value]) => [name, rewritten(value)]),
  );

const orNull = (schema: Objects): Objects => {
  if (typeof schema.type !== 'string') return { anyOf: [schema, { type: 'null' }] };
  const values = schema.enum === undefined ? {} : { enum: [...list(schema.enum), null] };
  return { ...schema, type: [schema.type, 'null'], ...values };
};

/** Every schema that these refer to, and those that those refer to. */
const referred = (described: Objects, from: Json): Objects => {
  const found: Objects = {};
  const waiting = [from];
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const name of namesIn(next)) {
      if (name in found) continue;
      const schema = rewritten(at(described, ['components', 'schemas', name]) ?? {});
      found[name] = schema;
      waiting.push(schema);
    }
  }
  return Object.fromEntries(Object.entries(found).sort(([a], [b]) => (a < b ? -1 : 1)));
};

const namesIn = (value: Json): string[] =>
  [...JSON.stringify(value).matchAll(/"#\/schemas\/([^"]+)"/g)].map(([, name]) => String(name));

/** A line for each entry, so that an update is read as a difference. */
const inLines = (document: Record<string, Objects>): string => {
  const parts = Object.entries(document).map(([name, entries]) => {
    const lines = Object.entries(entries).map(
      ([k, v]) => `${JSON.stringify(k)}:${JSON.stringify(v)}`,
    );
    return `${JSON.stringify(name)}:{\n${lines.join(',\n')}\n}`;
  });
  return `{\n${parts.join(',\n')}\n}\n`;
};

const at = (value: Json, keys: readonly string[]): Objects | undefined => {
  const found = keys.reduce<Json | undefined>((each, key) => objects(each ?? null)[key], value);
  return found === undefined ? undefined : objects(found);
};

const objects = (value: Json | undefined): Objects =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? value : {};

const list = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

main();
