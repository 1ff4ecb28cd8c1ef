import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { afterDone, doneBefore, ServiceError } from '../../../lib/errors.ts';
import { failedWrite, problemAnswer } from '../../../lib/http/problem.ts';
import { readPathFinder } from '../../../lib/http/read-path.ts';
import { route } from '../../../lib/http/route.ts';
import { sections } from '../../../routes/index.ts';
import { StoreError } from '../../../store/base/errors.ts';
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

  it('cuts the middle of a message that repeats a huge value, and keeps what to do', () => {
    const message = `There is no project ${'\u{1f600}'.repeat(300_000)}. Add it.`;
    const { detail } = told(new ServiceError('bad_request', message)).problem;
    assert.ok(detail.length < 4100 && !/\p{Cs}/u.test(detail));
    assert.match(detail, /^There is no project .* … .*\. Add it\.$/u);
    const short = 'x'.repeat(4000);
    assert.equal(told(new ServiceError('bad_request', short)).problem.detail, short);
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

  it('ends the words of a StoreError with a full stop, once', () => {
    for (const [words, detail] of [
      ['a is busy. Try again', 'a is busy. Try again.'],
      ['a is busy. Try again.', 'a is busy. Try again.'],
      ['a is busy (EBUSY)', 'a is busy (EBUSY).'],
    ] as const)
      assert.equal(told(new StoreError('file_busy', words)).problem.detail, detail);
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

  it('says what failed before what to do', () => {
    const detail = (code: string) => told(systemError(code)).problem.detail;
    assert.match(detail('ENOSPC'), /^The disk is full, .*inodes.* try again \(ENOSPC\)\.$/);
    assert.match(detail('EIO'), /^The disk failed to read or write\. Check it, /);
    assert.match(detail('EACCES'), /^The system denied access to a file\. Make sure /);
  });

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

describe('failedWrite', () => {
  const call = { read: '/cases/1', keyed: false };
  const io = (code: string) => Object.assign(systemError(code), { syscall: 'fsync' });

  it('says that nothing was changed before a name is in its place, and what to do', () => {
    for (const [code] of [['EIO'], ['ENOSPC'], ['EMFILE'], ['EINTR']] as const) {
      const { problem } = told(failedWrite(io(code), { ...call, stage: 'before' }));
      assert.match(problem.detail, /^Nothing was changed\. .*[Tt]ry again.* \(E[A-Z]+\)\.$/);
      assert.notEqual(problem.code, 'may_be_written');
    }
  });

  it('says after it that the change may be written, whatever failed, and what to read', () => {
    for (const code of ['EIO', 'ENOSPC', 'EDQUOT', 'EMFILE', 'EBUSY']) {
      const { status, problem } = told(failedWrite(io(code), { ...call, stage: 'placed' }));
      assert.deepEqual([status, problem.code, problem.read], [503, 'may_be_written', '/cases/1']);
      assert.doesNotMatch(problem.detail, /Nothing was changed|try again|secret/);
    }
    const failed = failedWrite(io('EIO'), { stage: 'placed', read: undefined, keyed: true });
    assert.match(told(failed).problem.detail, /Look at .* or send the call again with the same/);
  });

  it('says what was done before, of a disk, a record and a mistake', async () => {
    const refused = new StoreError('file_busy', 'No');
    for (const error of [io('ENOSPC'), refused, new TypeError('x')]) {
      const rest = () => afterDone('b was pushed', () => Promise.reject(error));
      const thrown = await afterDone('a was committed', rest).catch((each: unknown) => each);
      const { problem } = told(failedWrite(thrown, { ...call, stage: 'placed' }));
      const done = '. Before that, b was pushed. Before that, a was committed.';
      assert.ok(problem.detail.endsWith(done), problem.detail);
      // The error itself may be another caller's, too.
      assert.equal(doneBefore(error), '');
    }
  });

  it('leaves a refusal and a mistake what they are', () => {
    const refusals = [new ServiceError('lock_held', 'No.'), new StoreError('file_busy', 'No.')];
    for (const error of [...refusals, new TypeError('x')])
      assert.equal(failedWrite(error, { ...call, stage: 'placed' }), error);
  });
});

describe('readPathFinder', () => {
  const where = readPathFinder(sections.flatMap(({ routes }) => routes));

  it('is what a call writes, or the nearest above it that can be read', () => {
    for (const [path, url, read] of [
      ['/cases', '/cases', '/cases'],
      ['/cases/{id}/state', '/cases/7/state', '/cases/7'],
      ['/cases/{id}/proof/{pid}/verify', '/cases/7/proof/8/verify?x=1', '/cases/7/proof/8'],
      ['/api/cases/{id}/conflicts/apply', '/api/cases/7/conflicts/apply', '/cases/7'],
      ['/api/global-memory/write', '/api/global-memory/write', '/api/global-memory'],
      ['/api/daemon/challenge', '/api/daemon/challenge', undefined],
      ['/cases/{id}/editor/files', '/cases/7/editor/files?path=a', '/cases/7/editor/files?path=a'],
      ['/cases/{id}/editor/files', '/cases/7/editor/files', '/cases/7'],
    ] as const)
      assert.equal(where({ path }, url), read);
  });

  it('is known of every call that changes records of the workspace', () => {
    const writes = sections.flatMap(({ routes }) =>
      routes.filter(({ method }) => method !== 'GET'),
    );
    const unknown = writes.filter((one) => where(one, one.path) === undefined);
    assert.deepEqual(
      unknown
        .map(({ path }) => path)
        .filter((path) => /^(\/api)?\/(cases|webhooks|settings)/.test(path)),
      [],
    );
  });
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
