import {
  type Called,
  type Document,
  type Operation,
  operationsOf,
  resolved,
  type Schema,
} from './document.ts';
import { type Examples, examplesOf } from './examples.ts';
import { type Field, fieldOf, fieldsOf, typeOf } from './fields.ts';

/** An operation in a list. */
export interface OperationEntry {
  operation: string;
  method: string;
  path: string;
  summary: string;
  section: string;
}

/** What is sent or answered. */
export interface Sent {
  /** Of the content. */
  media: string;
  type: string;
  fields: Field[];
}

/** All that is shown of one operation. */
export interface OperationShown extends OperationEntry {
  description: string;
  /** By where they stand; none of those that are empty. */
  parameters: { where: string; fields: Field[] }[];
  body: Sent[];
  answers: { status: string; about: string; content: Sent[] }[];
  problems: { code: string; status: number; title: string }[];
  examples: Examples | undefined;
}

/** Everything that can be called, and every event, as a list. */
export const entriesOf = (document: Document): OperationEntry[] =>
  operationsOf(document).map(entryOf);

const entryOf = ({ method, path, section, operation }: Called): OperationEntry => ({
  ...{ operation: operation.operationId, method, path, section },
  summary: operation.summary,
});

/** The operation of this name, with all that it says by reference; undefined where there is none. */
export const operationOf = (name: string, document: Document): OperationShown | undefined => {
  const called = operationsOf(document).find(({ operation }) => operation.operationId === name);
  if (called === undefined) return undefined;
  const { operation } = called;
  return {
    ...entryOf(called),
    description: operation.description ?? '',
    parameters: parametersOf(operation, document),
    body: contentOf(operation.requestBody?.content, document),
    answers: answersOf(operation, document),
    problems: problemsOf(operation, document),
    examples: examplesOf(called, document),
  };
};

const PLACES = { path: 'In the path', query: 'In the query', header: 'As headers' } as const;

const parametersOf = ({ parameters = [] }: Operation, document: Document) => {
  const all = parameters.map((one) => resolved(one, document));
  return Object.entries(PLACES).flatMap(([place, where]) => {
    const fields = all
      .filter((one) => one.in === place)
      .map(({ name, schema, description, required = false }) => {
        const whole = { ...schema, ...(description !== undefined && { description }) };
        return { ...fieldOf(name, whole, document), required };
      });
    return fields.length === 0 ? [] : [{ where, fields }];
  });
};

const contentOf = (content: Record<string, { schema: Schema }> = {}, document: Document): Sent[] =>
  Object.entries(content).map(([media, { schema }]) => ({
    ...{ media, type: typeOf(schema), fields: fieldsOf(schema, document) },
  }));

const answersOf = ({ responses }: Operation, document: Document) =>
  Object.entries(responses)
    .filter(([, { $ref }]) => $ref === undefined)
    .map(([status, { description, content }]) => ({
      ...{ status, about: description, content: contentOf(content, document) },
    }));

// A refusal is named by its codes.
const problemsOf = ({ responses }: Operation, { components }: Document) =>
  Object.values(responses)
    .flatMap(({ $ref }) => $ref?.split('/').pop()?.split('-or-') ?? [])
    .flatMap((code) => {
      const known = components['x-problems'][code];
      return known === undefined ? [] : [{ code, status: known.status, title: known.title }];
    });
