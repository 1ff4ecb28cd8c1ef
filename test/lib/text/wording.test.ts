import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownError } from '../../../lib/text/wording.ts';

describe('ownError', () => {
  it('is null only where the error is that of a command which is described with its exit code', () => {
    const error = 'The command (npm test) ended after 10 min.';
    const after = (exit_code: number | null) => ({
      ...{ error, commands: { message: '1 failed', failed: [{ command: 'npm test', exit_code }] } },
    });
    assert.equal(ownError(after(1)), null);
    assert.equal(ownError(after(null)), error);
    assert.equal(ownError({ error }), error);
    assert.equal(ownError({ error: null }), null);
  });
});
