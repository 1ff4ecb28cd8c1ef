import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ownValue } from '../../../store/base/own-value.ts';

describe('ownValue', () => {
  it('finds what the table has, and nothing that every object has', () => {
    assert.equal(ownValue({ a: 1 }, 'a'), 1);
    for (const name of ['b', 'constructor', 'toString', '__proto__', 'hasOwnProperty'])
      assert.equal(ownValue({ a: 1 }, name), undefined, name);
  });
});
