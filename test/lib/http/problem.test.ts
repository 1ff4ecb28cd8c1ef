import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ServiceError } from '../../../lib/errors.ts';
import { problemAnswer } from '../../../lib/http/problem.ts';
import { route } from '../../../lib/http/route.ts';
import { StoreError } from '../../../store/errors.ts';
import { json, type Logged, serverOf } from './serve.ts';

const told = (thrown: unknown) => {
  const logged: Logged[] = [];
  const log = { error: (details: object, message: string) => logged.push({ details, message }) };
  const { status, body } = problemAnswer(thrown, log);
  return { status, logged, problem: JSON.parse(body.toString()) };
};

const systemError = (code: string) =>
  Object.assign(new Error(`${code}: open '/home/operator/secret'`), { code });

describe('problemOf', () => {
  it('tells what a ServiceError says, and logs nothing', () => {
    const errors = [{ path: '/title', message: 'is required' }];
    const { status, problem, logged } = told(new ServiceError('bad_request', 'No.', { errors }));
    assert.equal(status, 400);
    assert.deepEqual(problem.errors, errors);
    assert.deepEqual(logged, []);
  });

  it('never lets a member replace what every problem has', () => {
    const { problem } = told(new ServiceError('not_found', 'No.', { members: { status: 200 } }));
    assert.equal(problem.status, 404);
  });

  it('tells a StoreError by its code, with its details', () => {
    const { status, problem } = told(new StoreError('unreadable_record', 'Mend it.', { line: 3 }));
    assert.equal(status, 409);
    assert.equal(problem.code, 'unreadable_record');
    assert.equal(problem.detail, 'Mend it.');
    assert.equal(problem.line, 3);
    assert.equal(told(new StoreError('unsafe_path', 'Out.')).problem.code, 'bad_request');
  });

  const FILE_SYSTEM: [string, number, string][] = [
    ['ENOSPC', 507, 'disk_full'],
    ['EDQUOT', 507, 'disk_full'],
    ['EFBIG', 507, 'disk_full'],
    ['EIO', 503, 'disk_failed'],
    ['ESTALE', 503, 'disk_failed'],
    ['ENAMETOOLONG', 400, 'bad_request'],
    ['EACCES', 503, 'access_denied'],
    ['EPERM', 503, 'access_denied'],
    ['EROFS', 503, 'read_only'],
    ['EMFILE', 503, 'unavailable'],
    ['ENFILE', 503, 'unavailable'],
  ];
  for (const [code, status, word] of FILE_SYSTEM) {
    it(`tells ${code} as ${word}, without the path`, () => {
      const answer = told(systemError(code));
      assert.equal(answer.status, status);
      assert.equal(answer.problem.code, word);
      assert.doesNotMatch(JSON.stringify(answer.problem), /secret/);
    });
  }

  for (const thrown of [
    new TypeError('secret'),
    systemError('EBADF'),
    systemError('toString'),
    'secret',
    null,
  ]) {
    it(`tells ${String(thrown)} as internal, and logs it whole under the id it tells`, () => {
      const { status, problem, logged } = told(thrown);
      assert.equal(status, 500);
      assert.equal(problem.code, 'internal');
      assert.doesNotMatch(JSON.stringify(problem), /secret|stack|at /);
      assert.deepEqual(logged[0]?.details, { err: thrown, request_id: problem.request_id });
      assert.match(problem.request_id, /^[0-9a-f-]{36}$/);
    });
  }
});

describe('an error in a handler', () => {
  for (const thrown of [new TypeError('secret'), new Error('secret'), 'secret']) {
    it(`answers ${typeof thrown} ${String(thrown)} with 500 and logs it`, async () => {
      const broken = route('GET /broken', {
        summary: 'Break',
        handler: () => {
          throw thrown;
        },
      });
      const { hapi, logged } = serverOf([broken]);
      const answer = await hapi.inject('/broken');
      assert.equal(answer.statusCode, 500);
      assert.equal(json(answer).code, 'internal');
      assert.doesNotMatch(answer.payload, /secret/);
      assert.equal(logged.length, 1);
    });
  }
});
