import assert from 'node:assert/strict';
import type { Answered } from '../../helpers/service.ts';
import { call, describeRows, type Row } from './surface.ts';

const PROVIDERS: Row[] = [
  {
    method: 'GET',
    path: '/providers',
    does: 'lists the providers and their availability',
    call: () => call('GET', '/providers'),
    status: 200,
    check: ({ body }: Answered<{ id: string; available: boolean }[]>) =>
      assert.equal(body.find(({ id }) => id === 'runbook')?.available, true),
  },
  {
    method: 'POST',
    path: '/providers/:id/run',
    does: 'runs a prompt',
    call: () => call('POST', '/providers/runbook/run', { prompt: '```sh\ntouch x\n```' }),
    status: 200,
    check: ({ body }: Answered<{ output: string }>) => assert.match(body.output, /touch x/),
  },
];

describeRows('providers', PROVIDERS);
