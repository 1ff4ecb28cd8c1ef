import assert from 'node:assert/strict';
import { Socket } from 'node:net';
import { describe, it } from 'node:test';
import { requireOperator } from '../../../lib/http/authorize.ts';
import type { Caller } from '../../../lib/tools/process/caller.ts';

const admit = (caller: Caller): Promise<void> =>
  requireOperator(new Socket(), undefined, {
    callers: { callerOf: async () => caller },
    requiresKey: () => false,
  });

describe('requireOperator', () => {
  it('says whose session keeps a call out that cannot be told from one of its own', async () => {
    await assert.rejects(admit('untold'), { code: 'not_operator', message: /^A session without/ });
    const message = /^A session without a sandbox is running in another daemon of yours/;
    await assert.rejects(admit('elsewhere'), { code: 'not_operator', message });
    await admit('operator');
  });
});
