import assert from 'node:assert/strict';
import type { Proof } from '../../../store/records/proof.ts';
import type { Answered } from '../../helpers/service.ts';
import { at, call, describeRows, get, made, once, type Row, running } from './surface.ts';

const proof = once(async () =>
  made<Proof>(`${await at()}/proof`, { type: 'test-log', content: 'ok' }),
);

const PROOF: Row[] = [
  {
    method: 'GET',
    path: '/cases/:id/proof',
    does: 'lists the proofs',
    call: async () => {
      await proof();
      return call('GET', `${await at()}/proof`);
    },
    status: 200,
    check: async ({ body }: Answered<Proof[]>) => assert.deepEqual(body, [await proof()]),
  },
  {
    method: 'POST',
    path: '/cases/:id/proof',
    does: 'attaches a proof and emits proof_created',
    call: async () => call('POST', `${await at()}/proof`, { type: 'log', content: 'seen' }),
    status: 201,
    check: ({ body }: Answered<Proof>) => {
      const last = running.events.at(-1);
      assert.equal(last?.event_type, 'proof_created');
      assert.deepEqual(last?.payload, {
        case_id: body.case_id,
        proof_id: body.id,
        proof_type: 'log',
      });
    },
  },
  {
    method: 'PUT',
    path: '/cases/:id/proof/:pid/verify',
    does: 'marks the proof verified',
    call: async () => call('PUT', `${await at()}/proof/${(await proof()).id}/verify`),
    status: 200,
    check: ({ body }: Answered<Proof>) => assert.equal(body.verified, true),
  },
  {
    method: 'POST',
    path: '/cases/:id/proof/checklist',
    does: 'adds to the checklist',
    call: async () =>
      call('POST', `${await at()}/proof/checklist`, {
        description: 'A log',
        type: 'log',
        required: true,
      }),
    status: 201,
    check: async ({ body }: Answered<object>) =>
      assert.deepEqual(await get(`${await at()}/proof/checklist`), [body]),
  },
];

describeRows('proof', PROOF);
