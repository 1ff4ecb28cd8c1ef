import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { refusedOf } from '../../../../../lib/tools/git/read/refused-names.ts';

const latin1 = (path: string): string => Buffer.from(path).toString('latin1');

const refused = (stderr: string, ...paths: string[]): string[] =>
  refusedOf({ code: 0, stdout: Buffer.alloc(0), stderr }, paths.map(latin1));

describe('refusedOf', () => {
  it('names what git ignored, in its order, whatever stands between', () => {
    const stderr = 'warning: x\nIgnoring path git~1\nwarning: y\nIgnoring path é/.GIT/x\n';
    assert.deepEqual(refused(stderr, 'a', 'git~1', 'b', 'é/.GIT/x', 'git~1x'), [
      'git~1',
      latin1('é/.GIT/x'),
    ]);
    assert.deepEqual(refused('', 'git~1'), []);
  });

  it('takes a line break for a part of the name, and the beginning of another for none', () => {
    const name = '.git /a\nIgnoring path b';
    assert.deepEqual(refused(`Ignoring path ${name}\nIgnoring path git~1\n`, name, 'b', 'git~1'), [
      name,
      'git~1',
    ]);
    assert.deepEqual(refused('Ignoring path git~1/long\n', 'git~1', 'git~1/long'), ['git~1/long']);
  });
});
