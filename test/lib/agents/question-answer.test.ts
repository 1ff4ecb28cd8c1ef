import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { validateAnswer } from '../../../lib/agents/question-answer.ts';
import type { AnswerContent, QuestionField } from '../../../store/records/question.ts';

type Value = AnswerContent[string];

const field = (rest: Partial<QuestionField>): QuestionField => ({
  ...{ name: 'a', type: 'string', required: false },
  ...rest,
});

const of = (rest: Partial<QuestionField>, a: Value): string | undefined =>
  validateAnswer([field(rest)], { a })[0]?.message;

const AB = { options: [{ value: 'x' }, { value: 'y' }] };

describe('the answer to a question', () => {
  for (const [asked, given, message] of [
    [{}, 'text', undefined],
    [{}, '', undefined],
    [{}, 1, 'must be a string'],
    [{ min_length: 2 }, '😀', 'must have 2 characters or more'],
    [{ max_length: 2 }, '😀😀', undefined],
    [{ max_length: 2 }, 'abc', 'must have 2 characters or fewer'],
    [{ max_length: 1e9 }, 'x'.repeat(20_001), 'must have 20000 characters or fewer'],
    [AB, 'y', undefined],
    [AB, 'z', 'must be one of x, y'],
    [{ format: 'email' }, 'a@b', undefined],
    [{ format: 'email' }, 'a b@c', 'must be a valid email'],
    [{ format: 'uri' }, 'https://example.org/', undefined],
    [{ format: 'uri' }, '/here', 'must be a valid uri'],
    [{ format: 'date' }, '2024-02-29', undefined],
    [{ format: 'date' }, '2023-02-29', 'must be a valid date'],
    [{ format: 'date' }, '2023-2-9', 'must be a valid date'],
    [{ format: 'date-time' }, '2024-02-29T12:00:00+01:00', undefined],
    [{ format: 'date-time' }, '2024-02-30T12:00:00Z', 'must be a valid date-time'],
    [{ format: 'date-time' }, '2024-02-29T25:00:00Z', 'must be a valid date-time'],
    // Whose expression runs for ever is never run.
    [{ pattern: '(a+)+$' }, `${'a'.repeat(50)}!`, undefined],
    [{ type: 'integer' }, 1, undefined],
    [{ type: 'integer' }, 1.5, 'must be a whole number'],
    [{ type: 'integer' }, '1', 'must be a number'],
    [{ type: 'number', minimum: 0 }, -0.5, 'must be 0 or more'],
    [{ type: 'number', maximum: 1 }, 1.5, 'must be 1 or less'],
    [{ type: 'number', minimum: 0, maximum: 1 }, 0.5, undefined],
    [{ type: 'boolean' }, false, undefined],
    [{ type: 'boolean' }, 'false', 'must be true or false'],
    [{ type: 'array', ...AB }, ['x', 'y'], undefined],
    [{ type: 'array', ...AB }, 'x', 'must be a list'],
    [{ type: 'array', ...AB }, ['z'], 'each must be one of x, y'],
    [{ type: 'array', ...AB }, ['x', 'x'], 'must not hold the same entry twice'],
    [{ type: 'array', ...AB, min_items: 1 }, [], 'must have 1 entries or more'],
    [{ type: 'array', ...AB, max_items: 1 }, ['x', 'y'], 'must have 1 entries or fewer'],
  ] as [Partial<QuestionField>, Value, string | undefined][])
    it(`${JSON.stringify(asked)} of ${JSON.stringify(given).slice(0, 30)}: ${message ?? 'fits'}`, () =>
      assert.equal(of(asked, given), message));

  it('has what is required, and nothing else', () => {
    const fields = [field({ name: 'a/b', required: true }), field({ name: 'c~' })];
    assert.deepEqual(validateAnswer(fields, { constructor: 'x' }), [
      { path: '/content/a~1b', message: 'is required' },
      { path: '/content/constructor', message: 'is unknown: one of a/b, c~ is expected' },
    ]);
    assert.deepEqual(validateAnswer(fields, { 'a/b': '' }), []);
    assert.deepEqual(validateAnswer([field({ name: 'toString', required: true })], {}), [
      { path: '/content/toString', message: 'is required' },
    ]);
    assert.deepEqual(validateAnswer([], {}), []);
    assert.match(validateAnswer([], { a: 1 })[0]?.message ?? '', /no fields are expected/);
  });
});
