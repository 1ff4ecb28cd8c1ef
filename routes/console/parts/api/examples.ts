import { type Called, type Document, resolved, type Schema } from './document.ts';

/** The smallest value that a schema takes, or nearly: what has to be there, and of choices the first. */
export const exampleOf = (schema: Schema, document: Document): unknown => {
  const whole = resolved(schema, document);
  const [value = whole.default ?? whole.enum?.[0] ?? whole.const] = whole.examples ?? [];
  if (value !== undefined) return value;
  const [first] = whole.anyOf ?? whole.oneOf ?? [];
  if (first !== undefined) return exampleOf(first, document);
  const { properties = {}, minProperties = 0, items = {}, minItems = 0 } = whole;
  const { required = Object.keys(properties).slice(0, minProperties) } = whole;
  if (whole.type === 'array')
    return Array.from({ length: minItems }, () => exampleOf(items, document));
  if (whole.type === 'object')
    return Object.fromEntries(
      required.map((name) => [name, exampleOf(properties[name] ?? {}, document)]),
    );
  return plainExample(whole);
};

const plainExample = ({ type, format = '', minimum }: Schema): unknown => {
  if (type === 'integer' || type === 'number') return minimum ?? 1;
  if (type === 'boolean') return true;
  return FORMATS[format] ?? 'example';
};

const FORMATS: Readonly<Record<string, string>> = {
  uuid: '11111111-1111-4111-8111-111111111111',
  'date-time': '2026-01-01T00:00:00Z',
  uri: 'https://example.org/hook',
};

/** How one call is made. */
export interface Examples {
  curl: string;
  /** With `dossierd/client`. */
  client: string;
}

const DAEMON = '127.0.0.1:4870';

/** How it is called, by curl and by the client; undefined of what the daemon sends by itself. */
export const examplesOf = (called: Called, document: Document): Examples | undefined => {
  if (called.method === 'EVENT') return undefined;
  const asked = askedOf(called, document);
  const isSocket = '101' in called.operation.responses;
  return isSocket ? socketExamples(asked) : { curl: curlOf(asked), client: clientOf(asked) };
};

interface Asked {
  method: string;
  path: string;
  /** Of the path's parameters. */
  names: string[];
  query: Record<string, string>;
  type: string | undefined;
  body: unknown;
  isStream: boolean;
}

const askedOf = ({ method, path, operation }: Called, document: Document): Asked => {
  const parameters = (operation.parameters ?? []).map((one) => resolved(one, document));
  const query = parameters.filter((one) => one.in === 'query' && one.required === true);
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {});
  return {
    ...{ method, path, type },
    names: parameters.filter((one) => one.in === 'path').map(({ name }) => name),
    query: Object.fromEntries(
      query.map(({ name, schema }) => [name, String(exampleOf(schema, document))]),
    ),
    body: content && exampleOf(content.schema, document),
    isStream: 'text/event-stream' in (operation.responses['200']?.content ?? {}),
  };
};

const addressOf = ({ path, query }: Asked): string => {
  const search = new URLSearchParams(query);
  return `${DAEMON}${path.replaceAll(/\{(\w+)\}/g, '$$$1')}${search.size === 0 ? '' : `?${search}`}`;
};

const curlOf = (asked: Asked): string => {
  const { method, type, isStream } = asked;
  const how = `${isStream ? ' -N' : ''}${method === 'GET' ? '' : ` -X ${method}`}`;
  return [
    `curl${how} "http://${addressOf(asked)}"`,
    ...(isStream ? ["-H 'accept: text/event-stream'"] : []),
    ...(type === undefined ? [] : sentOf(type, asked.body)),
  ].join(' \\\n  ');
};

const sentOf = (type: string, body: unknown): string[] => {
  if (type === '*/*') return ['--data-binary @FILE'];
  if (type === 'text/markdown') return [`-H 'content-type: ${type}'`, '--data-binary @FILE.md'];
  const text = JSON.stringify(body).replaceAll("'", "'\\''");
  return [`-H 'content-type: ${type}'`, `-d '${text}'`];
};

const clientOf = ({ method, path, names, query, type, body, isStream }: Asked): string => {
  const given = [
    ...names,
    ...(Object.keys(query).length === 0 ? [] : [`query: ${JSON.stringify(query)}`]),
    ...(type === undefined ? [] : [`body: ${bodyOf(type, body)}`]),
  ];
  const call = `'${method} ${path}'${given.length === 0 ? '' : `, { ${given.join(', ')} }`}`;
  return isStream
    ? `for await (const { event, data } of dossier.stream(${call}))\n  console.log(event, data);`
    : `const answer = await dossier.call(${call});`;
};

const bodyOf = (type: string, body: unknown): string =>
  type === '*/*' ? "new Blob(['A file.'])" : JSON.stringify(body);

const socketExamples = (asked: Asked): Examples => ({
  curl: `curl -N -H 'connection: upgrade' -H 'upgrade: websocket' "http://${addressOf(asked)}"`,
  client: `const socket = new WebSocket(\`ws://${addressOf(asked).replaceAll(/\$(\w+)/g, '$${$1}')}\`);`,
});
