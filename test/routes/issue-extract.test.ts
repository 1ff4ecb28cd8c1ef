import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ExtractedIssue } from '../../store/records/extracted.ts';
import { withHost } from '../helpers/linked.ts';
import { assertProblem } from '../helpers/work-item.ts';

const EXTRACT = '/api/codehost/issues/extract';
const BODY = '## Steps to reproduce\n\n1. Start it\n2. Stop it\n\n## Expected\n\nIt stops.\n';

describe('POST /api/codehost/issues/extract', () => {
  it('takes a text apart, or that of an issue, and keeps nothing', async (t) => {
    const { host, call } = await withHost(t);
    const given = await call<ExtractedIssue>('POST', EXTRACT, { body: BODY });
    assert.equal(given.status, 200, given.text);
    assert.deepEqual(given.body.steps, ['Start it', 'Stop it']);
    assert.equal(given.body.expected, 'It stops.');
    assert.deepEqual(host.requests, []);
    const { number } = await host.issues.add({ title: 'Stopping', body: BODY });
    const asked = await call<ExtractedIssue>('POST', EXTRACT, { number });
    assert.deepEqual(asked.body, { ...given.body, title: 'Stopping' });
    assert.deepEqual((await call('GET', '/cases')).body, []);
  });

  it('wants one of the two, and an issue that is there', async (t) => {
    const { call } = await withHost(t);
    for (const wish of [{}, { body: '', number: 1 }, { number: 1, project: 'no' }])
      assertProblem(await call('POST', EXTRACT, wish), 400, 'bad_request');
    assert.equal((await call('POST', EXTRACT, { body: '' })).status, 200);
    assertProblem(await call('POST', EXTRACT, { number: 99 }), 404, 'codehost_not_found');
  });
});
