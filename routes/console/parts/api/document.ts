/** JSON Schema, as far as the daemon's own document has it. */
export interface Schema {
  $ref?: string;
  title?: string;
  description?: string;
  type?: string | string[];
  format?: string;
  const?: unknown;
  enum?: unknown[];
  properties?: Record<string, Schema>;
  required?: string[];
  additionalProperties?: boolean | Schema;
  items?: Schema;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  minProperties?: number;
  minItems?: number;
  minimum?: number;
  default?: unknown;
  examples?: unknown[];
}

type Content = Record<string, { schema: Schema }>;

interface Parameter {
  $ref?: string;
  name: string;
  in: 'path' | 'query' | 'header';
  required?: boolean;
  description?: string;
  schema: Schema;
}

interface Answer {
  $ref?: string;
  description: string;
  content?: Content;
}

export interface Operation {
  operationId: string;
  tags?: string[];
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required?: boolean; content: Content };
  responses: Record<string, Answer>;
}

/** The daemon's OpenAPI document. */
export interface Document {
  tags: { name: string; description: string }[];
  paths: Record<string, Record<string, Operation>>;
  webhooks: Record<string, { post: Operation }>;
  components: {
    [kind: string]: Record<string, object>;
    'x-problems': Record<string, { status: number; title: string }>;
  };
}

/** What a part of the document is, where it only says at which place that stands. */
export const resolved = <T extends { $ref?: string }>(part: T, document: Document): T => {
  const [kind = '', name = ''] = part.$ref?.split('/').slice(-2) ?? [];
  return part.$ref === undefined ? part : (document.components[kind]?.[name] as T);
};

/** An operation, and what calls it. Of an event, which the daemon sends, the method is none of HTTP. */
export interface Called {
  method: string;
  path: string;
  section: string;
  operation: Operation;
}

/** Everything that the document describes, in its order. */
export const operationsOf = ({ paths, webhooks }: Document): Called[] => [
  ...Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      ...{ method: method.toUpperCase(), path, operation },
      section: operation.tags?.[0] ?? '',
    })),
  ),
  ...Object.entries(webhooks).map(([path, { post }]) => ({
    ...{ method: 'EVENT', path, section: 'Sent to webhooks', operation: post },
  })),
];
