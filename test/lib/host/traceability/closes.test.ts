import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { closedBy } from '../../../../lib/host/traceability/traceability.ts';

describe('closedBy', () => {
  const cases: [string, string[]][] = [
    ['Closes #12', ['acme/app#12']],
    ['fixes: #1 and FIXED #2, resolve #3.', ['acme/app#1', 'acme/app#2', 'acme/app#3']],
    ['Closes acme/tools#7.', ['acme/tools#7']],
    ['Resolves https://github.com/acme/app/issues/9', ['acme/app#9']],
    ['Closes #12\n\nCloses #12', ['acme/app#12']],
    ['See #12, discloses #13, closes 14, closes #0', []],
    ['Closes https://github.com/acme/app/pull/9', []],
    ['', []],
  ];
  for (const [body, closed] of cases) {
    it(`finds ${closed.length === 0 ? 'none' : closed.join(', ')} in ${JSON.stringify(body)}`, () => {
      const found = closedBy(body, 'acme/app');
      assert.deepEqual(
        found.map(({ repository, number }) => `${repository}#${number}`),
        closed,
      );
    });
  }
});
