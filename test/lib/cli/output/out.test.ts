import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createOutput } from '../../../../lib/cli/output/out.ts';

const tableAt = (isTTY: boolean): string => {
  let text = '';
  const write = (piece: string): boolean => {
    text += piece;
    return true;
  };
  createOutput({ isTTY, write } as NodeJS.WriteStream, { NO_COLOR: '1' }).table([
    ['failed', 'start 0b1c2d3e', 'npm ci failed:\nno such package\n\nlook it up\n'],
    ['plan', 'approve 3f2a1b0c', 'A plan'],
    [],
  ]);
  return text;
};

describe('a table', () => {
  it('has further lines of its last cell below the row at a terminal', () => {
    assert.equal(
      tableAt(true),
      'failed  start 0b1c2d3e    npm ci failed:\n  no such package\n\n  look it up\n' +
        'plan    approve 3f2a1b0c  A plan\n\n',
    );
  });

  it('has one line for each row elsewhere', () => {
    assert.equal(
      tableAt(false),
      'failed\tstart 0b1c2d3e\tnpm ci failed: no such package look it up\n' +
        'plan\tapprove 3f2a1b0c\tA plan\n\n',
    );
  });
});
