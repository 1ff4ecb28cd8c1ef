import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { systemRoutes } from '../../routes/system.ts';
import { json, serverOf } from '../lib/http/serve.ts';

const { hapi } = serverOf(systemRoutes);

describe('GET /health', () => {
  it('says ok', async () => {
    const answer = await hapi.inject('/health');
    assert.equal(answer.statusCode, 200);
    assert.deepEqual(json(answer), { status: 'ok' });
  });
});

describe('GET /version', () => {
  it('says what is running, and admits what it does not know', async () => {
    assert.deepEqual(json(await hapi.inject('/version')), {
      name: 'dossierd',
      version: '1.2.3',
      api: '3.1.0',
      node: process.version,
      platform: process.platform,
      commit: null,
      built_at: null,
    });
  });
});
