import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { messageOf } from '../../../store/base/attempt.ts';

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
