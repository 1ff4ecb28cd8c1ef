import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { describe, it } from 'node:test';
import { pathToFileURL } from 'node:url';
import { Type } from 'typebox';
import { openApi } from '../../lib/http/openapi.ts';
import type { Route } from '../../lib/http/route.ts';

const { operationsText } = (await import(pathToFileURL(resolve('.ci/client-text.mjs')).href)) as {
  operationsText(document: object): string;
};

type Schema = NonNullable<Route['response']>;

const textOf = (response: Schema, more: Partial<Route> = {}): string => {
  const handler = () => assert.fail('only described');
  const params = Type.Object({ name: Type.String() });
  const spec = { method: 'POST', path: '/things/{name}', summary: 'Does it' } as const;
  const one: Route = { ...spec, params, response, handler, ...more };
  const sections = [{ title: '', description: '', routes: [one] }];
  return operationsText(JSON.parse(JSON.stringify(openApi(sections, [], ''))));
};

/** The type that a schema has in an answer. */
const typeOf = (schema: Schema): string =>
  /answers: \{ 200: ([\s\S]*?) \};\n/.exec(textOf(schema))?.[1]?.replaceAll(/\n\s*/g, ' ') ?? '';

describe('operationsText', () => {
  it('has a type for each kind of schema', () => {
    const Text = Type.String();
    for (const [schema, type] of [
      [Type.Integer(), 'number'],
      [Type.Enum(['a', 'b']), '"a" | "b"'],
      [Type.Literal(1), '1'],
      [Type.Union([Text, Type.Null()]), 'string | null'],
      [Type.Array(Type.Union([Text, Type.Boolean()])), '(string | boolean)[]'],
      [Type.Record(Text, Type.Number()), 'Record<string, number>'],
      [Type.Object({}), 'Record<string, unknown>'],
      [Type.Array(Type.Unknown()), 'unknown[]'],
      [
        Type.Object({ a: Text, 'b-c': Type.Optional(Text) }, { additionalProperties: true }),
        '{ a: string; "b-c"?: string; [name: string]: unknown; }',
      ],
    ] as [Schema, string][])
      assert.equal(typeOf(schema), type);
  });

  it('names what has a name, and says what is said of it, which ends no comment', () => {
    const Thing = Type.Object(
      { id: Type.String({ description: 'Not a */ one' }) },
      { $id: 'Thing', description: 'One\n\nthing' },
    );
    const text = textOf(Type.Array(Thing));
    assert.ok(
      text.includes(
        '/**\n * One\n *\n * thing\n */\nexport interface Thing {\n  /** Not a *\\/ one */\n  id: string;\n}\n',
      ),
    );
    assert.match(text, /answers: \{ 200: Thing\[\] \};/);
  });

  it('takes undefined in what is sent, wherever nothing may be', () => {
    const body = Type.Object({ a: Type.Object({ b: Type.Optional(Type.String()) }) });
    const text = textOf(Type.Null(), {
      body,
      query: Type.Object({ q: Type.Optional(Type.String()) }),
    });
    assert.match(
      text.replaceAll(/\s+/g, ' '),
      /input: \{ name: string; query\?: \{ q\?: string \| undefined; \} \| undefined; body: \{ a: \{ b\?: string \| undefined; \}; \}; \};/,
    );
  });

  it('refuses a schema that it has no type for, and a parameter that is called like an option', () => {
    for (const unknown of [
      Type.Unsafe({ not: {} }),
      Type.Unsafe({ type: ['string', 'null'] }),
      Type.Tuple([Type.String(), Type.Number()]),
      Type.Intersect([Type.Object({}), Type.Object({})]),
    ])
      assert.throws(() => textOf(unknown), /No type for/);
    const params = Type.Object({ body: Type.String() });
    assert.throws(() => textOf(Type.Null(), { path: '/{body}', params }), /option of the client/);
  });
});
