import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, type Row, running } from './surface.ts';

const SYSTEM: Row[] = [
  {
    method: 'GET',
    path: '/health',
    does: 'returns status ok',
    call: () => call('GET', '/health'),
    status: 200,
    check: ({ body }: Answered<object>) => assert.deepEqual(body, { status: 'ok' }),
  },
  {
    method: 'GET',
    path: '/version',
    does: 'returns version and build info',
    call: () => call('GET', '/version'),
    status: 200,
    check: ({ body }: Answered<{ version: string }>) =>
      assert.match(body.version, /^\d+\.\d+\.\d+/),
  },
  {
    method: 'GET',
    path: '/api/machine',
    does: 'tells where things are, and what cannot be held here',
    call: () => call('GET', '/api/machine'),
    status: 200,
    check: ({ body }: Answered<{ workspace: string }>) =>
      assert.equal(body.workspace, running.workspace),
  },
];

describeRows('system', SYSTEM);
