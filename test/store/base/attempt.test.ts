import assert from 'node:assert/strict';
import { constants } from 'node:os';
import { describe, it } from 'node:test';
import {
  codeOf,
  hasCode,
  isDiskFault,
  isFailingDisk,
  messageOf,
  orElse,
} from '../../../store/base/attempt.ts';

/** As Node reports an error that it has no name for: of calls that return a promise, and of synchronous ones. */
const nameless = (errno: number) =>
  [`Unknown system error -${errno}`, 'UNKNOWN'].map((code) =>
    Object.assign(new Error(`${code}: ${code}, open '/a'`), { code, errno: -errno }),
  );

const { EDQUOT, ESTALE } = constants.errno;
const EUCLEAN = 117;

describe('an error that Node has no name for', () => {
  it('has the name of the system', () => {
    for (const error of nameless(ESTALE)) {
      assert.equal(codeOf(error), 'ESTALE');
      assert.ok(hasCode(error, 'ESTALE'));
      assert.equal(
        orElse(() => assert.fail(error), 'else', 'ESTALE'),
        'else',
      );
    }
    assert.equal(codeOf(nameless(EUCLEAN)[0]), 'error 117');
    assert.equal(messageOf(nameless(ESTALE)[0]), "ESTALE, open '/a'");
    assert.match(messageOf(nameless(EDQUOT)[0]), /^EDQUOT, open '\/a'\. Free some space/);
  });

  it('is one of the disk, and says nothing about the file', () => {
    for (const error of [ESTALE, EUCLEAN].flatMap(nameless))
      assert.ok(isFailingDisk(error) && isDiskFault(error), error.message);
    for (const error of nameless(EDQUOT))
      assert.ok(isDiskFault(error) && !isFailingDisk(error), error.message);
  });

  it('is one where Node 24 removes a tree', () => {
    const message = ", Unknown error: Input/output error '/a'";
    const error = Object.assign(new Error(message), { code: '', errno: -4094 });
    assert.ok(isFailingDisk(error));
    assert.equal(messageOf(error), "error 4094: Input/output error '/a'");
    assert.equal(codeOf(new Error('of no system')), '');
  });
});

describe('messageOf', () => {
  it('says at the limit of open files how to raise it', () => {
    const error = Object.assign(new Error('EMFILE: too many open files, open'), { code: 'EMFILE' });
    assert.match(
      messageOf(error),
      /^EMFILE: .*\. Raise the limit of open files with ulimit -n 4096/,
    );
    assert.equal(messageOf(Object.assign(new Error('No'), { code: 'EIO' })), 'No');
  });

  it('says at the limit of processes what to do', () => {
    const error = Object.assign(new Error('spawn git EAGAIN'), { code: 'EAGAIN' });
    assert.match(messageOf(error), /^spawn git EAGAIN\. End some processes .*ulimit -u/);
  });

  it('says on a full disk what to free', () => {
    const error = Object.assign(new Error('ENOSPC: no space left, write'), { code: 'ENOSPC' });
    assert.equal(
      messageOf(error),
      'ENOSPC: no space left, write. Free some space or inodes on its disk (df, df -i)',
    );
  });
});
