import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { questionOf } from '../../../../lib/agents/acp/question-requests.ts';

const BASE = { sessionId: 's', mode: 'form', message: 'Which?' };

const asked = (properties: object, rest: object = {}) =>
  questionOf({ ...BASE, requestedSchema: { type: 'object', properties, ...rest } });

const fieldsOf = (properties: object, rest: object = {}) => {
  const question = asked(properties, rest);
  assert.ok(typeof question === 'object', String(question));
  return question.fields;
};

describe('a question of an agent', () => {
  it('is read as the fields that it is answered with, in their order', () => {
    const fields = fieldsOf(
      {
        port: { type: 'integer', minimum: 1, maximum: 65_535, default: 80 },
        rate: { type: 'number', minimum: 'none' },
        sure: { type: 'boolean', title: 'Sure?', default: 'yes' },
        mail: { type: 'string', format: 'email', minLength: 3, maxLength: 50, pattern: '@' },
        base: {
          type: 'string',
          oneOf: [
            { const: 'a', title: 'A', description: 'The first' },
            { const: 'b', title: 'B' },
          ],
        },
        old: { type: 'string', enum: ['x', 'y'], enumNames: ['X', 'Y'], default: 'x' },
        many: { type: 'array', minItems: 1, maxItems: 2, items: { type: 'string', enum: ['p'] } },
        more: { type: 'array', items: { anyOf: [{ const: 'q', title: 'Q' }] } },
      },
      { required: ['port'] },
    );
    assert.deepEqual(fields, [
      { name: 'port', type: 'integer', required: true, minimum: 1, maximum: 65_535, default: 80 },
      { name: 'rate', type: 'number', required: false },
      { name: 'sure', type: 'boolean', required: false, title: 'Sure?' },
      {
        ...{ name: 'mail', type: 'string', required: false },
        ...{ format: 'email', pattern: '@', min_length: 3, max_length: 50 },
      },
      {
        ...{ name: 'base', type: 'string', required: false },
        options: [
          { value: 'a', title: 'A', description: 'The first' },
          { value: 'b', title: 'B' },
        ],
      },
      {
        ...{ name: 'old', type: 'string', required: false, default: 'x' },
        options: [
          { value: 'x', title: 'X' },
          { value: 'y', title: 'Y' },
        ],
      },
      {
        ...{ name: 'many', type: 'array', required: false, min_items: 1, max_items: 2 },
        options: [{ value: 'p' }],
      },
      { name: 'more', type: 'array', required: false, options: [{ value: 'q', title: 'Q' }] },
    ]);
  });

  it('may ask for nothing but a yes, and names its tool call', () => {
    const question = questionOf({ ...BASE, toolCallId: 't' });
    assert.deepEqual(question, { message: 'Which?', fields: [], tool_call_id: 't' });
  });

  it('has everything that is hidden in it shown', () => {
    const question = questionOf({
      ...BASE,
      message: 'Which\u001b[8m?\u202e',
      requestedSchema: {
        properties: { a_id: { type: 'string', title: 'x\u200b', description: '\u0007' } },
      },
    });
    assert.deepEqual(question, {
      message: 'Which␛[8m?⟦U+202E⟧',
      fields: [
        {
          ...{ name: 'a_id', type: 'string', required: false },
          ...{ title: 'x⟦U+200B⟧', description: '␇' },
        },
      ],
    });
  });

  const many = (count: number, each: unknown) =>
    Object.fromEntries(Array.from({ length: count }, (_, at) => [`f${at}`, each]));
  const options = (value: unknown) => ({ a: { type: 'string', enum: [value] } });

  for (const [what, question, why] of [
    [
      'that wants an address opened',
      questionOf({ ...BASE, mode: 'url', url: 'https://x' }),
      /open/,
    ],
    ['in a mode nobody knows', questionOf({ ...BASE, mode: '_dance' }), /unknown mode/],
    [
      'belongs to no session',
      questionOf({ mode: 'form', message: 'Key?', requestId: 1 }),
      /no session/,
    ],
    ['without words', questionOf({ ...BASE, message: ' \n' }), /has no message/],
    ['that is no question', questionOf('what'), /no session/],
    ['with a type nobody knows', asked({ a: { type: 'object' } }), /unknown type/],
    ['with a field that is none', asked({ a: null }), /unknown type/],
    ['with a name that hides', asked({ 'a\u200b': { type: 'string' } }), /name of a field.*200B/],
    ['with a name of two lines', asked({ 'a\nb': { type: 'string' } }), /name of a field/],
    ['with a name without one', asked({ ' ': { type: 'string' } }), /name of a field/],
    ['with a long name', asked({ ['n'.repeat(201)]: { type: 'string' } }), /name of a field/],
    [
      'with a name that no body can hold',
      asked(JSON.parse('{"__proto__": {"type": "string"}}')),
      /name of a field is invalid: __proto__/,
    ],
    ['with a choice that hides', asked(options('x\u202e')), /cannot be shown/],
    ['with a choice that is no text', asked(options(1)), /cannot be shown/],
    ['with no choice', asked({ a: { type: 'string', enum: [] } }), /cannot be shown/],
    ['with a list of nothing', asked({ a: { type: 'array', items: {} } }), /cannot be shown/],
    ['that requires what it does not ask', asked({}, { required: ['a'] }), /does not describe/],
    ['with too many fields', asked(many(51, { type: 'string' })), /more than 50/],
    [
      'with too many choices',
      asked({ a: { type: 'string', enum: Object.keys(many(201, 0)) } }),
      /cannot be shown/,
    ],
    ['that is too long', questionOf({ ...BASE, message: 'x'.repeat(70_000) }), /too long/],
  ] as const)
    it(`is none ${what}, and says why`, () => assert.match(String(question), why));
});
