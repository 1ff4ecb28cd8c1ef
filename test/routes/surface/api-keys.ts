import assert from 'node:assert/strict';
import { createKey, listKeys } from '../../../lib/guard/api-keys/keys.ts';
import { call, describeRows, type Row, running } from './surface.ts';

const API_KEYS: Row[] = [
  {
    method: 'DELETE',
    path: '/api-keys/:id',
    does: 'revokes a key',
    call: async () => {
      const { key } = await createKey(running.service, 'for a row');
      return call('DELETE', `/api-keys/${key.id}`);
    },
    status: 204,
    check: () => assert.deepEqual(listKeys(running.service.store), []),
  },
];

describeRows('api-keys', API_KEYS);
