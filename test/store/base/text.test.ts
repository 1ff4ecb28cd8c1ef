import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { describe, it } from 'node:test';
import { shellQuoted } from '../../../store/base/text.ts';

describe('shellQuoted', () => {
  for (const word of [
    'plain/path.txt',
    '~',
    '~root/x',
    'a~b',
    "it's",
    'a b',
    '$(id)',
    '*',
    '',
    '-n=1',
  ])
    it(`gives ${JSON.stringify(word)} to a shell as it is`, () => {
      const printed = `printf '[%s]' ${shellQuoted(word)}`;
      assert.equal(execFileSync('/bin/sh', ['-c', printed], { encoding: 'utf8' }), `[${word}]`);
    });
});
